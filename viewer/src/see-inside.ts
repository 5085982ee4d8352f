// From a scan to a layered person, in a worker of its own. What it needs is fetched when it is needed.
import type { App } from "./app";
import { sentence, showMessage, showProgress, type Message } from "./messages";
import type { BodySpace, DroppedFile, Known, Sex } from "./protocol";
import { Cancelled } from "./simulation";
import femaleSpace from "../../crates/anatomy/assets/space_female.bin?url";
import maleSpace from "../../crates/anatomy/assets/space_male.bin?url";
import rigFile from "../../crates/anatomy/assets/rig.bin?url";
import femaleTemplate from "../../crates/supple/assets/female.template?url";
import maleTemplate from "../../crates/supple/assets/male.template?url";

/** Muscles and bones of the embedded bodies. */
export const TEMPLATES: Record<Sex, string> = { male: maleTemplate, female: femaleTemplate };
const SPACES: Record<Sex, string> = { male: maleSpace, female: femaleSpace };
const SEXES: readonly Sex[] = ["male", "female"];
/** Share of the time after which a body is found in a scan. */
const FOUND = 0.4;

/** Fetches a file of the page. */
export async function fetched(address: string, signal: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Name of the person file of a scan. */
function personName(scan: string): string {
  return `${scan.replace(/\.[^.]*$/, "")}.person`;
}

/** Whether a task was cancelled, by its own button or by another task. */
export function isCancelled(error: unknown): boolean {
  return error instanceof Cancelled || (error as Error).name === "AbortError";
}

/** Runs a task with a progress bar; null if it was cancelled or refused, which is told. */
async function watched(app: App, name: string, run: (note: Message, signal: AbortSignal) => Promise<Uint8Array>): Promise<Uint8Array | null> {
  const stop = new AbortController();
  const note = showProgress("Loading the body model…", () => {
    stop.abort();
    app.simulation.cancelTask();
  }, 0);
  try {
    return await run(note, stop.signal);
  } catch (error) {
    if (!isCancelled(error)) showMessage(`${name}: ${sentence((error as Error).message)}.`, "bad", 30_000);
    return null;
  } finally {
    note.close();
  }
}

/** Finds the person in a scan, fits muscles and bones into it, and opens the result. */
export async function seeInside(app: App, scan: DroppedFile, known: Known): Promise<void> {
  const person = await watched(app, scan.name, async (note, signal) => {
    const sexes = known.sex ? [known.sex] : SEXES;
    const space = async (sex: Sex): Promise<BodySpace> => ({ sex, bytes: await fetched(SPACES[sex], signal) });
    const [rig, ...spaces] = await Promise.all([fetched(rigFile, signal), ...sexes.map(space)]);
    const finding = "Finding the person in the scan…";
    const fitting = "Fitting muscles and bones…";
    let tell = (share: number): void => note.update(finding, FOUND * share);
    tell(0);
    return app.simulation.background(async (ask) => {
      const { sex } = await ask("findBody", { file: scan, known, spaces, rig });
      tell = (share) => note.update(fitting, FOUND + (1 - FOUND) * share);
      tell(0);
      const template = await fetched(TEMPLATES[sex], signal);
      return ask("makePerson", { template, known });
    }, (share) => tell(share));
  });
  if (person) await opened(app, person, scan.name, scan);
}

/** Fits the layers of the person on the page again. A person of the other sex is fitted from the scan. */
export async function fitAgain(app: App, known: Known): Promise<void> {
  const { person, scan, description } = app;
  const sex = description?.person?.sex;
  if (!person || !sex) return;
  if (known.sex && known.sex !== sex && scan) return seeInside(app, scan, known);
  const refitted = await watched(app, person.name, async (note, signal) => {
    const template = await fetched(TEMPLATES[sex], signal);
    const text = "Fitting muscles and bones…";
    note.update(text, 0);
    return app.simulation.background((ask) => ask("refitPerson", { person: person.bytes, template, known }), (share) => note.update(text, share));
  });
  if (refitted) await opened(app, refitted, person.name, scan);
}

async function opened(app: App, bytes: Uint8Array, name: string, scan: DroppedFile | null): Promise<void> {
  const files = [{ name: personName(name), bytes }];
  try {
    await app.openFiles(scan ? [...files, scan] : files);
  } catch (error) {
    if (!isCancelled(error)) showMessage((error as Error).message, "bad");
  }
}
