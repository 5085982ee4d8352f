// Notices that nothing moves, so that a picture can be drawn sharper and less often.
import * as THREE from "three";
import type { BodyView } from "./body-view";

/** Time without movement after which everything is still [ms]. */
const CALM = 350;
/** Movement of the skin that is not seen, relative to the height: a fifth of a pixel. */
const UNSEEN = 1.5e-4;
/** Change of the camera's matrix that is not seen. */
const UNSEEN_TURN = 2e-4;
/** Every how many numbers of the positions are looked at; odd, so that all axes are. */
const STRIDE = 97;

export class Stillness {
  private skin: number[] = [];
  private view = new THREE.Matrix4();
  private movedAt = 0;
  private touched = false;

  constructor() {
    // Controls change the picture without movement.
    for (const name of ["pointermove", "pointerdown", "pointerup", "keydown", "keyup", "input", "change", "click", "resize", "drop"]) {
      addEventListener(name, () => (this.touched = true), { capture: true, passive: true });
    }
  }

  /** Compares skin and camera with where they were when something moved last. */
  look(bodies: readonly BodyView[], camera: THREE.PerspectiveCamera, height: number, now: number): void {
    const skin: number[] = [];
    for (const { skinNumbers } of bodies) for (let k = 0; k < skinNumbers.length; k += STRIDE) skin.push(skinNumbers[k] ?? 0);
    const view = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse);
    const same =
      skin.length === this.skin.length &&
      skin.every((x, k) => Math.abs(x - (this.skin[k] ?? x)) < UNSEEN * height) &&
      view.elements.every((x, k) => Math.abs(x - (this.view.elements[k] ?? x)) < UNSEEN_TURN * Math.max(1, Math.abs(x)));
    if (same) return;
    this.skin = skin;
    this.view.copy(view);
    this.movedAt = now;
  }

  isStill(now: number): boolean {
    return now - this.movedAt > CALM;
  }

  /** Whether a control was used since the last call. */
  takeTouched(): boolean {
    const { touched } = this;
    this.touched = false;
    return touched;
  }
}
