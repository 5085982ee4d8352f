// Application state shared by all controls: the character on the page and how it is shown.
import * as THREE from "three";
import { AnatomyView } from "./anatomy-view";
import { BodyView } from "./body-view";
import { Comparison } from "./comparison";
import { byId } from "./dom";
import { sorted } from "./dropped";
import type { GlCanvas } from "./gl-canvas";
import { clearMessages, showMessage, showProgress } from "./messages";
import { OverlayView } from "./overlays";
import {
  DEFAULT_OPTIONS,
  type BuildReport,
  type Description,
  type DroppedFile,
  type ImportOptions,
  type Method,
  type Opened,
  type OverlayName,
  type Placed,
  type Settings,
} from "./protocol";
import { ReadoutView } from "./readout";
import { Scene } from "./scene";
import { Cancelled, type Simulation } from "./simulation";
import { Stillness } from "./stillness";
import { Tools } from "./tools";

export type Embedded = "male" | "female";

const METHOD_NAMES: Record<Method, string> = { tissue: "Tissue", lbs: "Linear blend", dqs: "Dual quaternions" };
/** Overlays inside the body. The skin becomes transparent when one is shown. */
const INNER_OVERLAYS: OverlayName[] = ["volumes", "boneSurface", "tets"];

/** Files that scans are in. */
const SCANS = /\.(ply|obj|stl|off|xyz|pts|asc|csv|glb|gltf)$/i;

/** Time between two frames while nothing moves [ms]. */
const STILL_INTERVAL = 250;

/** How a character is shown first. */
export interface Start {
  embedded?: Embedded;
  settings?: Settings | undefined;
  clip?: number;
  pose?: Float32Array;
  /** Motions to put on it. */
  motions?: DroppedFile[];
  /** Joints that were placed by hand on it. */
  placed?: Placed[] | null;
  /** Whether it is the same character, read or rigged anew. */
  again?: boolean;
  /** Whether it only changed its shape: view and motion go on. */
  same?: boolean;
}

export class App {
  readonly scene: Scene;
  readonly readout = new ReadoutView();
  readonly overlays = new OverlayView();
  readonly anatomy = new AnatomyView();
  readonly comparison: Comparison;
  readonly tools: Tools;
  description: Description | null = null;
  settings: Settings | null = null;
  /** The embedded body on the page; null for the user's own file. */
  embedded: Embedded | null = null;
  /** The files on the page and how they are read; null for an embedded body. */
  files: DroppedFile[] | null = null;
  motions: DroppedFile[] = [];
  /** Joints that were placed by hand on the files' mesh. */
  placed: Placed[] | null = null;
  importOptions: ImportOptions = DEFAULT_OPTIONS;
  method: Method = "tissue";
  other: Method = "lbs";
  playing = true;
  speed = 1;
  repeat = true;
  /** Whether the clip is paused only as long as the pose tool is chosen. */
  pausedForPose = false;
  /** Whether a video is recorded: the resolution stays, and every frame is drawn. */
  recording = false;
  time = 0;
  /** Joint positions of the newest frame. */
  jointPositions: Float32Array = new Float32Array(0);
  /** Milliseconds from navigation to the first frame whose skin moved. */
  firstMovement: number | null = null;
  /** Whether the tissue of the current character is built. */
  simulated = false;
  report: BuildReport | null = null;
  /** Whether the character on the page is another shape of the one before. */
  same = false;
  /** Called when another character is loaded. */
  onOpened: (() => void)[] = [];
  /** Called when the list of clips changes. */
  onClips: (() => void)[] = [];
  /** Called when other settings are in force. */
  onSettings: (() => void)[] = [];
  onFrame: (() => void)[] = [];
  /** Called when the clip is played, paused, or repeated otherwise. */
  onPlay: (() => void)[] = [];
  /** Called by the button that opens the options for reading the file. */
  onImportOptions: () => void = () => {};
  /** Called when tissue was built. */
  onBuilt: (() => void)[] = [];
  /** Called when another character with a skeleton is opened. */
  onNew: () => void = () => {};
  /** Called when a rig is ready to be simulated. */
  onRigged: () => void = () => {};
  bodies: BodyView[] = [];
  private lastSample: Float32Array | null = null;
  private stillness = new Stillness();
  private drawn = 0;

  constructor(
    readonly simulation: Simulation,
    glCanvas: GlCanvas,
  ) {
    this.scene = new Scene(glCanvas);
    this.comparison = new Comparison(this.scene);
    this.tools = new Tools(this.scene, simulation, this.comparison);
    this.scene.scene.add(this.overlays.group, this.anatomy.group);
    this.simulation.onError = (message) => this.reportError(message);
    requestAnimationFrame(() => this.draw());
    setInterval(() => this.adaptResolution(), 1500);
    // Pause while the page is hidden.
    document.addEventListener("visibilitychange", () => this.simulation.order({ type: document.hidden ? "stop" : "start" }));
  }

