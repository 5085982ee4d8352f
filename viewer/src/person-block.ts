// The layered person on the page: a table of measures, what the user knows better, and files.
import type { App } from "./app";
import { button, buttons, choiceRow, heading, make, numberRow } from "./dom";
import { NOTHING_KNOWN, type Estimate, type Known, type PersonInfo, type Sex } from "./protocol";
import { save } from "./save";
import { fitAgain } from "./see-inside";

const SEXES = [["", "By the shape"], ["female", "Woman"], ["male", "Man"]] as const;
const PEOPLE: Record<Sex, string> = { female: "women", male: "men" };

export class PersonBlock {
  readonly element = make("section", { hidden: true });
  private table = make("dl", { className: "table" });
  private notes = make("ul", { className: "notes" });
  private known: Known = { ...NOTHING_KNOWN };
  private sex = choiceRow<"" | Sex>("Sex", SEXES, (sex) => this.change({ sex: sex || null }), "Sex; the scan is fitted anew");
  private age = numberRow("Age", "years", { min: 18, max: 110 }, (age) => this.change({ age }), "Improves the estimates of fat and muscle");
  private height = numberRow("Height", "cm", { min: 100, max: 250 }, (cm) => this.change({ height: cm === null ? null : 0.01 * cm }), "Used for the estimates; the body keeps the size of the scan");
  private weight = numberRow("Weight", "kg", { min: 25, max: 350 }, (weight) => this.change({ weight }), "From scales: better than from the volume");
  private fat = numberRow("Fat", "%", { min: 2, max: 70 }, (fat_percent) => this.change({ fat_percent }), "Share of fat, where it was measured");
  private again = button("Fit again", () => void this.fit(), "Fits muscles and fat again with these numbers", true);

  constructor(private app: App) {
    this.element.setAttribute("aria-label", "Person");
    this.element.append(
      heading("Person"),
      this.table,
      this.notes,
      buttons(
        button("Save .person", () => this.save("person"), "Everything Supple knows of the person, to be opened again here or by the Supple program"),
        button("Save GLB", () => this.save("glb"), "Skin, muscles and bones on one skeleton, for any viewer"),
      ),
      make(
        "details",
        {},
        make("summary", { textContent: "Correct the numbers", title: "Give what you know better; the rest is estimated" }),
        this.sex.row,
        this.age.row,
        this.height.row,
        this.weight.row,
        this.fat.row,
        buttons(this.again),
      ),
    );
    app.onOpened.push(() => this.opened());
    this.opened();
  }

  private opened(): void {
    const person = this.app.description?.person ?? null;
    this.element.hidden = person === null;
    if (!person) {
      this.known = { ...NOTHING_KNOWN };
      return;
    }
    this.known = { ...this.known, ...given(person) };
    this.table.replaceChildren(...rows(person));
    // What was gained and lost stands beside the sliders.
    const notes = [...person.registration.warnings, ...person.composition.notes.filter((note) => !note.startsWith("grown by"))];
    this.notes.replaceChildren(...notes.map((textContent) => make("li", { textContent })));
    this.showKnown(person);
  }

  private showKnown(person: PersonInfo): void {
    const { known } = this;
    this.sex.set(known.sex ?? "");
    // Without the scan the body of the other sex cannot be found.
    this.sex.enable(this.app.scan !== null, "Open the scan itself to change the sex");
    const { composition } = person;
    this.age.set(known.age, "unknown");
    this.height.set(known.height && 100 * known.height, (100 * composition.height).toFixed(1));
    this.weight.set(known.weight, composition.weight.value.toFixed(1));
    this.fat.set(known.fat_percent, composition.fat_percent.value.toFixed(1));
    this.again.disabled = true;
  }

  private change(change: Partial<Known>): void {
    Object.assign(this.known, change);
    this.again.disabled = false;
  }

  private async fit(): Promise<void> {
    this.again.disabled = true;
    await fitAgain(this.app, this.known);
    this.again.disabled = false;
  }

  private save(ending: "person" | "glb"): void {
    const { person } = this.app;
    if (person) save(person.name.replace(/\.[^.]*$/, `.${ending}`), person.bytes as BlobPart, "model/gltf-binary");
  }
}

/** What was given when the person was made, as far as its file tells. */
function given({ sex, composition, registration, measures }: PersonInfo): Partial<Known> {
  const known: Partial<Known> = { sex: registration.sex_confidence < 1 ? null : sex };
  known.weight = composition.weight.error === 0 ? composition.weight.value : null;
  known.fat_percent = composition.fat_mass.error === 0 ? composition.fat_percent.value : null;
  known.height = Math.abs(composition.height - measures.height) > 1e-9 ? composition.height : null;
  return known;
}

function rows(person: PersonInfo): HTMLElement[] {
  const { sex, composition, registration, measures } = person;
  const sure = registration.sex_confidence;
  const distance = 1000 * registration.distances.rms;
  return [
    row("Sex", `${sex === "female" ? "woman" : "man"}${sure < 1 ? `, ${Math.round(100 * sure)} % sure` : ", given"}`, sure < 1 ? "Told by the shape of the body" : "As it was given"),
    row("Height", `${(100 * measures.height).toFixed(1)} cm`, "From sole to crown, standing upright"),
    row("Weight", withError(composition.weight, "kg"), composition.weight.error > 0 ? "From the volume inside the skin, less the air in the lungs, and its density" : "As it was given"),
    row("Body mass index", `${composition.body_mass_index.toFixed(1)} kg/m²`, "Weight over squared height"),
    row("Waist", `${(100 * measures.waist).toFixed(1)} cm`, "Around the body at the navel"),
    row("Fat", `${withError(composition.fat_mass, "kg")} · ${withError(composition.fat_percent, "%")}`, "From height, weight, waist and age; one standard deviation"),
    row("Muscle", withError(composition.muscle_mass, "kg"), "Skeletal muscle, from weight, height and age; one standard deviation"),
    ...composition.percentiles.map(({ population, quantity, percentile }) => {
      const what = quantity === "fat_percent" ? "More fat than" : "More muscle than";
      // Studies differ in their people, so a share means nothing without them.
      return row(what, `${Math.round(percentile)} % of ${PEOPLE[sex]}`, "Each row is the place among the people of one study: other people, other shares", population);
    }),
    row("Distance left", `${distance.toFixed(1)} mm`, `Between scan and skin, root mean square; 95 % of the scan lies within ${(1000 * registration.distances.percentile_95).toFixed(1)} mm. The scan shows ${Math.round(100 * registration.coverage.whole)} % of the skin`),
  ];
}

function row(name: string, value: string, title: string, note = ""): HTMLElement {
  const cells = [make("dt", { textContent: name }), make("dd", { textContent: value })];
  if (note) cells.push(make("dd", { textContent: note, className: "note" }));
  return make("div", { title }, ...cells);
}

function withError({ value, error }: Estimate, unit: string): string {
  return error > 0 ? `${value.toFixed(1)} ± ${error.toFixed(1)} ${unit}` : `${value.toFixed(1)} ${unit}`;
}
