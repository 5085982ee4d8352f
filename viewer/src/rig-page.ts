// Rigging page: builds a skeleton by hand.
import * as THREE from "three";
import type { App } from "./app";
import { button, buttons, check, heading, make } from "./dom";
import { sentence, showMessage } from "./messages";
import type { Page } from "./panel";
import type { MarkerPlaces, Placed, TemplateName, Vector } from "./protocol";
import { importOptionsBlock } from "./import-options";
import { RigHistory, added, mirrored, moved, removed, renamed, type RigState } from "./rig-joints";
import { RigMarkers } from "./rig-markers";
import { RigView } from "./rig-view";
import { save } from "./save";
import type { Pointer, PressTool } from "./tools";

/** Picking distance of joints [px]. */
const PICK_DISTANCE = { fine: 16, coarse: 26 } as const;
/** Movement up to which a press is a click [px]. */
const MAX_CLICK = 8;

export class RigPage implements Page {
  name = "Rig";
  title = "Build or change the skeleton";
  element = make("div");
  private history = new RigHistory();
  open = false;
  /** Called when editing begins or ends. */
  onEdit: (on: boolean) => void = () => {};
  private inside = true;
  private view = new RigView();
  private markers: RigMarkers;
  private markerBlock = make("div", { className: "card", hidden: true });
  private dragged: number | null = null;
  /** Where a press on the body places a joint when it is released. */
  private pressed: { ray: THREE.Ray; point: THREE.Vector3; at: THREE.Vector2 } | null = null;
  private tool: PressTool = {
    press: (pointer) => this.press(pointer),
    move: (pointer) => this.drag(pointer),
    release: () => this.release(),
    cancel: () => this.cancel(),
  };
  private asked = 0;
  private list = make("ul", { className: "joints" });
  private roles = make("datalist", { id: "joint-roles" });
  private nameField = make("input", { type: "text", disabled: true });
  private undoButton = button("Undo", () => this.undo(), "Undo the last edit (Ctrl+Z)");
  private redoButton = button("Redo", () => this.redo(), "Redo (Ctrl+Y)");

  constructor(private app: App) {
    this.markers = new RigMarkers(app);
    this.view.group.add(this.markers.group);
    app.scene.scene.add(this.view.group);
    this.fillMarkerBlock();
    const inside = check("Place joints inside the body", "", (on) => (this.inside = on), "A joint is placed half way through the body, not on its surface");
    inside.box.checked = true;
    this.nameField.setAttribute("list", this.roles.id);
    this.nameField.setAttribute("aria-label", "Name of the selected joint");
    this.nameField.onchange = () => this.rename(this.nameField.value);
    this.element.append(
      importOptionsBlock(app),
      heading("Skeleton"),
      make("p", { textContent: "Click the body to place a joint below the selected one. Drag a joint to move it." }),
      buttons(button("Fit a humanoid", () => void this.fit(), "Find a person's joints in the mesh"), button("Start empty", () => this.start([]), "Remove all joints")),
      buttons(
        button("Humanoid template", () => void this.template("humanoid"), "A person's joints, scaled to the mesh; drag them into place"),
        button("Quadruped template", () => void this.template("quadruped"), "A four-legged animal's joints, scaled to the mesh; drag them into place"),
      ),
      this.markerBlock,
      inside.row,
      this.list,
      this.nameField,
      this.roles,
      buttons(
        button("Mirror", () => this.mirror(), "Copy the selected joint and those below it to the other side"),
        button("Delete", () => this.remove(), "Delete the selected joint (Del)"),
        this.undoButton,
        this.redoButton,
      ),
      heading("Apply"),
      buttons(button("Simulate", () => void this.simulate(), "Build the tissue around this skeleton", true)),
      buttons(button("Save .skel", () => void this.saveSkel(), "The skeleton alone, to be opened together with the mesh"), button("Save GLB", () => void this.saveGlb(), "Mesh, skeleton and weights in one file")),
    );
    app.onOpened.push(() => this.opened());
    this.show();
  }

