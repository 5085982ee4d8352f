// Edits of a list of joints as pure functions, and the undo history.
import type { Placed, Vector } from "./protocol";

export interface RigState {
  joints: readonly Placed[];
  selected: number | null;
}

export class RigHistory {
  private past: RigState[] = [];
  private future: RigState[] = [];
  state: RigState = { joints: [], selected: null };

  /** Adds a state to the history. */
  push(state: RigState): void {
    this.past.push(this.state);
    this.future = [];
    this.state = state;
  }

  /** Replaces the current state: a drag is one undo step. */
  replace(state: RigState): void {
    this.state = state;
  }

  reset(state: RigState): void {
    this.past = [];
    this.future = [];
    this.state = state;
  }

  undo(): boolean {
    const state = this.past.pop();
    if (!state) return false;
    this.future.push(this.state);
    this.state = state;
    return true;
  }

  redo(): boolean {
    const state = this.future.pop();
    if (!state) return false;
    this.past.push(this.state);
    this.state = state;
    return true;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }
}

function freeName(joints: readonly Placed[], wish: string): string {
  const taken = new Set(joints.map((joint) => joint.name));
  if (!taken.has(wish)) return wish;
  for (let k = 2; ; k += 1) if (!taken.has(`${wish}_${k}`)) return `${wish}_${k}`;
}

/** Adds a joint below the selected one. */
export function added({ joints, selected }: RigState, position: Vector): RigState {
  const name = freeName(joints, `joint_${joints.length + 1}`);
  const parent = selected ?? (joints.length > 0 ? joints.length - 1 : null);
  return { joints: [...joints, { name, parent, position }], selected: joints.length };
}

export function moved({ joints, selected }: RigState, index: number, position: Vector): RigState {
  return { joints: joints.map((joint, k) => (k === index ? { ...joint, position } : joint)), selected };
}

export function renamed({ joints, selected }: RigState, index: number, name: string): RigState {
  const others = joints.filter((_, k) => k !== index);
  const clean = freeName(others, name.trim().replace(/\s+/g, "_") || `joint_${index + 1}`);
  return { joints: joints.map((joint, k) => (k === index ? { ...joint, name: clean } : joint)), selected };
}

/** Removes a joint; its children move to its parent. */
export function removed({ joints }: RigState, index: number): RigState {
  const heir = joints[index]?.parent ?? null;
  const shift = (parent: number | null): number | null => (parent !== null && parent > index ? parent - 1 : parent);
  const left = joints
    .filter((_, k) => k !== index)
    .map((joint) => ({ ...joint, parent: shift(joint.parent === index ? heir : joint.parent) }));
  return { joints: left, selected: left.length > 0 ? shift(heir) : null };
}

/** Copies the selected joint and its descendants to the other side of the plane x = `middle`. */
export function mirrored({ joints, selected }: RigState, middle: number): RigState {
  if (selected === null) return { joints, selected };
  const copies = new Map<number, number>();
  const all = [...joints];
  joints.forEach((joint, index) => {
    const copied = joint.parent === null ? undefined : copies.get(joint.parent);
    if (index !== selected && copied === undefined) return;
    const [x, y, z] = joint.position;
    copies.set(index, all.length);
    const parent = index === selected ? joint.parent : (copied ?? joint.parent);
    all.push({ name: freeName(all, otherSide(joint.name)), parent, position: [2 * middle - x, y, z] });
  });
  return { joints: all, selected: copies.get(selected) ?? selected };
}

const SIDES = [["left", "right"], ["Left", "Right"], ["_L", "_R"], [".L", ".R"], ["_l", "_r"], [".l", ".r"], ["l_", "r_"]] as const;

function otherSide(name: string): string {
  for (const [a, b] of SIDES) {
    if (name.includes(a)) return name.replace(a, b);
    if (name.includes(b)) return name.replace(b, a);
  }
  return `${name}_mirrored`;
}
