// Posing: drag a joint and its limb follows, or turn it with rings. The pose is kept, and can be undone.
import * as THREE from "three";
import { button, byId, make } from "./dom";
import { PoseHistory, type PoseNumbers } from "./pose-history";
import { PoseRings } from "./pose-rings";
import type { JointEntry, Quaternion, Vector } from "./protocol";
import type { Pointer } from "./tools";
import type { Scene } from "./scene";
import type { Simulation } from "./simulation";

/** Picking distance of joints [px], for a mouse and for a finger. */
const JOINT_REACH = { fine: 22, coarse: 34 } as const;
/** Picking distance of rings [px]. */
const RING_REACH = { fine: 9, coarse: 22 } as const;

export class PoseTool {
  joints: JointEntry[] = [];
  jointPositions: Float32Array = new Float32Array(0);
  height = 1.7;
  selected: number | null = null;
  readonly history = new PoseHistory();
  /** Called when the pose is kept, undone or given up. */
  onChange: (() => void)[] = [];
  /** Called by the button that opens the exports. */
  onExport: () => void = () => {};
  private active = false;
  private rings = new PoseRings();
  private marker: THREE.Mesh;
  private dots = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ color: 0xffffff, size: 5, sizeAttenuation: false, depthTest: false, transparent: true, opacity: 0.55 }));
  private drag: { kind: "move" | "turn"; joint: number; offset: THREE.Vector3; changed: boolean } | null = null;
  private offset = new THREE.Vector3();
  private plane = new THREE.Plane();
  private bar = byId("pose-bar");
  private name = make("span", { className: "name" });
  private undoButton = button("Undo", () => this.undo());
  private redoButton = button("Redo", () => this.redo());
  private resetButton = button("Reset", () => this.reset());

  constructor(
    private scene: Scene,
    private simulation: Simulation,
  ) {
    const spot = new THREE.MeshBasicMaterial({ color: 0x4cc2ff, depthTest: false, transparent: true, opacity: 0.9 });
    this.marker = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), spot);
    this.marker.renderOrder = 12;
    this.dots.renderOrder = 11;
    this.dots.frustumCulled = false;
    this.marker.visible = this.dots.visible = false;
    scene.scene.add(this.marker, this.dots, this.rings.group);
    this.undoButton.title = "Undo the last change of the pose (Ctrl+Z)";
    this.redoButton.title = "Redo (Ctrl+Y)";
    this.resetButton.title = "Give up the pose and show the clip again";
    const exports = button("Save…", () => this.onExport());
    exports.title = "Save the pose as GLB, OBJ or PC2";
    this.bar.append(this.name, this.undoButton, this.redoButton, this.resetButton, exports);
    this.show();
  }

  activate(on: boolean): void {
    this.active = on;
    this.bar.hidden = !on;
    if (!on) this.cancel();
    this.show();
  }

  /** Forgets the poses of another character; `kept` is the pose it starts with. */
  forget(joints: JointEntry[], kept?: PoseNumbers): void {
    this.joints = joints;
    this.jointPositions = new Float32Array(0);
    this.selected = null;
    this.drag = null;
    this.history.clear(kept);
    this.show();
  }

  /** Draws rings and markers at the joints of the newest frame, on the body that stands at `offset`. */
  follow(joints: Float32Array, offsets: readonly THREE.Vector3[]): void {
    this.jointPositions = joints;
    const shown = this.active && this.joints.length > 0;
    this.dots.visible = shown;
    if (!offsets.some((offset) => offset.equals(this.offset))) this.offset.copy(offsets[0] ?? new THREE.Vector3());
    this.marker.visible = this.rings.group.visible = shown && this.selected !== null;
    if (!shown) return;
    this.drawDots(offsets);
    if (this.selected === null) return;
    const at = this.place(this.selected).add(this.offset);
    this.marker.position.copy(at);
    this.marker.scale.setScalar(0.009 * this.height);
    this.rings.place(at, this.bone(this.selected), this.scene.camera, this.scene.height);
  }

  private drawDots(offsets: readonly THREE.Vector3[]): void {
    const points = offsets.flatMap((offset) => this.bones().flatMap((joint) => this.place(joint).add(offset).toArray()));
    const old = this.dots.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
    if (old && old.array.length === points.length) {
      old.copyArray(points);
      old.needsUpdate = true;
    } else {
      this.dots.geometry.dispose();
      this.dots.geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    }
  }

  /** Takes a ring or a joint; returns whether there was one. */
  press(pointer: Pointer, offsets: readonly THREE.Vector3[]): boolean {
    const { ray } = pointer.raycaster;
    const joint = this.nearest(pointer, offsets);
    const onRing = this.rings.press(pointer.at, pointer.touch ? RING_REACH.coarse : RING_REACH.fine, ray, pointer.onScreen);
    if (onRing && this.selected !== null && (joint === null || joint.joint !== this.selected || joint.distance > 12)) {
      this.drag = { kind: "turn", joint: this.selected, offset: this.offset.clone(), changed: false };
      return true;
    }
    this.rings.release();
    if (!joint) return false;
    this.selected = joint.joint;
    this.offset.copy(joint.offset);
    const place = this.place(joint.joint).add(joint.offset);
    this.plane.setFromNormalAndCoplanarPoint(this.scene.camera.getWorldDirection(new THREE.Vector3()), place);
    this.drag = { kind: "move", joint: joint.joint, offset: joint.offset, changed: false };
    this.show();
    return true;
  }

  move(pointer: Pointer): void {
    const { drag } = this;
    if (!drag) return;
    const { ray } = pointer.raycaster;
    if (drag.kind === "turn") {
      const turn = this.rings.turn(ray);
      if (!turn) return;
      this.simulation.order({ type: "turn", joint: drag.joint, rotation: turn.toArray() as Quaternion });
    } else {
      const to = ray.intersectPlane(this.plane, new THREE.Vector3());
      if (!to) return;
      this.simulation.order({ type: "grab", joint: drag.joint, to: to.sub(drag.offset).toArray() as Vector });
    }
    drag.changed = true;
  }

  hover(pointer: Pointer, offsets: readonly THREE.Vector3[]): boolean {
    const onRing = this.rings.highlight(pointer.at, RING_REACH.fine, pointer.onScreen);
    return onRing || this.nearest(pointer, offsets) !== null;
  }

  release(): void {
    const { drag } = this;
    this.drag = null;
    this.rings.release();
    this.simulation.order({ type: "release" });
    if (drag?.changed) void this.keep();
  }

  /** Takes back an unfinished drag. */
  cancel(): void {
    const { drag } = this;
    this.drag = null;
    this.rings.release();
    if (drag?.changed) this.send();
    else if (drag) this.simulation.order({ type: "release" });
  }

  private async keep(): Promise<void> {
    this.history.push(await this.simulation.request("pose", {}));
    this.send();
  }

  private send(): void {
    this.simulation.order({ type: "pose", numbers: this.history.current });
    this.show();
    for (const callback of this.onChange) callback();
  }

  undo(): void {
    if (this.history.undo()) this.send();
  }

  redo(): void {
    if (this.history.redo()) this.send();
  }

  reset(): void {
    if (!this.history.isPosed) return;
    this.history.reset();
    this.send();
  }

  private show(): void {
    const joint = this.selected === null ? null : this.joints[this.selected];
    this.name.textContent = joint?.name ?? "Drag a joint";
    this.undoButton.disabled = !this.history.canUndo;
    this.redoButton.disabled = !this.history.canRedo;
    this.resetButton.disabled = !this.history.isPosed;
  }

  private bones(): number[] {
    const has = (index: number): boolean => 3 * index + 2 < this.jointPositions.length;
    return [...this.joints.keys()].filter((index) => this.joints[index]?.bone && has(index));
  }

  private place(joint: number): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.jointPositions, 3 * joint);
  }

  /** Direction of a joint's bone: to the middle of its children, or on from its parent. */
  private bone(joint: number): THREE.Vector3 {
    const at = this.place(joint);
    const children = this.bones().filter((index) => this.joints[index]?.parent === joint);
    const sum = new THREE.Vector3();
    for (const child of children) sum.add(this.place(child).sub(at));
    if (sum.length() > 1e-4 * this.height) return sum;
    const parent = this.joints[joint]?.parent ?? null;
    return parent === null ? new THREE.Vector3(0, 1, 0) : at.sub(this.place(parent));
  }

  private nearest(pointer: Pointer, offsets: readonly THREE.Vector3[]): { joint: number; offset: THREE.Vector3; distance: number } | null {
    let distance: number = pointer.touch ? JOINT_REACH.coarse : JOINT_REACH.fine;
    let best = null;
    for (const offset of offsets) {
      for (const joint of this.bones()) {
        const now = pointer.onScreen(this.place(joint).add(offset)).distanceTo(pointer.at);
        if (now >= distance) continue;
        distance = now;
        best = { joint, offset: offset.clone(), distance };
      }
    }
    return best;
  }
}
