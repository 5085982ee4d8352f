// From a scan to a layered person on the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { data, download, drop, dropBytes, openPage, pass, textFile, tube, untilSimulated } from "./browser.mjs";

const scans = path.join(data, "scans");
/** Longest wait for a person: some seconds, and minutes on a machine with much else to do. */
const LONG = 240_000;

const inside = (page) => page.locator(".message").getByRole("button", { name: "See inside" });
const untilPerson = (page) => page.waitForFunction(() => window.supple.description?.person && window.supple.anatomy.loaded, null, { timeout: LONG });
const person = (page) => page.evaluate(() => window.supple.description.person);

async function openScan(context, url, file) {
  const { page, problems } = await openPage(context, url);
  await page.waitForFunction(() => window.supple?.firstMovement);
  await drop(page, [path.join(scans, file)]);
  await inside(page).waitFor();
  return { page, problems };
}

/** A person file, made once by the page for all tests that begin with one. */
let made = null;
async function madePerson(context, url) {
  if (made) return made;
  const { page } = await openScan(context, url, "01_female.ply");
  await inside(page).click();
  await untilPerson(page);
  made = await download(page, () => page.getByRole("button", { name: "Save .person" }).click());
  await page.close();
  return made;
}

/** Points become a person with a table, which moves, and can be saved. */
async function cloudToPerson({ context, url }) {
  const { page, problems } = await openScan(context, url, "01_female.ply");
  assert.equal(await page.evaluate(() => window.supple.bodies[0].mesh.children.length), 1, "the points are drawn");
  await inside(page).click();
  await untilPerson(page);
  assert.equal(await page.locator("#tab-anatomy").getAttribute("aria-selected"), "true");
  const { sex, composition, registration, bones, muscles } = await person(page);
  assert.equal(sex, "female");
  assert.ok(bones > 150 && muscles > 150, `${bones} bones, ${muscles} muscles`);
  assert.ok(Math.abs(composition.height - 1.735) < 0.01 && registration.distances.rms < 0.0025, JSON.stringify(registration.distances));
  assert.ok(composition.fat_percent.value > 20 && composition.fat_percent.value < 40 && composition.fat_mass.error > 1);
  const table = await page.locator("#page-anatomy .table").innerText();
  for (const word of [/woman, \d+ % sure/, /17\d\.\d cm/, /\d ± \d\.\d kg · \d\d\.\d ± \d\.\d %/, /\d+ % of women\s+NHANES 2017–18 \(United States, [^)]*\)/, /\d+ % of women\s+Kyle 2001 \(Switzerland, [^)]*\)/, /\d\.\d mm/]) assert.match(table, word);
  const drawn = await page.evaluate(() => [...window.supple.anatomy.layers].filter(([, { mesh }]) => mesh.visible).map(([name]) => name));
  assert.deepEqual(drawn, ["muscles", "bones"]);
  await untilSimulated(page, LONG);
  await page.selectOption("#clip", { label: "squat" });
  const heights = [];
  for (let k = 0; k < 6; k += 1) {
    await pass(page, 0.3);
    heights.push(await page.evaluate(() => window.supple.jointPositions[3 * window.supple.description.joints.findIndex(({ name }) => name === "head") + 1]));
  }
  assert.ok(Math.max(...heights) - Math.min(...heights) > 0.1, `the head moved by ${heights}`);
  made ??= await download(page, () => page.getByRole("button", { name: "Save .person" }).click());
  assert.equal(path.basename(made), "01_female.person");
  assert.equal(readFileSync(made).toString("latin1", 0, 4), "glTF");
  assert.deepEqual(problems, []);
}

/** A saved person opens as it was, is fitted again with other numbers, and survives a reload. */
async function correctsNumbers({ context, url }) {
  const file = await madePerson(context, url);
  const { page, problems } = await openPage(context, url);
  await page.waitForFunction(() => window.supple?.firstMovement);
  await drop(page, [file]);
  await untilPerson(page);
  const before = await person(page);
  await page.getByText("Correct the numbers").click();
  const again = page.getByRole("button", { name: "Fit again" });
  assert.ok(await again.isDisabled(), "nothing has changed yet");
  assert.ok(await page.getByLabel("Sex", { exact: true }).isDisabled(), "the sex needs the scan");
  await page.getByLabel("Weight", { exact: true }).fill("7");
  assert.ok(await again.isDisabled(), "nobody weighs 7 kg");
  await page.getByLabel("Weight", { exact: true }).fill("66");
  await page.getByLabel("Age", { exact: true }).fill("30");
  await again.click();
  await page.waitForFunction(() => window.supple.description.person?.composition.weight.value === 66, null, { timeout: LONG });
  const after = await person(page);
  assert.equal(after.composition.weight.error, 0);
  assert.ok(after.composition.fat_mass.value > before.composition.fat_mass.value + 1, "more weight in the same skin is more fat");
  assert.deepEqual(after.measures, before.measures);
  assert.match(await page.locator("#page-anatomy .table").innerText(), /66\.0 kg/);
  await untilPerson(page);
  await page.reload();
  await untilPerson(page);
  assert.equal((await person(page)).composition.weight.value, 66);
  assert.deepEqual(problems, []);
}