  visit(open: boolean): void {
    this.open = open;
    this.view.group.visible = open;
    this.useTool();
    this.app.comparison.suspended = open;
    this.onEdit(open);
    if (open) void this.enter();
    this.app.applyView();
  }

  private async enter(): Promise<void> {
    const { description } = this.app;
    if (!description) return;
    void this.listRoles();
    if (this.history.state.joints.length === 0 && !description.bare) {
      this.start(await this.app.simulation.request("placed", {}));
    }
  }

  private opened(): void {
    this.history.reset({ joints: [], selected: null });
    this.showMarkers(null);
    if (this.open) void this.enter();
    this.show();
  }

  private start(joints: Placed[]): void {
    this.history.push({ joints, selected: joints.length > 0 ? 0 : null });
    this.show();
  }

  private set(state: RigState): void {
    this.history.push(state);
    this.show();
  }

  undo(): void {
    if (this.open && this.history.undo()) this.show();
  }

  redo(): void {
    if (this.open && this.history.redo()) this.show();
  }

  remove(): void {
    const { selected } = this.history.state;
    if (this.open && selected !== null) this.set(removed(this.history.state, selected));
  }

  private mirror(): void {
    const [low, high] = this.app.description?.bounds ?? [[0], [0]];
    this.set(mirrored(this.history.state, 0.5 * (low[0] + high[0])));
  }

  private rename(name: string): void {
    const { selected } = this.history.state;
    if (selected !== null) this.set(renamed(this.history.state, selected, name));
  }

  /** Presses go to the markers while there are some, else to the joints. */
  private useTool(): void {
    const tool = this.markers.places ? this.markers : this.tool;
    this.app.tools.pressTool = this.open ? tool : null;
    this.app.tools.showTools();
  }

  private fillMarkerBlock(): void {
    const both = check("Both sides at once", "", (on) => (this.markers.symmetric = on), "A marker moves the one on the other side too");
    both.box.checked = true;
    this.markerBlock.append(
      make("p", { textContent: "Drag every marker to its place, then fit again." }),
      both.row,
      buttons(
        button("Fit with markers", () => void this.fit(this.markers.places ?? {}), "Find the other joints between the markers", true),
        button("Remove markers", () => this.showMarkers(null), "Place joints by hand instead"),
      ),
    );
  }

  private showMarkers(places: MarkerPlaces | null): void {
    this.markers.show(places);
    this.markerBlock.hidden = places === null;
    this.useTool();
  }

  /** Fits a humanoid; where that fails, markers tell where its parts are. */
  private async fit(markers: MarkerPlaces = {}): Promise<void> {
    const { simulation } = this.app;
    try {
      this.start(await simulation.request("fitted", { markers }));
      this.showMarkers(null);
    } catch (error) {
      showMessage(`${sentence((error as Error).message)}. Drag the markers to their places, or start from a template.`, "bad");
      if (this.markers.places) return;
      this.history.push({ joints: [], selected: null });
      this.show();
      this.showMarkers(await simulation.request("markers", {}));
    }
  }

