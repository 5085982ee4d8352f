// Application state shared by all controls: the character on the page and how it is shown.
import * as THREE from "three";
import { BodyView } from "./body-view";
import { byId } from "./dom";
import type { GlCanvas } from "./gl-canvas";
import { showMessage, type Message } from "./messages";
import { OverlayView } from "./overlays";
import { DEFAULT_OPTIONS, type BuildReport, type Description, type DroppedFile, type Method, type Opened, type OverlayName, type ImportOptions, type Settings } from "./protocol";
import { ReadoutView } from "./readout";
import { Scene } from "./scene";
import type { Simulation } from "./simulation";
import { Tools } from "./tools";

export type Compare = "off" | "side" | "divider";
export type Embedded = "male" | "female";

const MOTION_EXTENSIONS = ["bvh"];
const METHOD_NAMES: Record<Method, string> = { tissue: "Tissue", lbs: "Linear blend", dqs: "Dual quaternions" };
/** Overlays inside the body. The skin becomes transparent when one is shown. */
const INNER_OVERLAYS: OverlayName[] = ["volumes", "boneSurface", "tets"];

export class App {
  readonly scene: Scene;
  readonly readout = new ReadoutView();
  readonly overlays = new OverlayView();
  readonly tools: Tools;
  description: Description | null = null;
  settings: Settings | null = null;
  /** The embedded body on the page; null for the user's own file. */
  embedded: Embedded | null = null;
  /** The files on the page and how they are read; null for an embedded body. */
  files: DroppedFile[] | null = null;
  importOptions: ImportOptions = DEFAULT_OPTIONS;
  method: Method = "tissue";
  other: Method = "lbs";
  compare: Compare = "off";
  playing = true;
  speed = 1;
  repeat = true;
  time = 0;
  /** Joint positions of the newest frame. */
  jointPositions: Float32Array = new Float32Array(0);
  /** Milliseconds from navigation to the first frame whose skin moved. */
  firstMovement: number | null = null;
  /** Whether the tissue of the current character is built. */
  simulated = false;
  report: BuildReport | null = null;
  /** Called when another character, clip or motion is loaded. */
  onOpened: (() => void)[] = [];
  onFrame: (() => void)[] = [];
  /** Called when a rig is ready to be simulated. */
  onRigged: () => void = () => {};
  private bodies: BodyView[] = [];
  private share: number | null = null;
  private lastSample: Float32Array | null = null;

  constructor(
    readonly simulation: Simulation,
    glCanvas: GlCanvas,
  ) {
    this.scene = new Scene(glCanvas);
    this.tools = new Tools(this.scene, simulation);
    this.scene.scene.add(this.overlays.group);
    this.simulation.onError = (message) => this.reportError(message);
    requestAnimationFrame(() => this.draw());
    setInterval(() => this.adaptResolution(), 1500);
    // Pause while the page is hidden.
    document.onvisibilitychange = () => this.simulation.order({ type: document.hidden ? "stop" : "start" });
  }

  private lastError = { message: "", at: 0 };
  /** An error in one step usually repeats in the next, so repeats within 15 s are dropped. */
  private reportError(message: string): void {
    const now = performance.now();
    const again = message === this.lastError.message && now - this.lastError.at < 15_000;
    if (!again) showMessage(message, "bad");
    this.lastError = { message, at: now };
  }

  /** Reduces the resolution if glCanvas is slow. */
  private adaptResolution(): void {
    if (!document.hidden && this.readout.fps > 0 && this.readout.fps < 22) this.scene.scaleResolution(0.85);
  }

  async openEmbedded(name: Embedded): Promise<void> {
    await this.show(await this.simulation.request("embedded", { name }), name);
  }

  /** Opens a character, a motion for the current one, or settings. */
  async openFiles(files: DroppedFile[]): Promise<void> {
    const extension = (name: string): string => name.slice(name.lastIndexOf(".") + 1).toLowerCase();
    const only = files.length === 1 ? files[0] : undefined;
    if (only && extension(only.name) === "toml") {
      const text = new TextDecoder().decode(only.bytes);
      await this.useSettings(await this.simulation.request("settingsFromToml", { text }));
      showMessage(`${only.name} loaded`, "good");
      return;
    }
    if (only && MOTION_EXTENSIONS.includes(extension(only.name))) {
      await this.useMotion(only);
      return;
    }
    const natively = files.some((file) => extension(file.name) === "fbx");
    const readable = natively ? await converted(files) : files;
    const opened = await this.simulation.request("open", { files: readable, options: DEFAULT_OPTIONS }).catch(async (error: unknown) => {
      // A file without a mesh may hold a motion for the current character.
      const motion = readable.length === 1 ? readable[0] : undefined;
      if (!motion || !this.description || !(await this.useMotion(motion).catch(() => false))) throw error;
      return null;
    });
    if (!opened) return;
    this.files = readable;
    this.importOptions = DEFAULT_OPTIONS;
    await this.show(opened);
  }

  /** Reads the current files again with other options. */
  async reload(change: Partial<ImportOptions>): Promise<void> {
    const { files } = this;
    if (!files) return;
    const options = { ...this.importOptions, ...change };
    const opened = await this.simulation.request("open", { files, options });
    this.importOptions = options;
    await this.show(opened);
  }

  private async useMotion(file: DroppedFile): Promise<boolean> {
    this.description = await this.simulation.request("motion", { file });
    for (const callback of this.onOpened) callback();
    return true;
  }

