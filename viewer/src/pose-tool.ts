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
const JOINT_REACH = { fine: 20, coarse: 34 } as const;
/**
 * Of joints that are close together, the one with more joints below it is meant: a wrist before its thumb. It may be so much farther
 * away [px], in full from so many joints. More, and fingers are hard to take even in a close view; less, and the thumb is taken
 * for the wrist when the whole body is shown.
 */
const ADVANTAGE = 12;
const FULL_ADVANTAGE = 8;
/** Diameter of the markers of joints [px]: of most, of those with a short bone, such as fingers, and of the one under the pointer. */
const DOT = { large: 13, small: 8, hovered: 20 } as const;
/** Length of a short bone, relative to the height. */
const SHORT = 0.05;
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
  private dots = { large: markers(DOT.large), small: markers(DOT.small), hovered: markers(DOT.hovered) };
  /** The joint under the pointer. */
  private hovered: { joint: number; offset: THREE.Vector3 } | null = null;
  /** How many joints each has below it. */
  private below: number[] = [];
  /** Joints with a short bone, known from the first frame. */
  private short: Set<number> | null = null;
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
    this.dots.hovered.material.color.setHex(0x4cc2ff);
    this.marker.visible = false;
    scene.scene.add(this.marker, ...Object.values(this.dots), this.rings.group);
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
    this.hovered = null;
    this.show();
  }

  /** Forgets the poses of another character; `kept` is the pose it starts with. */
  forget(joints: JointEntry[], kept?: PoseNumbers): void {
    this.joints = joints;
    this.jointPositions = new Float32Array(0);
    this.selected = this.hovered = null;
    this.short = null;
    this.below = joints.map(() => 0);
    // Parents come first.
    for (let joint = joints.length - 1; joint >= 0; joint -= 1) {
      const { parent, bone } = joints[joint] ?? { parent: null, bone: false };
      if (parent !== null) this.below[parent] = (this.below[parent] ?? 0) + (this.below[joint] ?? 0) + (bone ? 1 : 0);
    }
    this.drag = null;
    this.history.clear(kept);
    this.show();
  }

  /** Draws rings and markers at the joints of the newest frame, on the body that stands at `offset`. */
  follow(joints: Float32Array, offsets: readonly THREE.Vector3[]): void {
    this.jointPositions = joints;
    const shown = this.active && this.joints.length > 0;
    this.dots.large.visible = this.dots.small.visible = shown;
    this.dots.hovered.visible = shown && this.hovered !== null && this.drag === null;
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
    const bones = this.bones();
    const short = (this.short ??= this.shortBones(bones));
    const at = (joints: number[]): number[] => offsets.flatMap((offset) => joints.flatMap((joint) => this.place(joint).add(offset).toArray()));
    setPositions(this.dots.large.geometry, at(bones.filter((joint) => !short.has(joint))));
    setPositions(this.dots.small.geometry, at(bones.filter((joint) => short.has(joint))));
    if (this.hovered) setPositions(this.dots.hovered.geometry, this.place(this.hovered.joint).add(this.hovered.offset).toArray());
  }

  /** Joints close to their parent: fingers, toes, the face. */
  private shortBones(bones: number[]): Set<number> {
    const isShort = (joint: number): boolean => {
      const parent = this.joints[joint]?.parent ?? null;
      return parent !== null && this.joints[parent]?.bone === true && this.place(joint).distanceTo(this.place(parent)) < SHORT * this.height;
    };
    return new Set(bones.filter(isShort));
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
    this.hovered = this.nearest(pointer, offsets);
    this.show();
    return onRing || this.hovered !== null;
  }

  /** The pointer is elsewhere. */
  leave(): void {
    this.hovered = null;
    this.show();
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
    const named = this.drag?.joint ?? this.hovered?.joint ?? this.selected;
    const joint = named === null ? null : this.joints[named];
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
    const reach = pointer.touch ? JOINT_REACH.coarse : JOINT_REACH.fine;
    let least = Infinity;
    let best = null;
    for (const offset of offsets) {
      for (const joint of this.bones()) {
        const distance = pointer.onScreen(this.place(joint).add(offset)).distanceTo(pointer.at);
        const counted = distance - ADVANTAGE * Math.min(1, (this.below[joint] ?? 0) / FULL_ADVANTAGE);
        if (distance >= reach || counted >= least) continue;
        least = counted;
        best = { joint, offset: offset.clone(), distance };
      }
    }
    return best;
  }
}

type Markers = THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;

/** Round markers of a diameter [px], drawn over everything. */
function markers(size: number): Markers {
  const look = { map: disc(), size, sizeAttenuation: false, depthTest: false, transparent: true, opacity: 0.85 };
  const points = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial(look));
  points.renderOrder = 11;
  points.frustumCulled = points.visible = false;
  return points;
}

/** A white disc with a dark rim, which is seen on light and on dark skin. */
function disc(): THREE.Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const context = canvas.getContext("2d");
  if (context) {
    context.arc(16, 16, 13, 0, 2 * Math.PI);
    context.fillStyle = "#fff";
    context.fill();
    context.lineWidth = 4;
    context.strokeStyle = "rgb(20 24 32 / 85%)";
    context.stroke();
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

function setPositions(geometry: THREE.BufferGeometry, points: number[]): void {
  const old = geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
  if (old && old.array.length === points.length) {
    old.copyArray(points);
    old.needsUpdate = true;
    return;
  }
  geometry.dispose();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
}