  private lastError = { message: "", at: 0 };
  /** An error in one step usually repeats in the next, so repeats within 15 s are dropped. */
  private reportError(message: string): void {
    const now = performance.now();
    const again = message === this.lastError.message && now - this.lastError.at < 15_000;
    if (!again) showMessage(message, "bad");
    this.lastError = { message, at: now };
  }

  /** Reduces the resolution if the canvas is slow. */
  private adaptResolution(): void {
    if (document.hidden || this.recording || this.scene.sharp) return;
    if (this.readout.fps > 0 && this.readout.fps < 22) this.scene.scaleResolution(0.85);
  }

  async openEmbedded(name: Embedded): Promise<void> {
    clearMessages();
    await this.show(await this.simulation.request("embedded", { name }), { embedded: name });
  }

  /** Opens a character, motions for it or for the current one, and settings, all at once. `start` is for the character. */
  async openFiles(files: DroppedFile[], start: Start = {}): Promise<void> {
    if (!start.same) clearMessages();
    const { characters, others, motions, settings } = await sorted(files);
    const toml = settings[0];
    const chosen = toml && (await this.simulation.request("settingsFromToml", { text: new TextDecoder().decode(toml.bytes) }));
    const [main, rest] = await this.openFirst(characters, others);
    const all = [...motions, ...rest];
    if (main) {
      this.files = main.files;
      this.importOptions = DEFAULT_OPTIONS;
      await this.show(main.opened, { ...start, settings: chosen ?? start.settings, motions: [...all, ...(start.motions ?? [])] });
    } else {
      for (const motion of all) await this.addMotion(motion);
      if (chosen) await this.useSettings(chosen);
    }
    if (toml) showMessage(`${toml.name} loaded`, "good");
  }

  /** Opens the first file with a mesh; the files without one may hold motions. */
  private async openFirst(characters: DroppedFile[], others: DroppedFile[]): Promise<[{ opened: Opened; files: DroppedFile[] } | null, DroppedFile[]]> {
    const sets = characters.map((file) => [file, ...others]);
    if (others.length > 0) sets.push(others);
    let failure: unknown = null;
    for (const files of sets) {
      try {
        const opened = await this.read(files, DEFAULT_OPTIONS);
        return [{ opened, files }, characters.filter((file) => !files.includes(file))];
      } catch (error) {
        if (error instanceof Cancelled) throw error;
        failure ??= error;
      }
    }
    const only = [...characters, ...others];
    if (only.length === 0) return [null, []];
    // A file without a mesh may hold a motion for the current character.
    if (only.length > 1 || !this.description) throw failure;
    await this.addMotion(only[0] as DroppedFile).catch(() => {
      throw failure;
    });
    return [null, []];
  }

  private async read(files: DroppedFile[], options: ImportOptions): Promise<Opened> {
    const note = showProgress(`Reading ${files[0]?.name ?? "the file"}…`, () => this.simulation.cancelOpening());
    try {
      return await this.simulation.open({ files, options });
    } finally {
      note.close();
    }
  }

  /** Opens files again as they were on the page before. */
  async restore(files: DroppedFile[], options: ImportOptions, placed: Placed[] | null, start: Start): Promise<void> {
    const opened = await this.read(files, options);
    this.files = files;
    this.importOptions = options;
    const rigged = placed && (await this.simulation.request("rig", { placed }));
    await this.show(rigged ?? opened, { ...start, placed });
  }

  /** Reads the current files again with other options. */
  async reload(change: Partial<ImportOptions>): Promise<void> {
    const { files } = this;
    if (!files) return;
    const options = { ...this.importOptions, ...change };
    clearMessages();
    const opened = await this.read(files, options);
    this.importOptions = options;
    await this.show(opened, { again: true, settings: this.settings ?? undefined });
  }

  /** Opens another shape of the character on the page: view, motion and settings stay. */
  async openAgain(files: DroppedFile[]): Promise<void> {
    const { description, settings, motions } = this;
    const clip = description ? (description.clip ?? description.clips.length) : undefined;
    const pose = this.tools.pose.history.current;
    await this.openFiles(files, {
      again: true,
      same: true,
      motions: [...motions],
      ...(settings ? { settings } : {}),
      ...(clip === undefined ? {} : { clip }),
      ...(pose.length > 0 ? { pose: new Float32Array(pose) } : {}),
    });
  }