  async show(opened: Opened, embedded: Embedded | null = null): Promise<void> {
    this.embedded = embedded;
    if (embedded) this.files = null;
    this.simulation.forget();
    this.simulated = false;
    this.description = opened.description;
    this.settings = opened.settings;
    this.tools.joints = opened.description.joints;
    const [low, high] = opened.description.bounds;
    this.tools.height = Math.max(1e-3, high[1] - low[1]);
    for (const body of this.bodies) body.dispose();
    this.bodies = [new BodyView(opened, null), new BodyView(opened, new THREE.Color(0xb9c4d6))];
    for (const body of this.bodies) {
      // With software rendering shadows lag behind, which is visible on the body but not on the ground.
      body.mesh.receiveShadow = !this.scene.software;
      this.scene.scene.add(body.mesh);
    }
    this.tools.body = this.bodies[0] ?? null;
    this.overlays.forget(opened.description.joints);
    this.resetView();
    this.applyView();
    this.simulation.order({ type: "start" });
    for (const callback of this.onOpened) callback();
    for (const problem of opened.description.info.problems.filter(({ severity }) => severity === "warning").slice(0, 2)) {
      showMessage(problem.place ? `${problem.place}: ${problem.text}` : problem.text);
    }
    if (!opened.description.bare) await this.build();
  }

  /** Places the camera in front of the character. */
  resetView(): void {
    const [low, high] = this.description?.bounds ?? [[-1, 0, -1] as const, [1, 2, 1] as const];
    this.scene.fitCanvas();
    this.scene.placeCamera(new THREE.Vector3(...low), new THREE.Vector3(...high), this.description?.facing ?? 0);
  }

  async build(): Promise<void> {
    if (!this.settings) return;
    const notes: Message[] = [];
    const slow = setTimeout(() => notes.push(showMessage("Building tissue…", "plain", null)), 700);
    try {
      const report = await this.simulation.build(this.settings);
      if (!report) return;
      this.report = report;
      this.simulated = true;
    } finally {
      clearTimeout(slow);
      for (const note of notes) note.close();
    }
  }

  async useSettings(settings: Settings): Promise<void> {
    this.settings = settings;
    await this.build();
    for (const callback of this.onOpened) callback();
  }

  applyPlay(): void {
    const { playing, speed, repeat } = this;
    this.simulation.order({ type: "play", playing, speed, repeat });
  }

  async chooseClip(index: number): Promise<void> {
    await this.simulation.request("clip", { index });
    if (this.description) this.description.clip = index;
  }

  applyView(): void {
    const { shown } = this.overlays;
    this.simulation.order({ type: "methods", left: this.method, right: this.compare === "off" ? null : this.other });
    this.simulation.order({ type: "overlays", names: [...shown] });
    const seeThrough = INNER_OVERLAYS.some((name) => shown.has(name)) || this.tools.rigTool !== null;
    for (const body of this.bodies) {
      body.setAppearance({ strain: shown.has("strain"), wireframe: shown.has("wireframe"), seeThrough });
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

  /** Position of the divider as a fraction of the width; initially the centre of the area beside the panel. */
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
      this.tools.jointPositions = this.jointPositions = frame.overlays.joints;
      this.time = frame.time;
      if (frame.slots[0]?.strains && this.overlays.shown.has("strain")) this.showStrainOnce();
      this.detectMovement(frame.slots[0]?.positions);
    }
    this.scene.fitCanvas();
    this.scene.castShadows();
    this.scene.controls.update();
    this.render();
    for (const callback of this.onFrame) callback();
    this.readout.update(frame?.readout ?? null, performance.now() - begin);
  }

  private strainShown = false;
  /** Strain colours are available from the first frame that contains them. */
  private showStrainOnce(): void {
    if (!this.strainShown) this.applyView();
    this.strainShown = true;
  }

  private detectMovement(positions: Float32Array | undefined): void {
    if (this.firstMovement !== null || !positions) return;
    const sample = positions.slice(0, 300);
    if (this.lastSample && sample.some((x, index) => Math.abs(x - (this.lastSample?.[index] ?? x)) > 1e-5)) {
      this.firstMovement = performance.now();
      setTimeout(() => this.scene.addEnvironment(), 500);
    }
    this.lastSample = sample;
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

  /** A PNG of the current view. */
  picture(): Promise<Blob> {
    this.render();
    return new Promise((resolve, reject) => {
      this.scene.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser could not encode the picture"))), "image/png");
    });
  }
}

/** FBX is converted by `supple view`; a static page cannot read it. */
async function converted(files: DroppedFile[]): Promise<DroppedFile[]> {
  const fbx = files.find((file) => file.name.toLowerCase().endsWith(".fbx"));
  if (!fbx) return files;
  const answer = await fetch("./convert", {
    method: "POST",
    headers: { "content-type": "application/octet-stream", "x-supple": "1" },
    body: fbx.bytes as BodyInit,
  }).catch(() => null);
  if (!answer || answer.status === 404 || answer.status === 405) {
    throw new Error("this page cannot read FBX; open it with `supple view`, or convert it with `supple convert FILE.fbx FILE.glb`");
  }
  if (!answer.ok) throw new Error(await answer.text());
  const name = fbx.name.replace(/\.fbx$/i, ".glb");
  return [{ name, bytes: new Uint8Array(await answer.arrayBuffer()) }];
}
