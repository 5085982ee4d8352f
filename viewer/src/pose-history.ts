// Undo and redo of poses made by hand.

/** A kept pose as numbers; empty while a clip is shown. */
export type PoseNumbers = Float32Array;
const NONE: PoseNumbers = new Float32Array(0);

export class PoseHistory {
  current: PoseNumbers = NONE;
  private past: PoseNumbers[] = [];
  private future: PoseNumbers[] = [];

  push(pose: PoseNumbers): void {
    this.past.push(this.current);
    this.future = [];
    this.current = pose;
  }

  /** Gives up the pose; undo brings it back. */
  reset(): void {
    if (this.current.length > 0) this.push(NONE);
  }

  clear(pose: PoseNumbers = NONE): void {
    this.past = [];
    this.future = [];
    this.current = pose;
  }

  undo(): boolean {
    return this.step(this.past, this.future);
  }

  redo(): boolean {
    return this.step(this.future, this.past);
  }

  private step(from: PoseNumbers[], to: PoseNumbers[]): boolean {
    const pose = from.pop();
    if (!pose) return false;
    to.push(this.current);
    this.current = pose;
    return true;
  }

  get isPosed(): boolean {
    return this.current.length > 0;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }
}
