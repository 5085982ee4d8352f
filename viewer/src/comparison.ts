// Two methods beside each other, or on either side of a divider.
import * as THREE from "three";
import type { BodyView } from "./body-view";
import { byId } from "./dom";
import type { Scene } from "./scene";

export type Compare = "off" | "side" | "divider";

/** A point on a body, in the body's own coordinates, and where the body stands. */
export interface BodyHit {
  point: THREE.Vector3;
  /** A vertex of the triangle that was hit. */
  vertex: number;
  offset: THREE.Vector3;
}

/** Half the distance between bodies side by side, relative to the height. */
const HALF_DISTANCE = 0.33;

export class Comparison {
  /** What the user chose. */
  chosen: Compare = "off";
  /** Whether only one body is shown for now. */
  suspended = false;
  private share: number | null = null;

  constructor(private scene: Scene) {}

  /** What is shown. */
  get mode(): Compare {
    return this.suspended ? "off" : this.chosen;
  }

  moveDivider(share: number): void {
    this.share = Math.min(0.98, Math.max(0.02, share));
    byId("divider").setAttribute("aria-valuenow", String(Math.round(100 * this.share)));
  }

  /** Position of the divider as a fraction of the width; initially the centre of the area beside the panel. */
  get divider(): number {
    const { left, width } = this.scene.framing.free;
    return this.share ?? (left + 0.5 * width) / this.scene.width;
  }

  /** Places the bodies; `facing` is their rotation from +Z about the vertical. */
  arrange(bodies: readonly BodyView[], height: number, facing: number): void {
    const apart = this.mode === "side" ? HALF_DISTANCE * height : 0;
    this.scene.framing.spread = this.mode === "side" ? 1 + 2 * HALF_DISTANCE : 1;
    bodies.forEach((body, index) => {
      const side = index === 0 ? -apart : apart;
      body.mesh.position.set(side * Math.cos(facing), 0, -side * Math.sin(facing));
    });
    this.placeCaptions();
  }

  render(bodies: readonly BodyView[], width: number, height: number): void {
    const { renderer, scene, camera } = this.scene;
    const [left, right] = bodies;
    if (right) right.mesh.visible = this.mode === "side" && right.hasSkin;
    if (this.mode !== "divider" || !left || !right) {
      renderer.render(scene, camera);
      return;
    }
    const cut = Math.round(width * this.divider);
    byId("divider").style.left = `${100 * this.divider}%`;
    renderer.setScissorTest(true);
    renderer.setScissor(0, 0, cut, height);
    renderer.render(scene, camera);
    [left.mesh.visible, right.mesh.visible] = [false, true];
    renderer.setScissor(cut, 0, width - cut, height);
    renderer.render(scene, camera);
    [left.mesh.visible, right.mesh.visible] = [true, false];
    renderer.setScissorTest(false);
  }

  /** The bodies that are drawn at a place of the canvas [px]. */
  at(bodies: readonly BodyView[], x: number): readonly BodyView[] {
    if (this.mode === "off") return bodies.slice(0, 1);
    if (this.mode === "side") return bodies;
    return x < this.divider * this.scene.width ? bodies.slice(0, 1) : bodies.slice(1, 2);
  }

  /** The nearest point of the bodies under the pointer. */
  pick(bodies: readonly BodyView[], raycaster: THREE.Raycaster, pointer: THREE.Vector2): BodyHit | null {
    const hits = this.at(bodies, pointer.x).flatMap((body) => {
      body.mesh.updateMatrixWorld();
      const hit = body.pick(raycaster);
      return hit ? [{ hit, offset: body.mesh.position.clone() }] : [];
    });
    hits.sort((a, b) => a.hit.distance - b.hit.distance);
    const first = hits[0];
    return first ? { point: first.hit.point.clone().sub(first.offset), vertex: first.hit.face?.a ?? 0, offset: first.offset } : null;
  }

  private placeCaptions(): void {
    if (this.mode === "off") return;
    const { left, width } = this.scene.framing.free;
    const cut = this.mode === "side" ? left + 0.5 * width : Math.min(this.divider * this.scene.width, left + width);
    const shift = this.mode === "side" ? 0.16 * width : Math.min(0.12 * width, 0.5 * cut, 0.5 * (left + width - cut));
    byId("caption-left").style.left = `${cut - shift}px`;
    byId("caption-right").style.left = `${cut + shift}px`;
  }
}
