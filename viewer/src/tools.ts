// Pointer tools: pull the tissue, pose, poke, or rotate the view.
import * as THREE from "three";
import type { BodyView } from "./body-view";
import type { BodyHit, Comparison } from "./comparison";
import { arrowKeys, byId, make } from "./dom";
import { icons } from "./icons";
import { PoseTool } from "./pose-tool";
import type { Vector } from "./protocol";
import type { Scene } from "./scene";
import type { Simulation } from "./simulation";

export type ToolName = "pull" | "pose" | "poke" | "look";

const TOOLS = [
  ["pull", "Pull", "Pull the tissue (1)"],
  ["pose", "Pose", "Drag or turn joints; the pose is kept (2)"],
  ["poke", "Poke", "Press a ball into the tissue (3)"],
  ["look", "Look", "Rotate the view only (4)"],
] as const;

/** Movement up to which a press is a click [px]. */
const MAX_CLICK = 4;

/** Where the pointer is. */
export interface Pointer {
  raycaster: THREE.Raycaster;
  /** On the canvas [px]. */
  at: THREE.Vector2;
  touch: boolean;
  onScreen: (point: THREE.Vector3) => THREE.Vector2;
}

/** Takes all presses while it is set, instead of the tools. */
export interface PressTool {
  /** Returns whether the press was handled. */
  press(pointer: Pointer): boolean;
  move(pointer: Pointer): void;
  release(): void;
  /** Takes back an unfinished drag. */
  cancel(): void;
}

export class Tools {
  current: ToolName = "pull";
  bodies: readonly BodyView[] = [];
  height = 1.7;
  /** Overrides the tools, on the pages that need it. */
  pressTool: PressTool | null = null;
  readonly pose: PoseTool;
  /** Called when the body is clicked, and not dragged. */
  onClick: ((hit: BodyHit) => void)[] = [];
  /** Called when a tool is chosen. */
  onChoose: (() => void)[] = [];
  private raycaster = new THREE.Raycaster();
  private plane = new THREE.Plane();
  private drag: { kind: "pull" | "pose" | "poke" | "page"; pointer: PointerEvent; offset: THREE.Vector3; click: { x: number; y: number; hit: BodyHit } | null } | null = null;
  /** Whether an event for the camera is being sent again. */
  private handingOver = false;
  private buttons = new Map<string, HTMLButtonElement>();
  private ball: THREE.Mesh;
  private ballRadius = 0.06;
  private marker: THREE.Mesh;
  private at = new THREE.Vector2();