  /** Puts a motion on the current character and plays it. */
  private async addMotion(file: DroppedFile): Promise<void> {
    this.description = await this.simulation.request("motion", { file });
    this.motions.push(file);
    this.tools.pose.reset();
    for (const callback of this.onClips) callback();
  }

  async show(opened: Opened, start: Start = {}): Promise<void> {
    this.embedded = start.embedded ?? null;
    if (this.embedded) this.files = null;
    this.motions = [];
    this.placed = start.placed ?? null;
    this.simulation.forget();
    this.simulated = false;
    this.description = opened.description;
    this.settings = start.settings ?? opened.settings;
    const [low, high] = opened.description.bounds;
    this.tools.height = this.tools.pose.height = Math.max(1e-3, high[1] - low[1]);
    this.tools.pose.forget(opened.description.joints);
    for (const body of this.bodies) body.dispose();
    this.bodies = [new BodyView(opened, null), new BodyView(opened, new THREE.Color(0xb9c4d6))];
    for (const body of this.bodies) {
      // With software rendering shadows lag behind, which is visible on the body but not on the ground.
      body.mesh.receiveShadow = !this.scene.software;
      this.scene.scene.add(body.mesh);
    }
    this.tools.bodies = this.bodies;
    this.overlays.forget(opened.description.joints);
    this.same = start.same ?? false;
    if (!this.same) this.resetView();
    this.applyView();
    const { time } = this;
    this.simulation.order({ type: "start" });
    for (const motion of start.motions ?? []) {
      await this.addMotion(motion).catch((error: unknown) => showMessage(`${motion.name}: ${(error as Error).message}`, "bad"));
    }
    if (start.clip !== undefined) await this.chooseClip(start.clip).catch(() => {});
    if (this.same) this.simulation.order({ type: "seek", time });
    if (start.pose?.length) {
      this.tools.pose.forget(opened.description.joints, start.pose);
      this.simulation.order({ type: "pose", numbers: start.pose });
    }
    if (!start.again && !opened.description.bare) this.onNew();
    for (const callback of [...this.onOpened, ...this.onClips, ...this.onSettings]) callback();
    // Of points it is said that they are a scan.
    const { problems, triangles } = opened.description.info;
    const warnings = triangles > 0 ? problems.filter(({ severity }) => severity === "warning") : [];
    for (const problem of warnings.slice(0, 2)) {
      const text = problem.place ? `${problem.place}: ${problem.text}` : problem.text;
      showMessage(text, "plain", undefined, this.files && !this.person ? { label: "File options", run: () => this.onImportOptions() } : undefined);
    }
    if (!opened.description.bare) await this.build();
  }

  /** The file of the layered person on the page. */
  get person(): DroppedFile | null {
    return this.description?.person ? (this.files?.[0] ?? null) : null;
  }

  /** The scan on the page, or that the person on the page was made of. */
  get scan(): DroppedFile | null {
    if (this.person) return this.files?.[1] ?? null;
    return this.description?.scan ? (this.files?.find(({ name }) => SCANS.test(name)) ?? null) : null;
  }

  /** Whether the character on the page has muscles and bones. */
  get layered(): boolean {
    return this.embedded !== null || this.person !== null;
  }

  /** Places the camera in front of the character. */
  resetView(): void {
    this.scene.framing.reset();
    this.scene.fitCanvas();
    const { min, max } = this.restBounds();
    this.scene.placeCamera(min, max, this.description?.facing ?? 0);
  }

  /** Largest extent at rest [m]. */
  get size(): number {
    return Math.max(...this.restBounds().getSize(new THREE.Vector3()).toArray());
  }

  private restBounds(): THREE.Box3 {
    const [low, high] = this.description?.bounds ?? [[-1, 0, -1] as const, [1, 2, 1] as const];
    return new THREE.Box3(new THREE.Vector3(...low), new THREE.Vector3(...high));
  }

  async build(): Promise<void> {
    if (!this.settings) return;
    const text = "Building the tissue…";
    const note = showProgress(text, () => this.simulation.cancelBuilding());
    try {
      // The ground is an order, so that it can change without a build.
      const { contact } = this.settings;
      const settings = contact ? { ...this.settings, contact: { ...contact, ground: false } } : this.settings;
      const report = await this.simulation.build(settings, (share) => note.update(text, share));
      if (!report) return;
      this.report = report;
      this.simulated = true;
      for (const callback of this.onBuilt) callback();
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      showMessage("The tissue was not built: the body moves without it.", "plain", 60_000, { label: "Build", run: () => void this.build() });
    } finally {
      note.close();
    }
  }

