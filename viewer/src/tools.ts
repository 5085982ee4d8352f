// Pointer tools: pull the tissue, drag a joint, poke, or rotate the view.
import * as THREE from "three";
import type { BodyView } from "./body-view";
import { arrowKeys, byId, make } from "./dom";
import { icons } from "./icons";
import type { JointEntry, Vector } from "./protocol";
import type { Scene } from "./scene";
import type { Simulation } from "./simulation";

export type ToolName = "pull" | "pose" | "poke" | "look" | "joint";

const TOOLS = [
  ["pull", "Pull", "Pull the tissue (1)"],
  ["pose", "Pose", "Drag a joint (2)"],
  ["poke", "Poke", "Press a ball into the tissue (3)"],
  ["look", "Look", "Rotate the view only (4)"],
] as const;

/** Picking distance of joints [px]. */
const PICK_DISTANCE = 34;

export interface RigTool {
  /** Returns whether the press was handled by the rig page. */
  press(raycaster: THREE.Raycaster, pointer: THREE.Vector2): boolean;
  move(raycaster: THREE.Raycaster): void;
  release(): void;
}

export class Tools {
  current: ToolName = "pull";
  joints: JointEntry[] = [];
  jointPositions: Float32Array = new Float32Array(0);
  body: BodyView | null = null;
  height = 1.7;
  rigTool: RigTool | null = null;
  private raycaster = new THREE.Raycaster();
  private plane = new THREE.Plane();
  private drag: { kind: "pull" | "pose" | "poke" | "rig"; joint: number } | null = null;
  private buttons = new Map<string, HTMLButtonElement>();
  private ball: THREE.Mesh;
  private ballRadius = 0.06;
  private marker: THREE.Mesh;
  private pointer = new THREE.Vector2();