/** A mesh on which a skeleton was fitted; the task is cancelled from its message, and another file is refused. */
async function cancelsAndRefuses({ context, url }) {
  const { page, problems } = await openScan(context, url, "00_male.ply");
  await page.click("#tab-anatomy");
  await page.locator("#page-anatomy").getByRole("button", { name: "See inside" }).click();
  await page.getByText("Finding the person").waitFor({ timeout: LONG });
  await page.getByRole("button", { name: "Cancel" }).last().click();
  await page.getByText("Finding the person").waitFor({ state: "detached" });
  assert.equal(await person(page), null);
  await dropBytes(page, [textFile("tube.off", tube(24, 60))]);
  await page.waitForFunction(() => window.supple.description.info.name === "tube");
  await inside(page).last().click();
  const refusal = page.locator(".message.bad");
  await refusal.waitFor({ timeout: LONG });
  assert.match(await refusal.innerText(), /^tube\.off: .*(person|body|adult)/);
  assert.equal(await person(page), null);
  assert.deepEqual(problems, []);
}

/** A slider changes the skin while it moves; the whole person follows. */
async function gainsAndLoses({ context, url }) {
  const file = await madePerson(context, url);
  const { page, problems } = await openPage(context, url);
  await page.waitForFunction(() => window.supple?.firstMovement);
  await drop(page, [file]);
  await untilPerson(page);
  await page.selectOption("#clip", { label: "rest pose" });
  await untilSimulated(page, LONG);
  const before = await person(page);
  const growth = page.getByRole("region", { name: "Gain and lose" });
  const slide = (value, type) =>
    growth.getByLabel("Fat", { exact: true }).evaluate((input, [value, type]) => {
      input.value = String(value);
      input.dispatchEvent(new Event(type));
    }, [value, type]);
  const untilWider = async (metres) =>
    page.waitForFunction(([from, metres]) => {
      const [low, high] = window.bellyRange;
      const places = window.supple.bodies[0].positions.array;
      let most = 0;
      for (let k = 0; k < places.length; k += 3) if (places[k + 1] > low && places[k + 1] < high && Math.abs(places[k]) < 0.1) most = Math.max(most, places[k + 2]);
      window.belly = most;
      return most > from + metres;
    }, [await page.evaluate(() => window.belly ?? 0), metres], { timeout: LONG });
  await page.evaluate(() => (window.bellyRange = [0.55 * window.supple.tools.height, 0.62 * window.supple.tools.height]));
  await untilWider(0.05);
  await slide(10, "input");
  assert.match(await growth.innerText(), /\+10\.0 kg/);
  // Coarse: the person is still the one it was.
  await untilWider(0.01);
  assert.equal((await person(page)).composition.fat_mass.value, before.composition.fat_mass.value);
  await slide(10, "change");
  await page.waitForFunction((fat) => Math.abs(window.supple.description.person.composition.fat_mass.value - fat) < 0.25, before.composition.fat_mass.value + 10, { timeout: LONG });
  const after = await person(page);
  assert.ok(after.measures.waist > before.measures.waist + 0.04, `${after.measures.waist}`);
  assert.ok(Math.abs(after.measures.height - before.measures.height) < 0.002);
  assert.equal(await page.evaluate(() => window.supple.description.clip), null, "the motion is the chosen one");
  await growth.getByRole("button", { name: "As scanned" }).click();
  await page.waitForFunction((fat) => window.supple.description.person.composition.fat_mass.value === fat, before.composition.fat_mass.value, { timeout: LONG });
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "person: a scan gets muscles, bones and a table", needsData: true, run: cloudToPerson },
  { name: "person: numbers are corrected, files opened again", needsData: true, run: correctsNumbers },
  { name: "person: gains and loses", needsData: true, run: gainsAndLoses },
  { name: "person: cancelled and refused", needsData: true, run: cancelsAndRefuses },
];
