// What is shown, and what it is doing: the state that all controls share.
import * as THREE from "three";
import { BodyView } from "./body-view";
import { byId } from "./dom";
import type { Drawing } from "./drawing";
import { say, type Message } from "./messages";
import { OverlayView } from "./overlays";
import { AS_FOUND, type BuildReport, type Description, type DroppedFile, type Method, type Opened, type OverlayName, type Reading, type Settings } from "./protocol";
import { ReadoutView } from "./readout";
import { Scene } from "./scene";
import type { Simulation } from "./simulation";
import { Tools } from "./tools";

export type Compare = "off" | "side" | "divider";
export type Embedded = "male" | "female";

const MOTIONS = ["bvh"];
const METHOD_NAMES: Record<Method, string> = { tissue: "Tissue", lbs: "Linear blend", dqs: "Dual quaternions" };
/** Overlays that lie inside the body: the skin turns to glass for them. */
const INNER: OverlayName[] = ["volumes", "boneSurface", "tets"];

export class App {
  readonly scene: Scene;
  readonly readout = new ReadoutView();
  readonly overlays = new OverlayView();
  readonly tools: Tools;
  description: Description | null = null;
  settings: Settings | null = null;
  /** The embedded body that is shown, if it is one. */
  embedded: Embedded | null = null;
  /** The files that are shown, and how they are read; none for an embedded body. */
  files: DroppedFile[] | null = null;
  reading: Reading = AS_FOUND;
  method: Method = "tissue";
  other: Method = "lbs";
  compare: Compare = "off";
  playing = true;
  speed = 1;
  repeat = true;
  time = 0;
  /** Joints as the newest frame has them. */
  places: Float32Array = new Float32Array(0);
  /** Milliseconds from navigation to the first frame whose skin differs from the one before. */
  firstMovement: number | null = null;
  /** Whether the tissue of what is shown is built. */
  soft = false;
  report: BuildReport | null = null;
  /** Tells the panels that another character or clip is here. */
  onOpened: (() => void)[] = [];
  onFrame: (() => void)[] = [];
  /** A rig is ready to be tried. */
  onRigged: () => void = () => {};
  private bodies: BodyView[] = [];
  private share: number | null = null;
  private lastPlace: Float32Array | null = null;

  constructor(
    readonly simulation: Simulation,
    drawing: Drawing,
  ) {
    this.scene = new Scene(drawing);
    this.tools = new Tools(this.scene, simulation);
    this.scene.scene.add(this.overlays.group);
    this.simulation.onTrouble = (message) => this.complain(message);
    requestAnimationFrame(() => this.draw());
    setInterval(() => this.keepUp(), 1500);
    // Nobody sees a hidden page: the body waits.
    document.onvisibilitychange = () => this.simulation.order({ type: document.hidden ? "stop" : "start" });
  }

  private complaint = { message: "", at: 0 };
  /** Trouble of a step comes again with the next one: once is enough. */
  private complain(message: string): void {
    const now = performance.now();
    const again = message === this.complaint.message && now - this.complaint.at < 15_000;
    if (!again) say(message, "bad");
    this.complaint = { message, at: now };
  }

  /** Fewer pixels where drawing is slow. */
  private keepUp(): void {
    if (!document.hidden && this.readout.fps > 0 && this.readout.fps < 22) this.scene.sharpen(0.85);
  }

  async openEmbedded(name: Embedded): Promise<void> {
    await this.show(await this.simulation.request("embedded", { name }), name);
  }

  /** A character, a motion for the one that is shown, or settings. */
  async openFiles(files: DroppedFile[]): Promise<void> {
    const ending = (name: string): string => name.slice(name.lastIndexOf(".") + 1).toLowerCase();
    const only = files.length === 1 ? files[0] : undefined;
    if (only && ending(only.name) === "toml") {
      const text = new TextDecoder().decode(only.bytes);
      await this.useSettings(await this.simulation.request("settingsFromToml", { text }));
      say(`${only.name} is in use`, "good");
      return;
    }
    if (only && MOTIONS.includes(ending(only.name))) {
      await this.useMotion(only);
      return;
    }
    const natively = files.some((file) => ending(file.name) === "fbx");
    const readable = natively ? await converted(files) : files;
    const opened = await this.simulation.request("open", { files: readable, reading: AS_FOUND }).catch(async (error: unknown) => {
      // A file without a mesh may hold a motion for the body that is here.
      const motion = readable.length === 1 ? readable[0] : undefined;
      if (!motion || !this.description || !(await this.useMotion(motion).catch(() => false))) throw error;
      return null;
    });
    if (!opened) return;
    this.files = readable;
    this.reading = AS_FOUND;
    await this.show(opened);
  }

