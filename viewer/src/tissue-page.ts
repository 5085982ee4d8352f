// Tissue settings as live controls, and as a TOML file.
import type { App } from "./app";
import { button, buttons, check, choiceRow, heading, make, slider, type Slider, type SliderOptions } from "./dom";
import { showMessage } from "./messages";
import type { Page } from "./panel";
import { PartsBlock } from "./parts-block";
import type { Settings, Vector } from "./protocol";
import { save } from "./save";

const DIRECTIONS = [["down", "Down"], ["up", "Up"], ["left", "Left"], ["right", "Right"], ["front", "Forwards"], ["back", "Backwards"]] as const;
const RESOLUTIONS = [["automatic", "Automatic"], ["1500", "1,500 vertices"], ["3000", "3,000 vertices"], ["6000", "6,000 vertices"], ["full", "All vertices"]] as const;
const CONTACTS = [["off", "Off"], ["local", "Local"], ["global", "Global"]] as const;
type SliderLook = Omit<SliderOptions, "change">;
type Group = (settings: Settings) => Record<string, unknown>;
type Direction = (typeof DIRECTIONS)[number][0];
const VECTORS: Record<Direction, Vector> = {
  down: [0, -1, 0],
  up: [0, 1, 0],
  left: [-1, 0, 0],
  right: [1, 0, 0],
  front: [0, 0, 1],
  back: [0, 0, -1],
};

export class TissuePage implements Page {
  name = "Tissue";
  title = "Stiffness, contact and gravity";
  element = make("div");
  private sliders: [Slider, (settings: Settings) => number][] = [];
  private automatic: Settings | null = null;
  private radius = 1;
  private radiusSlider: Slider;
  /** Gravity in force [m/s²], and its direction; a settings file holds the vertical ones only. */
  private gravity = 0;
  private direction: Direction = "down";
  private directionRow = choiceRow("Direction", DIRECTIONS, (direction) => {
    this.direction = direction;
    this.applyGravity();
  }, "Where gravity points");
  private head: HTMLInputElement;
  private sliding: HTMLInputElement;
  private resolution = choiceRow("Resolution", RESOLUTIONS, (value) => {
    const wanted = /^\d+$/.test(value) ? Number(value) : value;
    this.rebuild((settings) => settings.detail && (settings.detail.resolution = wanted));
  }, "How many skin vertices are simulated; the others follow them");
  private contact = choiceRow("Contact", CONTACTS, (mode) => {
    const { settings, simulation } = this.app;
    if (settings?.contact) settings.contact.mode = mode;
    simulation.order({ type: "contact", mode });
  }, "Collision of the skin with itself: only between neighbouring limbs, or everywhere");
  private ground = check("Ground collision", "", (on) => {
    if (this.app.settings?.contact) this.app.settings.contact.ground = on;
    this.applyGround();
  }, "The body cannot sink into the ground");
  private building = false;
  private again = false;

  private parts: PartsBlock;

  constructor(private app: App) {
    this.parts = new PartsBlock(app, (edit) => this.rebuild(edit));
    const head = check("Simulate the head", "", (on) => this.rebuild((settings) => (settings.tissue.simulate_head = on)), "Without this the head moves as one piece");
    const sliding = check("Skin slides over joints", "", (on) => this.rebuild((settings) => (settings.tissue.sliding = on)), "The skin moves over knees and elbows instead of stretching there");
    this.head = head.box;
    this.sliding = sliding.box;
    this.radiusSlider = slider({
      label: "Joint size",
      title: "Size of the bones at the joints, relative to the automatic one",
      min: 0.3,
      max: 1.5,
      step: 0.05,
      show: (value) => `× ${value.toFixed(2)}`,
      change: (value, done) => {
        this.radius = value;
        if (done) void this.scaleRadii();
      },
    });
    this.radiusSlider.set(1);
    this.element.append(
      heading("Material"),
      this.built({ label: "Stiffness", title: "Lower wobbles more", min: 400, max: 20000, step: 50, logarithmic: true, show: (v) => `${(v / 1000).toFixed(v < 10000 ? 1 : 0)} kPa` }, (s) => s.tissue, "stiffness"),
      this.built({ label: "Volume stiffness", title: "How much the tissue resists a change of its volume", min: 0, max: 20, step: 0.5, show: (v) => `× ${v.toFixed(1)}` }, (s) => s.tissue, "volume_stiffness"),
      this.built({ label: "Mass", title: "Mass of the whole body", min: 0, max: 200, step: 1, show: (v) => (v === 0 ? "auto" : `${v.toFixed(0)} kg`) }, (s) => s.tissue, "mass"),
      this.radiusSlider.row,
      this.resolution.row,
      this.contact.row,
      this.ground.row,
      sliding.row,
      head.row,
      heading("Motion"),
      this.live({ label: "Damping", title: "Time in which a wobble halves", min: 0, max: 1, step: 0.01, show: (v) => (v === 0 ? "minimum" : `${v.toFixed(2)} s`) }, (s) => s.solver, "damping_half_life"),
      this.live({ label: "Solver iterations", title: "More is stiffer and slower", min: 1, max: 30, step: 1, show: (v) => v.toFixed(0) }, (s) => s.solver, "iterations"),
      heading("Gravity"),
      this.gravitySlider(),
      this.directionRow.row,
      make("p", { textContent: "Zero by default, because a modelled or scanned shape already includes the effect of gravity." }),
      this.parts.element,
      heading("Settings"),
      buttons(
        button("Reset", () => void this.reset(), "All settings as they are by default"),
        button("Save TOML", () => void this.save(), "Save the settings as a file; drop it on the page to use it again"),
      ),
    );
    app.onSettings.push(() => this.show());
  }

