// View page: skinning methods, comparison, overlays and theme.
import type { App } from "./app";
import type { Compare } from "./comparison";
import { byId, check, heading, make, segmented } from "./dom";
import type { Page } from "./panel";
import type { Method, OverlayName } from "./protocol";

const METHODS = [
  ["tissue", "Tissue", "Simulated soft tissue (Q)"],
  ["dqs", "Dual quat.", "Dual quaternion skinning: keeps volume at twists, without tissue (E)"],
  ["lbs", "Linear", "Linear blend skinning, as games use it (R)"],
] as const;
const COMPARES = [
  ["off", "One", "Show one method"],
  ["divider", "Divider", "One body, a different method on either side of a line (D)"],
  ["side", "Side by side", "Two bodies, each with its own method (D)"],
] as const;
export const OVERLAYS: readonly (readonly [OverlayName, string, string, string])[] = [
  ["skeleton", "Skeleton", "B", "Joints and the lines between them"],
  ["volumes", "Bones with volume", "V", "The capsules and spheres that the tissue is held by"],
  ["boneSurface", "Bone surface", "U", "Where the tissue ends at the bones"],
  ["tets", "Simulation mesh", "T", "The tetrahedra that are simulated"],
  ["contacts", "Contacts", "C", "Points where the skin touches something"],
  ["strain", "Strain colours", "X", "Blue: compressed. Red: stretched"],
  ["wireframe", "Wireframe", "W", "The triangles of the skin"],
];

export class ViewPage implements Page {
  name = "View";
  title = "How the body is drawn";
  element = make("div");
  private boxes = new Map<OverlayName, HTMLInputElement>();
  private method = segmented<Method>("Method", METHODS, (method) => this.useMethod(method));
  private other = segmented<Method>("Other method", METHODS, (method) => this.useOther(method));
  private compare = segmented<Compare>("Compare", COMPARES, (compare) => this.useCompare(compare));
  private otherBlock = make("div", { hidden: true }, heading("Compare with"), this.other.element);

  constructor(private app: App) {
    this.method.set(app.method);
    this.other.set(app.other);
    this.compare.set(app.comparison.chosen);
    const overlays = OVERLAYS.map(([name, label, key, title]) => {
      const { row, box } = check(label, key, (on) => this.overlay(name, on), title);
      this.boxes.set(name, box);
      return row;
    });
    this.element.append(heading("Method"), this.method.element, heading("Compare"), this.compare.element, this.otherBlock);
    this.element.append(heading("Overlays"), ...overlays, this.themeBlock());
    this.listenToDivider();
  }

  useMethod(method: Method): void {
    this.app.method = method;
    this.method.set(method);
    this.app.applyView();
  }

  useOther(method: Method): void {
    this.app.other = method;
    this.other.set(method);
    this.app.applyView();
  }

  useCompare(compare: Compare): void {
    this.app.comparison.chosen = compare;
    this.compare.set(compare);
    this.otherBlock.hidden = compare === "off";
    this.app.applyView();
  }

  nextCompare(): void {
    const names = COMPARES.map(([name]) => name);
    this.useCompare(names[(names.indexOf(this.app.comparison.chosen) + 1) % names.length] ?? "off");
  }

  toggleOverlay(name: OverlayName): void {
    this.overlay(name, !this.app.overlays.shown.has(name));
  }

  overlay(name: OverlayName, on: boolean): void {
    if (on) this.app.overlays.shown.add(name);
    else this.app.overlays.shown.delete(name);
    const box = this.boxes.get(name);
    if (box) box.checked = on;
    this.app.applyView();
  }

  private themeBlock(): HTMLElement {
    const stored = localStorage.getItem("supple-theme");
    const system = matchMedia("(prefers-color-scheme: light)");
    let choice = stored === "dark" || stored === "light" ? stored : "system";
    const use = (): void => {
      const dark = choice === "system" ? !system.matches : choice === "dark";
      document.documentElement.dataset.theme = dark ? "dark" : "light";
      this.app.scene.useTheme(dark);
    };
    const themes = [["system", "System", "As the system is set"], ["dark", "Dark", "Dark background"], ["light", "Light", "Light background"]] as const;
    const control = segmented("Theme", themes, (next) => {
      choice = next;
      localStorage.setItem("supple-theme", next);
      use();
    });
    control.set(choice as "system" | "dark" | "light");
    system.onchange = use;
    use();
    return make("div", {}, heading("Theme"), control.element);
  }

  private listenToDivider(): void {
    const divider = byId("divider");
    divider.onpointerdown = (event) => divider.setPointerCapture(event.pointerId);
    divider.onpointermove = (event) => {
      if (divider.hasPointerCapture(event.pointerId)) this.app.comparison.moveDivider(event.clientX / window.innerWidth);
    };
    divider.onkeydown = (event) => {
      const move = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (move === undefined) return;
      event.stopPropagation();
      this.app.comparison.moveDivider(this.app.comparison.divider + move);
    };
  }
}
