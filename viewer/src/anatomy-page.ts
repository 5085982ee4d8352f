// Anatomy page: layers of the embedded bodies and of people made of scans, peeling, a cutting plane, and the names of bones and muscles.
import * as THREE from "three";
import type { App } from "./app";
import { button, buttons, byId, check, choiceRow, heading, make, slider } from "./dom";
import { PEELING } from "./anatomy-view";
import { GrowthBlock } from "./growth-block";
import { showMessage, showProgress } from "./messages";
import type { Page } from "./panel";
import { PersonBlock } from "./person-block";
import { NOTHING_KNOWN, type AnatomyLayer, type DroppedFile, type Placed } from "./protocol";
import { TEMPLATES, fetched, seeInside } from "./see-inside";

const LAYERS: readonly (readonly [AnatomyLayer | "skin", string, string])[] = [
  ["skin", "Skin", "The simulated skin"],
  ["muscleSurface", "Muscle surface", "The surface around all muscles; fat lies between it and the skin"],
  ["muscles", "Muscles", "Every muscle; the pointer tells its name"],
  ["skeletonSurface", "Skeleton surface", "The surface around all bones"],
  ["bones", "Bones", "Every bone; the pointer tells its name"],
];
/** Peeling at which each layer is seen. */
const SEEN_AT = new Map(PEELING.map(([name, from]) => [name, name === "skin" ? 0 : from]));
const CUTS = [["off", "None"], ["front", "Front to back"], ["side", "Side to side"], ["top", "Head to feet"]] as const;
type Cut = (typeof CUTS)[number][0];
const NORMALS: Record<Exclude<Cut, "off">, THREE.Vector3> = {
  front: new THREE.Vector3(0, 0, -1),
  side: new THREE.Vector3(-1, 0, 0),
  top: new THREE.Vector3(0, -1, 0),
};
const NO_LAYERS = "The embedded bodies have muscles and bones: choose one at the top. So has a person made of a scan: open a mesh or points of somebody who stands upright.";
const SCAN = "If this is a scan of a person who stands upright, Supple finds the body in it, and fits bones, muscles and fat.";
/** How far the page peels when it is opened: muscles. */
const FIRST_PEEL = 0.35;

export class AnatomyPage implements Page {
  name = "Anatomy";
  title = "Muscles, bones and the layers around them";
  element = make("div");
  /** Called when a person is on the page for the first time. */
  onPerson: () => void = () => {};
  /** Called by the button that saves a picture. */
  onPicture: () => void = () => {};
  private boxes = new Map<AnatomyLayer | "skin", HTMLInputElement>();
  /** Joints of the body at rest. */
  private rest: Placed[] = [];
  private none = make("p", { className: "note" });
  private offer = buttons(
    button("See inside", () => this.app.scan && this.seeInside(this.app.scan), "Finds the person in the scan, and fits bones, muscles and fat into it", true),
  );
  private controls = make("div");
  private label = make("div", { id: "part-name", hidden: true });
  private peel = slider({
    label: "Peel",
    title: "From the skin over the muscles to the bones",
    min: 0,
    max: 1,
    step: 0.01,
    show: (value) => layerName(value),
    change: (value) => this.peelTo(value),
  });
  private cutAt = slider({
    label: "Cut at",
    title: "Where the plane cuts the body",
    min: 0,
    max: 1,
    step: 0.005,
    show: (value) => `${Math.round(100 * value)} %`,
    change: (value) => this.cut(this.axis, value),
  });
  private axis: Cut = "off";
  private share = 0.5;
  private flipped = false;
  private loading: Promise<void> | null = null;
  /** Whether the layers are those of the person's last shape. */
  private stale = false;
  /** How often a character was opened. */
  private openings = 0;
  private pointer: THREE.Vector2 | null = null;