  /** The same files, read in another way. */
  async readAgain(change: Partial<Reading>): Promise<void> {
    const { files } = this;
    if (!files) return;
    const reading = { ...this.reading, ...change };
    const opened = await this.simulation.request("open", { files, reading });
    this.reading = reading;
    await this.show(opened);
  }

  private async useMotion(file: DroppedFile): Promise<boolean> {
    this.description = await this.simulation.request("motion", { file });
    for (const heard of this.onOpened) heard();
    return true;
  }

  async show(opened: Opened, embedded: Embedded | null = null): Promise<void> {
    this.embedded = embedded;
    if (embedded) this.files = null;
    this.simulation.forget();
    this.soft = false;
    this.description = opened.description;
    this.settings = opened.settings;
    this.tools.joints = opened.description.joints;
    const [low, high] = opened.description.bounds;
    this.tools.height = Math.max(1e-3, high[1] - low[1]);
    for (const body of this.bodies) body.dispose();
    this.bodies = [new BodyView(opened, null), new BodyView(opened, new THREE.Color(0xb9c4d6))];
    for (const body of this.bodies) {
      // A shadow that comes late is not seen on the ground, but on the body itself.
      body.mesh.receiveShadow = !this.scene.software;
      this.scene.scene.add(body.mesh);
    }
    this.tools.body = this.bodies[0] ?? null;
    this.overlays.forget(opened.description.joints);
    this.frame();
    this.applyLook();
    this.simulation.order({ type: "start" });
    for (const heard of this.onOpened) heard();
    for (const problem of opened.description.info.problems.filter(({ severity }) => severity === "warning").slice(0, 2)) {
      say(problem.place ? `${problem.place}: ${problem.text}` : problem.text);
    }
    if (!opened.description.bare) await this.build();
  }

  /** Stands the camera before the character. */
  frame(): void {
    const [low, high] = this.description?.bounds ?? [[-1, 0, -1] as const, [1, 2, 1] as const];
    this.scene.fitCanvas();
    this.scene.frame(new THREE.Vector3(...low), new THREE.Vector3(...high), this.description?.facing ?? 0);
  }

  async build(): Promise<void> {
    if (!this.settings) return;
    const notes: Message[] = [];
    const slow = setTimeout(() => notes.push(say("Growing tissue…", "plain", null)), 700);
    try {
      const report = await this.simulation.build(this.settings);
      if (!report) return;
      this.report = report;
      this.soft = true;
    } finally {
      clearTimeout(slow);
      for (const note of notes) note.close();
    }
  }

  async useSettings(settings: Settings): Promise<void> {
    this.settings = settings;
    await this.build();
    for (const heard of this.onOpened) heard();
  }

  applyPlay(): void {
    const { playing, speed, repeat } = this;
    this.simulation.order({ type: "play", playing, speed, repeat });
  }

  async chooseClip(index: number): Promise<void> {
    await this.simulation.request("clip", { index });
    if (this.description) this.description.clip = index;
  }

  applyLook(): void {
    const { shown } = this.overlays;
    this.simulation.order({ type: "methods", left: this.method, right: this.compare === "off" ? null : this.other });
    this.simulation.order({ type: "overlays", names: [...shown] });
    const glassy = INNER.some((name) => shown.has(name)) || this.tools.rigHand !== null;
    for (const body of this.bodies) {
      body.look({ strain: shown.has("strain"), wireframe: shown.has("wireframe"), glassy });
    }
    this.caption();
  }

  private caption(): void {
    const both = this.compare !== "off";
    byId("caption-left").textContent = both ? METHOD_NAMES[this.method] : "";
    byId("caption-right").textContent = both ? METHOD_NAMES[this.other] : "";
    byId("divider").hidden = this.compare !== "divider";
  }

  moveDivider(share: number): void {
    this.share = Math.min(0.98, Math.max(0.02, share));
    byId("divider").setAttribute("aria-valuenow", String(Math.round(100 * this.share)));
  }