  constructor(
    private scene: Scene,
    private simulation: Simulation,
    private comparison: Comparison,
  ) {
    const glass = new THREE.MeshStandardMaterial({ color: 0x4cc2ff, roughness: 0.25, transparent: true, opacity: 0.75 });
    this.ball = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), glass);
    this.ball.castShadow = true;
    const spot = new THREE.MeshBasicMaterial({ color: 0x4cc2ff, depthTest: false, transparent: true, opacity: 0.9 });
    this.marker = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), spot);
    this.marker.renderOrder = 12;
    this.ball.visible = this.marker.visible = false;
    scene.scene.add(this.ball, this.marker);
    this.pose = new PoseTool(scene, simulation);
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
    this.showTools();
    for (const callback of this.onChoose) callback();
  }

  /** Shows the controls of the current tool, unless a page takes all presses. */
  showTools(): void {
    this.pose.activate(this.current === "pose" && !this.pressTool);
  }

  /** Draws what belongs to the joints of a frame. */
  follow(joints: Float32Array): void {
    this.pose.follow(joints, this.offsets());
  }

  /** Where the bodies stand that joints are picked on. */
  private offsets(x?: number): THREE.Vector3[] {
    const bodies = x === undefined && this.comparison.mode !== "side" ? this.bodies.slice(0, 1) : this.comparison.at(this.bodies, x ?? 0);
    return bodies.map((body) => body.mesh.position.clone());
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
      canvas.addEventListener(name, (event) => this.up(event), { capture: true });
    }
    canvas.addEventListener("pointerleave", () => this.pose.leave());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
  }

  private aim(event: PointerEvent | WheelEvent): Pointer {
    const box = this.scene.canvas.getBoundingClientRect();
    this.at.set(event.clientX - box.left, event.clientY - box.top);
    const x = (this.at.x / box.width) * 2 - 1;
    const y = 1 - (this.at.y / box.height) * 2;
    this.raycaster.setFromCamera(new THREE.Vector2(x, y), this.scene.camera);
    const touch = event instanceof PointerEvent && event.pointerType === "touch";
    return { raycaster: this.raycaster, at: this.at, touch, onScreen: (point) => this.onScreen(point) };
  }

  private down(event: PointerEvent): void {
    if (this.handingOver) return;
    if (!event.isPrimary) {
      this.handOver();
      return;
    }
    if (event.button !== 0 || event.shiftKey) return;
    const pointer = this.aim(event);
    if (this.pressTool) {
      if (this.pressTool.press(pointer)) this.hold("page", event);
    } else if (this.current === "pose") {
      if (this.pose.press(pointer, this.offsets(this.at.x))) this.hold("pose", event);
    } else if (this.current !== "look") {
      this.grabSkin(event);
    }
  }

  /** With a second finger, the camera takes over the first: two fingers always zoom. */
  private handOver(): void {
    const first = this.drag?.pointer;
    if (!first) return;
    this.end(true);
    this.handingOver = true;
    const { pointerId, pointerType, clientX, clientY } = first;
    const same = { pointerId, pointerType, clientX, clientY, isPrimary: true, button: 0, buttons: 1, bubbles: true };
    this.scene.canvas.dispatchEvent(new PointerEvent("pointerdown", same));
    this.handingOver = false;
  }

  private grabSkin(event: PointerEvent): void {
    const hit = this.pick();
    if (!hit) return;
    const place = hit.point.clone().add(hit.offset);
    this.plane.setFromNormalAndCoplanarPoint(this.scene.camera.getWorldDirection(new THREE.Vector3()), place);
    if (this.current === "pull") {
      this.hold("pull", event, hit.offset, hit);
      const at = hit.point.toArray() as Vector;
      this.simulation.order({ type: "pull", from: at, to: at });
      this.showMarker(place);
    } else {
      this.hold("poke", event, hit.offset, hit);
      this.poke(place, hit.offset);
    }
  }

  /** The point under the pointer of the body that is drawn there. */
  pick(): BodyHit | null {
    return this.comparison.pick(this.bodies, this.raycaster, this.at);
  }

  private hold(kind: NonNullable<typeof this.drag>["kind"], event: PointerEvent, offset = new THREE.Vector3(), hit: BodyHit | null = null): void {
    this.drag = { kind, pointer: event, offset, click: hit && { x: event.clientX, y: event.clientY, hit } };
    event.stopImmediatePropagation();
    this.scene.controls.enabled = false;
    this.scene.canvas.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      this.hover(event);
      return;
    }
    if (event.pointerId !== drag.pointer.pointerId) return;
    event.stopImmediatePropagation();
    drag.pointer = event;
    if (drag.click && Math.hypot(event.clientX - drag.click.x, event.clientY - drag.click.y) > MAX_CLICK) drag.click = null;
    const pointer = this.aim(event);
    if (drag.kind === "page") this.pressTool?.move(pointer);
    else if (drag.kind === "pose") this.pose.move(pointer);
    else this.dragSkin(drag.kind, drag.offset);
  }

  private dragSkin(kind: "pull" | "poke", offset: THREE.Vector3): void {
    const to = this.raycaster.ray.intersectPlane(this.plane, new THREE.Vector3());
    if (!to) return;
    if (kind === "pull") {
      this.simulation.order({ type: "pull", from: null, to: to.clone().sub(offset).toArray() as Vector });
      this.showMarker(to);
    } else {
      const hit = this.pick();
      this.poke(hit ? hit.point.add(hit.offset) : to, hit?.offset ?? offset);
    }
  }

  private hover(event: PointerEvent): void {
    if (event.pointerType === "touch" || event.buttons !== 0) return;
    const pointer = this.aim(event);
    if (this.pressTool) return;
    if (this.current === "pose") {
      this.scene.canvas.style.cursor = this.pose.hover(pointer, this.offsets(this.at.x)) ? "grab" : "";
    } else if (this.current === "poke") {
      const hit = this.pick();
      this.ball.visible = hit !== null;
      if (hit) this.showBall(hit.point.add(hit.offset), 1.15);
    }
  }

  /** Pokes at a point of the skin: places the ball so that most of it is below the skin. */
  private poke(point: THREE.Vector3, offset: THREE.Vector3): void {
    const centre = this.showBall(point, 0.25);
    this.simulation.order({ type: "poke", centre: centre.sub(offset).toArray() as Vector, radius: this.radius() });
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

  private up(event: PointerEvent): void {
    if (this.drag && event.pointerId === this.drag.pointer.pointerId) this.end(false);
  }

  private end(cancelled: boolean): void {
    if (!this.drag) return;
    const { kind, click } = this.drag;
    this.drag = null;
    if (click && !cancelled) for (const callback of this.onClick) callback(click.hit);
    this.scene.controls.enabled = true;
    this.marker.visible = this.ball.visible = false;
    if (kind === "pull" || kind === "poke") this.simulation.order({ type: "release" });
    const tool = kind === "page" ? this.pressTool : kind === "pose" ? this.pose : null;
    if (cancelled) tool?.cancel();
    else tool?.release();
  }

  private wheel(event: WheelEvent): void {
    if (this.current !== "poke" || !this.ball.visible) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.ballRadius = Math.min(0.2, Math.max(0.02, this.ballRadius * Math.exp(-event.deltaY * 0.001)));
    this.ball.scale.setScalar(this.radius());
  }

  onScreen(point: THREE.Vector3): THREE.Vector2 {
    const at = point.clone().project(this.scene.camera);
    return new THREE.Vector2(((at.x + 1) / 2) * this.scene.width, ((1 - at.y) / 2) * this.scene.height);
  }
}
