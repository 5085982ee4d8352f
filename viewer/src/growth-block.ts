// Sliders for fat and muscle of a person: a coarse shape at once, the whole person afterwards. Motion goes on meanwhile.
import type { App } from "./app";
import { button, buttons, choiceRow, heading, make, slider, type Slider } from "./dom";
import { addShape } from "./growth-shapes";
import { sentence, showMessage, showProgress } from "./messages";
import type { DroppedFile, GrowthChange, GrowthShapes, PersonInfo, Region } from "./protocol";
import { isCancelled } from "./see-inside";

const REGIONS = [["", "Whole body"], ["legs", "Legs"], ["belly", "Belly"], ["chest", "Chest"], ["arms", "Arms"]] as const;
/** Least and largest changes of the whole body and of a region [kg]. */
const RANGES = { whole: { fat: [-12, 30], muscle: [-5, 8] }, region: { fat: [-4, 10], muscle: [-1.5, 2.5] } } as const;
/** Weight of the tissue that holds a kilogram of fat [kg]; the rest of it is water. */
const TISSUE = 1 / 0.85;
type Kind = "fat" | "muscle";
/** Time after which shapes of a person just opened are made, so that the first movement of a slider is answered at once [ms]. */
const PREPARE_AFTER = 500;
const TITLES: Record<Kind, string> = { fat: "Fat to gain or lose", muscle: "Muscle to gain or lose" };

export class GrowthBlock {
  readonly element = make("section", { hidden: true });
  /** Called when a slider moves. */
  onMove: () => void = () => {};
  private rows = make("div");
  private total = make("div", { className: "total" });
  private region: Region = "";
  private regionRow = choiceRow<Region>("Where", REGIONS, (region) => this.choose(region), "Which part of the body changes");
  private reset = button("As scanned", () => void this.restore(), "Back to the person without these changes");
  private sliders: Partial<Record<Kind, Slider>> = {};
  /** The person without changes, what it is made of, and its skin at rest. */
  private base: DroppedFile | null = null;
  private info: PersonInfo | null = null;
  private skin: Float32Array | null = null;
  private changes = new Map<Region, { fat: number; muscle: number }>();
  /** The changes of the person on the page. */
  private settled: GrowthChange[] = [];
  private shapes = new Map<Region, Promise<GrowthShapes>>();
  private ready = new Map<Region, GrowthShapes>();
  /** Ends the making of shapes. */
  private stop = new AbortController();
  /** The file that growth opens next. */
  private own: Uint8Array | null = null;

  constructor(private app: App) {
    this.element.setAttribute("aria-label", "Gain and lose");
    this.element.append(heading("Gain and lose"), this.regionRow.row, this.rows, this.total, buttons(this.reset));
    this.element.addEventListener("pointerenter", () => this.prepare());
    this.element.addEventListener("focusin", () => this.prepare());
    app.onOpened.push(() => this.opened());
    this.opened();
  }

  private opened(): void {
    const { person, description } = this.app;
    this.element.hidden = person === null;
    if (person && person.bytes === this.own) {
      this.show();
      return;
    }
    this.base = person;
    this.info = description?.person ?? null;
    this.skin = null;
    this.own = null;
    this.changes.clear();
    this.settled = [];
    this.shapes.clear();
    this.ready.clear();
    this.stop.abort();
    this.stop = new AbortController();
    if (!person) return;
    this.choose("");
    setTimeout(() => {
      if (this.base === person) this.prepare();
    }, PREPARE_AFTER);
  }

  /** Makes the shapes of the region before a hand arrives at its sliders. */
  private prepare(): void {
    void this.shapesOf(this.region).catch(() => {});
  }

  private choose(region: Region): void {
    this.region = region;
    this.regionRow.set(region);
    const ranges = RANGES[region === "" ? "whole" : "region"];
    const made = (["fat", "muscle"] as const).map((kind) => {
      const [min, max] = ranges[kind];
      const show = (value: number): string => `${value > 0 ? "+" : ""}${value.toFixed(1)} kg`;
      const change = (value: number, done: boolean): void => this.move(kind, value, done);
      const made = slider({ label: sentence(kind), title: TITLES[kind], min, max, step: 0.1, show, change });
      this.sliders[kind] = made;
      return made.row;
    });
    this.rows.replaceChildren(...made);
    this.show();
    if (region !== "") this.prepare();
  }