  constructor(private app: App) {
    const boxes = LAYERS.map(([name, label, title]) => {
      const { row, box } = check(label, "", (on) => this.show(name, on), title);
      this.boxes.set(name, box);
      return row;
    });
    const axis = choiceRow<Cut>("Cut", CUTS, (to) => this.cut(to, this.middle(to)), "Cuts everything with a plane");
    const flip = check("Other half", "", (on) => {
      this.flipped = on;
      this.cut(this.axis, this.share);
    }, "Shows what the plane cuts away");
    const person = new PersonBlock(app);
    const growth = new GrowthBlock(app);
    // Shapes can be seen on the skin.
    growth.onMove = () => {
      app.anatomy.wanted.add("skin");
      if (app.anatomy.opacity("skin") < 1) void this.peelTo(0);
    };
    this.controls.append(heading("Peel"), this.peel.row, person.element, growth.element, heading("Layers"), ...boxes, heading("Cut"), axis.row, this.cutAt.row, flip.row);
    this.controls.append(heading("Picture"), buttons(button("Save picture", () => this.onPicture(), "Save what is shown, with a transparent background (Ctrl+S)")));
    this.element.append(this.none, this.offer, this.controls);
    byId("app").append(this.label);
    this.peel.set(0);
    this.cutAt.set(this.share);
    app.scene.renderer.localClippingEnabled = true;
    app.onOpened.push(() => this.opened());
    app.onFrame.push(() => this.follow());
    const canvas = app.scene.canvas;
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      this.pointer = new THREE.Vector2(event.clientX - box.left, event.clientY - box.top);
    });
    canvas.addEventListener("pointerleave", () => (this.pointer = null));
    this.opened();
  }

  visit(open: boolean): void {
    const { anatomy, layered } = this.app;
    // Peeling and cut belong to this tab.
    anatomy.active = open;
    this.apply();
    if (!open || !layered) return;
    if (!anatomy.loaded && !anatomy.isChosen) void this.peelTo(FIRST_PEEL);
    else if (anatomy.isChosen) void this.load();
  }

  private opened(): void {
    const { anatomy, layered, scan, person } = this.app;
    // Another shape of the same person keeps its layers until the new ones are there.
    this.stale = this.app.same && anatomy.loaded;
    if (!this.stale) anatomy.forget();
    this.openings += 1;
    this.loading = null;
    this.none.hidden = layered;
    this.none.textContent = scan ? SCAN : NO_LAYERS;
    this.offer.hidden = layered || scan === null;
    this.controls.hidden = !layered;
    if (!layered) {
      anatomy.peel = 0;
      anatomy.cut(null);
    }
    this.apply();
    if (person && !this.app.same) {
      this.onPerson();
      if (anatomy.peel === 0) void this.peelTo(FIRST_PEEL);
    }
    if (layered && anatomy.active && (this.stale || anatomy.isChosen)) void this.load();
  }

  seeInside(scan: DroppedFile): void {
    void seeInside(this.app, scan, NOTHING_KNOWN);
  }

  /** Gets the layers of the body on the page. */
  private load(): Promise<void> {
    const { layered, anatomy } = this.app;
    if (!layered || (anatomy.loaded && !this.stale)) return Promise.resolve();
    this.loading ??= this.fetch().catch((error: unknown) => {
      this.loading = null;
      if ((error as Error).name === "AbortError") return;
      showMessage(`The anatomy could not be loaded: ${(error as Error).message}`, "bad");
    });
    return this.loading;
  }

  private async fetch(): Promise<void> {
    const { embedded, simulation } = this.app;
    const { openings } = this;
    const stop = new AbortController();
    const note = showProgress("Loading bones and muscles…", () => stop.abort());
    try {
      // A person's own layers are in the worker.
      const bytes = embedded && (await fetched(TEMPLATES[embedded], stop.signal));
      const [anatomy, skin, joints] = await Promise.all([
        simulation.request("anatomy", { bytes }),
        simulation.request("wholeSkin", {}),
        simulation.request("placed", {}),
      ]);
      if (this.openings !== openings) return;
      for (const body of this.app.bodies) body.setRest(skin);
      this.rest = joints;
      this.stale = false;
      this.app.anatomy.take(anatomy.description, anatomy.arrays, this.app.description?.joints ?? []);
      this.apply();
    } finally {
      note.close();
    }
  }

  private apply(): void {
    const { anatomy } = this.app;
    anatomy.apply();
    this.app.applyView();
    for (const [name, box] of this.boxes) box.checked = name === "skin" && !anatomy.loaded ? true : anatomy.opacity(name) > 0.01;
  }

  async peelTo(at: number): Promise<void> {
    this.peel.set(at);
    this.app.anatomy.peel = at;
    if (at > 0) await this.load();
    this.apply();
  }

  show(name: AnatomyLayer | "skin", on: boolean): void {
    const { anatomy } = this.app;
    if (on) anatomy.wanted.add(name);
    else anatomy.wanted.delete(name);
    // What is peeled away comes back.
    if (on && anatomy.opacity(name) <= 0.01) void this.peelTo(SEEN_AT.get(name) ?? 0);
    else void this.load().then(() => this.apply());
  }

  /** Where a plane cuts through the middle of the trunk. */
  private middle(axis: Cut): number {
    const { description } = this.app;
    const root = description?.joints.find(({ bone }) => bone)?.name;
    const index = { off: -1, side: 0, top: 1, front: 2 }[axis];
    const [low, high] = description?.bounds ?? [[0, 0, 0], [1, 1, 1]];
    const at = this.rest.find(({ name }) => name === root)?.position[index];
    if (index < 0 || at === undefined) return this.share;
    return Math.min(0.95, Math.max(0.05, (at - (low[index] ?? 0)) / Math.max(1e-6, (high[index] ?? 1) - (low[index] ?? 0))));
  }

  cut(axis: Cut, share: number): void {
    this.axis = axis;
    this.share = share;
    this.cutAt.set(share);
    if (axis === "off") {
      this.app.anatomy.cut(null);
    } else {
      const [low, high] = this.app.description?.bounds ?? [[-1, 0, -1], [1, 2, 1]];
      const normal = NORMALS[axis].clone();
      const place = new THREE.Vector3(...low).lerp(new THREE.Vector3(...high), share);
      if (this.flipped) normal.negate();
      this.app.anatomy.cut(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, place));
      void this.load();
    }
    this.apply();
  }

  /** Lights the part under the pointer, and tells its name. */
  private follow(): void {
    const { anatomy, scene } = this.app;
    const at = anatomy.inside ? this.pointer : null;
    const number = at && anatomy.partAt(scene.renderer, scene.camera, at, new THREE.Vector2(scene.width, scene.height), this.app.bodies[0]?.mesh.geometry ?? null);
    anatomy.light(number);
    const part = anatomy.part(number);
    this.label.hidden = part === null;
    if (!part || !at) return;
    const volume = part.volume_ml >= 1 ? ` · ${Math.round(part.volume_ml)} ml` : "";
    this.label.textContent = `${part.name} · ${part.group}${volume}`;
    this.label.style.left = `${at.x + 14}px`;
    this.label.style.top = `${at.y + 14}px`;
  }
}

function layerName(at: number): string {
  if (at < 0.02) return "Skin";
  if (at < 0.5) return "Muscles";
  return at < 0.97 ? "Deeper" : "Bones";
}