  constructor(
    private scene: Scene,
    private simulation: Simulation,
  ) {
    const glass = new THREE.MeshStandardMaterial({ color: 0x4cc2ff, roughness: 0.25, transparent: true, opacity: 0.75 });
    this.ball = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), glass);
    this.ball.castShadow = true;
    const spot = new THREE.MeshBasicMaterial({ color: 0x4cc2ff, depthTest: false, transparent: true, opacity: 0.9 });
    this.marker = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), spot);
    this.marker.renderOrder = 12;
    this.ball.visible = this.marker.visible = false;
    scene.scene.add(this.ball, this.marker);
    this.buildPalette();
    this.listen();
  }

  private buildPalette(): void {
    const palette = byId("tools");
    for (const [name, label, title] of TOOLS) {
      const item = make("button", { type: "button", title, onclick: () => this.choose(name) });
      item.innerHTML = icons[name];
      item.append(make("span", { textContent: label }));
      item.setAttribute("role", "radio");
      item.setAttribute("aria-label", title);
      this.buttons.set(name, item);
      palette.append(item);
    }
    const shake = make("button", { type: "button", title: "Shake the character (S)", onclick: () => this.shake() });
    shake.innerHTML = icons.shake;
    shake.append(make("span", { textContent: "Shake" }));
    shake.setAttribute("aria-label", "Shake the character (S)");
    palette.append(make("hr"), shake);
    palette.onkeydown = (event) => arrowKeys(event, [...this.buttons.values()]);
    this.choose("pull");
  }

  choose(name: ToolName): void {
    this.current = name;
    for (const [key, item] of this.buttons) {
      item.setAttribute("aria-checked", String(key === name));
      item.tabIndex = key === name ? 0 : -1;
    }
    this.marker.visible = this.ball.visible = false;
  }

  shake(): void {
    const side = new THREE.Vector3(1, 0.35, 0).applyQuaternion(this.scene.camera.quaternion);
    const amplitude = side.multiplyScalar(0.045 * this.height);
    this.simulation.order({ type: "shake", amplitude: amplitude.toArray() as Vector });
  }

  private listen(): void {
    const { canvas } = this.scene;
    // Registered before the camera's own listeners, so that a tool's drag does not rotate the camera.
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      canvas.addEventListener(name, () => this.up(), { capture: true });
    }
    canvas.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
  }

  private aim(event: PointerEvent | WheelEvent): void {
    const box = this.scene.canvas.getBoundingClientRect();
    this.pointer.set(event.clientX - box.left, event.clientY - box.top);
    const x = (this.pointer.x / box.width) * 2 - 1;
    const y = 1 - (this.pointer.y / box.height) * 2;
    this.raycaster.setFromCamera(new THREE.Vector2(x, y), this.scene.camera);
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary || event.shiftKey) return;
    this.aim(event);
    if (this.rigTool) {
      if (this.rigTool.press(this.raycaster, this.pointer)) this.hold({ kind: "rig", joint: -1 }, event);
      return;
    }
    if (this.current === "pose") this.grabJoint(event);
    if (this.current === "pull" || this.current === "poke") this.grabSkin(event);
  }

  private grabJoint(event: PointerEvent): void {
    const joint = this.nearestJoint();
    if (joint === null) return;
    const place = this.place(joint);
    this.facePlane(place);
    this.hold({ kind: "pose", joint }, event);
    this.simulation.order({ type: "grab", joint, to: place.toArray() as Vector });
  }

  private grabSkin(event: PointerEvent): void {
    const hit = this.body?.pick(this.raycaster);
    if (!hit) return;
    this.facePlane(hit.point);
    if (this.current === "pull") {
      this.hold({ kind: "pull", joint: -1 }, event);
      const at = hit.point.toArray() as Vector;
      this.simulation.order({ type: "pull", from: at, to: at });
      this.showMarker(hit.point);
    } else {
      this.hold({ kind: "poke", joint: -1 }, event);
      this.poke(hit.point);
    }
  }

  private hold(drag: NonNullable<typeof this.drag>, event: PointerEvent): void {
    this.drag = drag;
    event.stopImmediatePropagation();
    this.scene.controls.enabled = false;
    this.scene.canvas.setPointerCapture(event.pointerId);
  }

  private facePlane(point: THREE.Vector3): void {
    const normal = this.scene.camera.getWorldDirection(new THREE.Vector3());
    this.plane.setFromNormalAndCoplanarPoint(normal, point);
  }

  private move(event: PointerEvent): void {
    this.aim(event);
    if (!this.drag) {
      this.hover(event);
      return;
    }
    event.stopImmediatePropagation();
    if (this.drag.kind === "rig") {
      this.rigTool?.move(this.raycaster);
      return;
    }
    const to = this.raycaster.ray.intersectPlane(this.plane, new THREE.Vector3());
    if (!to) return;
    if (this.drag.kind === "pose") {
      this.simulation.order({ type: "grab", joint: this.drag.joint, to: to.toArray() as Vector });
    } else if (this.drag.kind === "pull") {
      this.simulation.order({ type: "pull", from: null, to: to.toArray() as Vector });
      this.showMarker(to);
    } else {
      this.poke(this.body?.pick(this.raycaster)?.point ?? to);
    }
  }

  private hover(event: PointerEvent): void {
    if (event.pointerType === "touch" || event.buttons !== 0) return;
    if (this.rigTool) return;
    if (this.current === "pose") {
      const joint = this.nearestJoint();
      this.marker.visible = joint !== null;
      if (joint !== null) this.showMarker(this.place(joint));
      this.scene.canvas.style.cursor = joint === null ? "" : "grab";
    } else if (this.current === "poke") {
      const hit = this.body?.pick(this.raycaster);
      this.ball.visible = hit !== null && hit !== undefined;
      if (hit) this.showBall(hit.point, 1.15);
    }
  }

  /** Pokes at a point of the skin: places the ball so that most of it is below the skin. */
  private poke(point: THREE.Vector3): void {
    const centre = this.showBall(point, 0.25);
    this.simulation.order({ type: "poke", centre: centre.toArray() as Vector, radius: this.radius() });
  }

  private showBall(point: THREE.Vector3, out: number): THREE.Vector3 {
    const centre = point.clone().addScaledVector(this.raycaster.ray.direction, -out * this.radius());
    this.ball.position.copy(centre);
    this.ball.scale.setScalar(this.radius());
    this.ball.visible = true;
    return centre;
  }

  private radius(): number {
    return this.ballRadius * (this.height / 1.7);
  }

  private showMarker(at: THREE.Vector3): void {
    this.marker.position.copy(at);
    this.marker.scale.setScalar(0.011 * this.height);
    this.marker.visible = true;
  }

  private up(): void {
    if (!this.drag) return;
    const { kind } = this.drag;
    this.drag = null;
    this.scene.controls.enabled = true;
    this.marker.visible = this.ball.visible = false;
    if (kind === "rig") this.rigTool?.release();
    else this.simulation.order({ type: "release" });
  }

  private wheel(event: WheelEvent): void {
    if (this.current !== "poke" || !this.ball.visible) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.ballRadius = Math.min(0.2, Math.max(0.02, this.ballRadius * Math.exp(-event.deltaY * 0.001)));
    this.ball.scale.setScalar(this.radius());
  }

  private place(joint: number): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.jointPositions, 3 * joint);
  }

  private nearestJoint(): number | null {
    let best: number | null = null;
    let nearest = PICK_DISTANCE;
    for (const [index, joint] of this.joints.entries()) {
      if (!joint.bone || 3 * index + 2 >= this.jointPositions.length) continue;
      const at = this.onScreen(this.place(index));
      const distance = at.distanceTo(this.pointer);
      if (distance < nearest) {
        nearest = distance;
        best = index;
      }
    }
    return best;
  }

  onScreen(point: THREE.Vector3): THREE.Vector2 {
    const at = point.clone().project(this.scene.camera);
    return new THREE.Vector2(((at.x + 1) / 2) * this.scene.width, ((1 - at.y) / 2) * this.scene.height);
  }
}