  /** Where the divider is, of the whole width; in the middle of what the panel leaves free at first. */
  get divider(): number {
    return this.share ?? (0.5 * this.scene.free) / this.scene.width;
  }

  private draw(): void {
    requestAnimationFrame(() => this.draw());
    const begin = performance.now();
    const frame = this.simulation.take();
    if (frame) {
      frame.slots.forEach((slot, index) => this.bodies[index]?.take(slot));
      this.overlays.take(frame.overlays);
      this.tools.places = this.places = frame.overlays.joints;
      this.time = frame.time;
      if (frame.slots[0]?.strains && this.overlays.shown.has("strain")) this.lookOnce();
      this.noticeMovement(frame.slots[0]?.positions);
    }
    this.scene.fitCanvas();
    this.scene.castShadows();
    this.scene.controls.update();
    this.render();
    for (const heard of this.onFrame) heard();
    this.readout.frame(frame?.readout ?? null, performance.now() - begin);
  }

  private painted = false;
  /** Strain colours exist once a frame has brought them. */
  private lookOnce(): void {
    if (!this.painted) this.applyLook();
    this.painted = true;
  }

  private noticeMovement(positions: Float32Array | undefined): void {
    if (this.firstMovement !== null || !positions) return;
    const sample = positions.slice(0, 300);
    if (this.lastPlace && sample.some((x, index) => Math.abs(x - (this.lastPlace?.[index] ?? x)) > 1e-5)) {
      this.firstMovement = performance.now();
      setTimeout(() => this.scene.addRoom(), 500);
    }
    this.lastPlace = sample;
  }

  private render(): void {
    const { renderer, scene, camera, width, height } = this.scene;
    const [left, right] = this.bodies;
    const apart = this.compare === "side" ? 0.33 * this.tools.height : 0;
    left?.mesh.position.setX(-apart);
    right?.mesh.position.setX(apart);
    this.overlays.group.position.setX(-apart);
    this.placeCaptions();
    if (right) right.mesh.visible = this.compare === "side";
    if (this.compare !== "divider" || !left || !right) {
      renderer.render(scene, camera);
      return;
    }
    const cut = Math.round(width * this.divider);
    byId("divider").style.left = `${cut}px`;
    renderer.setScissorTest(true);
    renderer.setScissor(0, 0, cut, height);
    renderer.render(scene, camera);
    [left.mesh.visible, right.mesh.visible] = [false, true];
    renderer.setScissor(cut, 0, width - cut, height);
    renderer.render(scene, camera);
    [left.mesh.visible, right.mesh.visible] = [true, false];
    renderer.setScissorTest(false);
  }

  private placeCaptions(): void {
    if (this.compare === "off") return;
    const free = this.scene.free;
    const cut = this.compare === "side" ? 0.5 * free : Math.min(this.divider * this.scene.width, free);
    const shift = this.compare === "side" ? 0.16 * free : Math.min(0.12 * free, 0.5 * cut, 0.5 * (free - cut));
    byId("caption-left").style.left = `${cut - shift}px`;
    byId("caption-right").style.left = `${cut + shift}px`;
  }

  /** A picture of what is seen now. */
  picture(): Promise<Blob> {
    this.render();
    return new Promise((resolve, reject) => {
      this.scene.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the canvas gave no picture"))), "image/png");
    });
  }
}

/** FBX is read by `supple view`; a static page cannot. */
async function converted(files: DroppedFile[]): Promise<DroppedFile[]> {
  const fbx = files.find((file) => file.name.toLowerCase().endsWith(".fbx"));
  if (!fbx) return files;
  const answer = await fetch("./convert", {
    method: "POST",
    headers: { "content-type": "application/octet-stream", "x-supple": "1" },
    body: fbx.bytes as BodyInit,
  }).catch(() => null);
  if (!answer || answer.status === 404 || answer.status === 405) {
    throw new Error("FBX needs the local program: run `supple view`, or convert with `supple convert FILE.fbx FILE.glb`");
  }
  if (!answer.ok) throw new Error(await answer.text());
  const name = fbx.name.replace(/\.fbx$/i, ".glb");
  return [{ name, bytes: new Uint8Array(await answer.arrayBuffer()) }];
}