  visit(open: boolean): void {
    this.parts.visit(open);
  }

  /** A slider for one number of the settings. */
  private control(look: SliderLook, group: Group, key: string, change: SliderOptions["change"]): HTMLElement {
    const control = slider({ ...look, change });
    this.sliders.push([control, (settings) => Number(group(settings)[key])]);
    return control.row;
  }

  /** A slider that requires a rebuild of the tissue. */
  private built(look: SliderLook, group: Group, key: string): HTMLElement {
    return this.control(look, group, key, (value, done) => {
      if (done) this.rebuild((settings) => (group(settings)[key] = value));
    });
  }

  /** A slider that takes effect immediately. */
  private live(look: SliderLook, group: Group, key: string): HTMLElement {
    return this.control(look, group, key, (value) => {
      if (!this.app.settings) return;
      group(this.app.settings)[key] = value;
      this.tune();
    });
  }

  private gravitySlider(): HTMLElement {
    const control = slider({
      label: "Strength",
      title: "9.8 m/s² is that of the earth",
      min: 0,
      max: 20,
      step: 0.1,
      show: (value) => `${value.toFixed(1)} m/s²`,
      change: (value) => {
        this.gravity = value;
        this.applyGravity();
      },
    });
    this.sliders.push([control, (settings) => Math.abs(settings.solver.gravity)]);
    return control.row;
  }

  private applyGravity(): void {
    const { settings } = this.app;
    if (!settings) return;
    const to = VECTORS[this.direction].map((x) => x * this.gravity) as Vector;
    settings.solver.gravity = to[1];
    this.app.simulation.order({ type: "gravity", to });
  }

  private applyGround(): void {
    const ground = this.app.settings?.contact?.ground ?? false;
    const floor = this.app.description?.bounds[0][1] ?? 0;
    this.app.simulation.order({ type: "ground", height: ground === true ? floor : ground === false ? null : ground });
  }

  private tune(): void {
    if (!this.app.settings) return;
    this.app.simulation.order({ type: "tune", settings: this.app.settings });
    this.applyGravity();
  }

  private rebuild(edit: (settings: Settings) => void): void {
    if (!this.app.settings) return;
    edit(this.app.settings);
    void this.buildNewest();
  }

  /** Changes during a build are applied in one further build. */
  private async buildNewest(): Promise<void> {
    if (this.building) {
      this.again = true;
      return;
    }
    this.building = true;
    try {
      do {
        this.again = false;
        await this.app.build();
      } while (this.again);
      this.applyGravity();
    } catch (error) {
      showMessage((error as Error).message, "bad");
    } finally {
      this.building = false;
    }
  }

  private async scaleRadii(): Promise<void> {
    try {
      this.automatic ??= await this.app.simulation.request("automaticSettings", {});
      const { joint_radii: radii } = this.automatic;
      const scaled = Object.entries(radii).map(([name, radius]) => [name, radius * this.radius]);
      this.rebuild((settings) => (settings.joint_radii = this.radius === 1 ? {} : Object.fromEntries(scaled)));
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  /** Shows the settings that are in force, and gives the orders that are not part of a build. */
  private show(): void {
    const { settings, simulation } = this.app;
    if (!settings) return;
    this.automatic = null;
    for (const [control, read] of this.sliders) control.set(read(settings));
    const resolution = String(settings.detail?.resolution ?? "automatic");
    this.resolution.row.hidden = !settings.detail;
    this.resolution.set(resolution as (typeof RESOLUTIONS)[number][0], `${Number(resolution).toLocaleString("en")} vertices`);
    this.contact.row.hidden = !settings.contact;
    this.contact.set((settings.contact?.mode ?? "off") as (typeof CONTACTS)[number][0]);
    simulation.order({ type: "contact", mode: settings.contact?.mode ?? "off" });
    this.ground.box.checked = (settings.contact?.ground ?? false) !== false;
    this.applyGround();
    this.head.checked = settings.tissue.simulate_head;
    this.sliding.checked = settings.tissue.sliding;
    this.gravity = Math.abs(settings.solver.gravity);
    this.direction = settings.solver.gravity > 0 ? "up" : "down";
    this.directionRow.set(this.direction);
    this.applyGravity();
    void this.showRadii(settings);
  }

  /** The factor on the automatic joint radii: their mean, if a settings file has others. */
  private async showRadii(settings: Settings): Promise<void> {
    this.radius = 1;
    this.radiusSlider.set(1);
    const given = Object.entries(settings.joint_radii);
    if (given.length === 0 || this.app.description?.bare) return;
    this.automatic = await this.app.simulation.request("automaticSettings", {}).catch(() => null);
    const factors = given.flatMap(([name, radius]) => {
      const automatic = this.automatic?.joint_radii[name];
      return automatic ? [radius / automatic] : [];
    });
    if (factors.length === 0 || this.app.settings !== settings) return;
    this.radius = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
    this.radiusSlider.set(this.radius);
  }

  private async reset(): Promise<void> {
    try {
      await this.app.useSettings(await this.app.simulation.request("settingsFromToml", { text: "" }));
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  private async save(): Promise<void> {
    const { settings, description } = this.app;
    if (!settings || !description) return;
    const text = await this.app.simulation.request("settingsToToml", { settings });
    save(`${description.info.name}.supple.toml`, text, "application/toml");
    if (this.direction !== "down" && this.direction !== "up" && this.gravity > 0) {
      showMessage("The settings file stores only the vertical component of gravity.");
    }
  }
}