  private show(): void {
    const change = this.changes.get(this.region) ?? { fat: 0, muscle: 0 };
    this.sliders.fat?.set(change.fat);
    this.sliders.muscle?.set(change.muscle);
    this.reset.disabled = this.changes.size === 0 && this.settled.length === 0;
    if (!this.info) return;
    const { composition } = this.info;
    const sum = (kind: Kind): number => [...this.changes.values()].reduce((all, next) => all + next[kind], 0);
    const [fat, muscle] = [composition.fat_mass.value + sum("fat"), composition.muscle_mass.value + sum("muscle")];
    const weight = composition.weight.value + TISSUE * sum("fat") + sum("muscle");
    this.total.textContent = `Fat ${fat.toFixed(1)} kg (${((100 * fat) / weight).toFixed(0)} %), muscle ${muscle.toFixed(1)} kg, weight ${weight.toFixed(1)} kg`;
  }

  private move(kind: Kind, value: number, done: boolean): void {
    const change = this.changes.get(this.region) ?? { fat: 0, muscle: 0 };
    change[kind] = value;
    if (change.fat === 0 && change.muscle === 0) this.changes.delete(this.region);
    else this.changes.set(this.region, change);
    this.show();
    this.onMove();
    this.app.simulation.cancelTask();
    void this.answer(done);
  }

  private async answer(done: boolean): Promise<void> {
    const { base } = this;
    try {
      await this.preparing();
      if (this.base !== base) return;
      this.showShape();
      if (done) await this.grow();
    } catch (error) {
      if (!isCancelled(error)) this.refuse((error as Error).message);
    }
  }

  /** Waits for the shapes of all regions that change. */
  private async preparing(): Promise<void> {
    const note = showProgress("Preparing the sliders…", () => this.stop.abort(), 300);
    try {
      await Promise.all([...this.changes.keys(), this.region].map((region) => this.shapesOf(region)));
    } finally {
      note.close();
    }
  }

  /** Shapes of a region, computed when they are needed first. */
  private shapesOf(region: Region): Promise<GrowthShapes> {
    const known = this.shapes.get(region);
    if (known) return known;
    const { base, app } = this;
    if (!base) return Promise.reject(new Error("there is no person"));
    const made = (async () => {
      if (this.stop.signal.aborted) this.stop = new AbortController();
      const { signal } = this.stop;
      const skin = this.skin ?? (await app.simulation.request("restSkin", {}));
      if (this.base === base) this.skin = skin;
      // Not the background task: the next movement of a slider would end it.
      const shapes = await app.simulation.apart((ask) => ask("growthShapes", { person: base.bytes, region }), signal);
      if (this.base === base) this.ready.set(region, shapes);
      return shapes;
    })();
    this.shapes.set(region, made);
    made.catch(() => this.shapes.delete(region));
    return made;
  }

  /** Shows the coarse shape. */
  private showShape(): void {
    if (!this.skin) return;
    const skin = this.skin.slice();
    for (const [region, change] of this.changes) {
      const shapes = this.ready.get(region);
      if (shapes) addShape(skin, shapes, change);
    }
    this.app.simulation.order({ type: "shape", skin });
  }

  /** Computes the whole person and opens it. */
  private async grow(): Promise<void> {
    const { base, app } = this;
    if (!base) return;
    const changes = [...this.changes].map(([region, change]) => ({ region, ...change }));
    const text = "Growing muscles and fat…";
    const note = showProgress(text, () => app.simulation.cancelTask(), 1000);
    let bytes = base.bytes;
    try {
      if (changes.length > 0) {
        bytes = await app.simulation.background((ask) => ask("growPerson", { person: base.bytes, changes }), (share) => note.update(text, share));
      }
    } finally {
      note.close();
    }
    if (this.base !== base) return;
    this.settled = changes;
    await this.open(bytes);
  }

  private async open(bytes: Uint8Array): Promise<void> {
    const { base, app } = this;
    if (!base) return;
    this.own = bytes;
    const files = [{ name: base.name, bytes }];
    await app.openAgain(app.scan ? [...files, app.scan] : files);
  }

  private async restore(): Promise<void> {
    this.changes.clear();
    this.app.simulation.cancelTask();
    this.show();
    await this.answer(true);
  }

  /** Goes back to the person on the page, and says why. */
  private refuse(message: string): void {
    showMessage(`${sentence(message)}.`, "bad");
    this.changes = new Map(this.settled.map(({ region, fat, muscle }) => [region, { fat, muscle }]));
    this.show();
    this.app.simulation.order({ type: "shape", skin: new Float32Array(0) });
  }
}