  async useSettings(settings: Settings): Promise<void> {
    this.settings = settings;
    for (const callback of this.onSettings) callback();
    await this.build();
  }

  applyPlay(): void {
    const { playing, speed, repeat } = this;
    this.simulation.order({ type: "play", playing, speed, repeat });
    for (const callback of this.onPlay) callback();
  }

  async chooseClip(index: number): Promise<void> {
    await this.simulation.request("clip", { index });
    if (this.description) this.description.clip = index < this.description.clips.length ? index : null;
    this.tools.pose.reset();
  }

  /** Begins or ends a video of the canvas. */
  record(on: boolean): void {
    this.recording = on;
    this.scene.fillBackground(on);
  }

  applyView(): void {
    const { shown } = this.overlays;
    this.simulation.order({ type: "methods", left: this.method, right: this.comparison.mode === "off" ? null : this.other });
    const { anatomy } = this;
    this.simulation.order({ type: "overlays", names: anatomy.inside ? [...shown, "anatomy"] : [...shown] });
    const seeThrough = INNER_OVERLAYS.some((name) => shown.has(name)) || this.tools.pressTool !== null;
    for (const body of this.bodies) {
      body.setAppearance({ strain: shown.has("strain"), wireframe: shown.has("wireframe"), seeThrough, opacity: anatomy.loaded ? anatomy.opacity("skin") : 1, cuts: anatomy.cuts });
    }
    const both = this.comparison.mode !== "off";
    byId("caption-left").textContent = both ? METHOD_NAMES[this.method] : "";
    byId("caption-right").textContent = both ? METHOD_NAMES[this.other] : "";
    byId("divider").hidden = this.comparison.mode !== "divider";
  }

  private draw(): void {
    requestAnimationFrame(() => this.draw());
    const begin = performance.now();
    const frame = this.simulation.take();
    if (frame) {
      frame.slots.forEach((slot, index) => this.bodies[index]?.take(slot));
      this.overlays.take(frame.overlays);
      if (frame.overlays.matrices) this.anatomy.move(frame.overlays.matrices);
      this.jointPositions = frame.overlays.joints;
      this.time = frame.time;
      if (frame.slots[0]?.strains && this.overlays.shown.has("strain")) this.showStrainOnce();
      this.detectMovement(frame.slots[0]?.positions);
    }
    this.comparison.arrange(this.bodies, this.tools.height, this.description?.facing ?? 0);
    const left = this.bodies[0]?.mesh.position;
    if (left) {
      this.overlays.group.position.copy(left);
      this.anatomy.group.position.copy(left);
    }
    this.scene.controls.update();
    if (this.description) this.follow();
    this.stillness.look(this.bodies, this.scene.camera, this.tools.height, begin);
    const still = this.stillness.isStill(begin) && !this.recording;
    this.scene.sharpen(still);
    const changed = this.scene.fitCanvas();
    // While nothing moves, few frames are enough.
    if (!still || changed || this.stillness.takeTouched() || begin - this.drawn > STILL_INTERVAL) {
      this.drawn = begin;
      this.tools.follow(this.jointPositions);
      this.scene.castShadows();
      this.render(this.scene.width, this.scene.height);
      for (const callback of this.onFrame) callback();
    }
    this.readout.update(frame?.readout ?? null, performance.now() - begin);
  }

  private render(width: number, height: number): void {
    this.comparison.render(this.bodies, width, height);
  }

  /** Keeps all bodies in the frame. */
  private follow(): void {
    const offsets = (this.comparison.mode === "side" ? this.bodies : this.bodies.slice(0, 1)).map((body) => body.mesh.position);
    const bones = this.bones();
    const rest = new THREE.Box3();
    for (const offset of offsets) rest.union(this.restBounds().translate(offset));
    this.scene.framing.follow(offsets.flatMap((offset) => bones.map((bone) => bone.clone().add(offset))), rest);
  }

  /** Positions of the joints that move skin. */
  private bones(): THREE.Vector3[] {
    const joints = this.description?.joints ?? [];
    const has = (index: number): boolean => 3 * index + 2 < this.jointPositions.length;
    return joints.flatMap(({ bone }, index) => (bone && has(index) ? [new THREE.Vector3().fromArray(this.jointPositions, 3 * index)] : []));
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

  /** A PNG of the current view, by default of the window's resolution [px]. */
  picture(width?: number, height?: number): Promise<Blob> {
    const ratio = window.devicePixelRatio;
    const size = [width ?? Math.round(ratio * this.scene.width), height ?? Math.round(ratio * this.scene.height)] as const;
    return this.scene.picture(...size, (width, height) => this.render(width, height));
  }
}