  private async template(kind: TemplateName): Promise<void> {
    try {
      this.start(await this.app.simulation.request("template", { kind }));
      this.showMarkers(null);
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  /** Offers the names of a template's joints, by which motions find theirs. */
  private async listRoles(): Promise<void> {
    const templates = await Promise.all((["humanoid", "quadruped"] as const).map((kind) => this.app.simulation.request("template", { kind }))).catch(() => []);
    const names = new Set(templates.flat().map(({ name }) => name));
    this.roles.replaceChildren(...[...names].map((value) => make("option", { value })));
  }

  private press({ raycaster, at, touch }: Pointer): boolean {
    const { joints } = this.history.state;
    const reach = touch ? PICK_DISTANCE.coarse : PICK_DISTANCE.fine;
    const distances = joints.map((joint) => this.app.tools.onScreen(new THREE.Vector3(...joint.position)).distanceTo(at));
    const near = distances.indexOf(Math.min(...distances));
    if ((distances[near] ?? Infinity) < reach) {
      this.set({ joints, selected: near });
      this.dragged = near;
      return true;
    }
    const hit = this.app.tools.pick();
    if (!hit) return false;
    this.pressed = { ray: raycaster.ray.clone(), point: hit.point, at: at.clone() };
    return true;
  }

  private async place(ray: THREE.Ray, fallback: THREE.Vector3): Promise<Vector> {
    if (!this.inside) return fallback.toArray() as Vector;
    const { origin, direction } = ray;
    const middle = await this.app.simulation.request("middle", {
      origin: origin.toArray() as Vector,
      direction: direction.toArray() as Vector,
    });
    return middle ?? (fallback.toArray() as Vector);
  }

  private drag({ raycaster, at }: Pointer): void {
    if (this.pressed && this.pressed.at.distanceTo(at) > MAX_CLICK) this.pressed = null;
    const index = this.dragged;
    const joint = index === null ? undefined : this.history.state.joints[index];
    if (index === null || !joint) return;
    const normal = this.app.scene.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3(...joint.position));
    const point = raycaster.ray.intersectPlane(plane, new THREE.Vector3());
    if (!point) return;
    this.history.replace(moved(this.history.state, index, point.toArray() as Vector));
    this.show();
    if (!this.inside || !this.app.tools.pick()) return;
    const asked = ++this.asked;
    void this.place(raycaster.ray.clone(), point).then((position) => {
      if (asked !== this.asked) return;
      this.history.replace(moved(this.history.state, index, position));
      this.show();
    });
  }

  private release(): void {
    const { pressed } = this;
    this.cancel();
    if (pressed) void this.place(pressed.ray, pressed.point).then((position) => this.set(added(this.history.state, position)));
  }

  private cancel(): void {
    this.dragged = null;
    this.pressed = null;
  }

  private show(): void {
    const { joints, selected } = this.history.state;
    this.list.replaceChildren(...joints.map((joint, index) => this.item(joint, index)));
    this.nameField.disabled = selected === null;
    this.nameField.value = selected === null ? "" : (joints[selected]?.name ?? "");
    this.undoButton.disabled = !this.history.canUndo;
    this.redoButton.disabled = !this.history.canRedo;
    this.view.draw(joints, selected, this.app.size);
  }

  private item(joint: Placed, index: number): HTMLLIElement {
    const { joints, selected } = this.history.state;
    let depth = 0;
    for (let at = joint.parent; at !== null && depth < 24; at = joints[at]?.parent ?? null) depth += 1;
    const choose = button(joint.name, () => {
      this.history.replace({ joints, selected: index });
      this.show();
    });
    choose.style.paddingLeft = `${0.9 + 0.7 * depth}em`;
    choose.setAttribute("aria-pressed", String(index === selected));
    return make("li", {}, choose);
  }

  private async rigged(): Promise<boolean> {
    const { joints } = this.history.state;
    if (joints.length < 2) {
      showMessage("A skeleton needs at least two joints. Click the body to place them.");
      return false;
    }
    const placed = [...joints];
    const opened = await this.app.simulation.request("rig", { placed });
    await this.app.show(opened, { again: true, placed });
    this.history.reset({ joints, selected: this.history.state.selected });
    this.show();
    return true;
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      if (await this.rigged()) await work();
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  async simulate(): Promise<void> {
    await this.attempt(async () => {
      this.app.onRigged();
      showMessage("The character is simulated now. Pull the tissue or drag a joint.", "good");
    });
  }

  private get fileName(): string {
    return this.app.description?.info.name ?? "rig";
  }

  private async saveSkel(): Promise<void> {
    await this.attempt(async () => {
      save(`${this.fileName}.skel`, await this.app.simulation.request("skel", {}), "text/plain");
      showMessage("The .skel uses the units and axes of the mesh file. Open both files together.", "good");
    });
  }

  private async saveGlb(): Promise<void> {
    await this.attempt(async () => {
      const bytes = await this.app.simulation.request("glb", {});
      save(`${this.fileName}.glb`, bytes as BlobPart, "model/gltf-binary");
    });
  }
}
