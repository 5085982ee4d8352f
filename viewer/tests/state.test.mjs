// What is in force: settings, dropped sets of files, shortcuts, reloads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { data, download, drop, dropBytes, farthest, female, openPage, pass, skin, textFile, tube, untilSimulated } from "./browser.mjs";

/** The orders that every worker gets. */
const orders = (page) =>
  page.evaluate(() => {
    const { orders } = window.supple.simulation.replay;
    return { gravity: orders.get("gravity")?.to, ground: orders.get("ground")?.height, contact: orders.get("contact")?.mode };
  });

const shown = async (page) => ({
  strength: await page.getByLabel("Strength").getAttribute("aria-valuetext"),
  direction: await page.getByLabel("Direction").locator("option:checked").innerText(),
  ground: await page.getByLabel("Ground collision").isChecked(),
  contact: await page.getByLabel("Contact", { exact: true }).locator("option:checked").innerText(),
  resolution: await page.getByLabel("Resolution").first().locator("option:checked").innerText(),
});

async function rebuilt(page, act) {
  await page.evaluate(() => (window.supple.simulated = false));
  await act();
  await untilSimulated(page);
}

async function showsWhatIsInForce({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.getByRole("tab", { name: "Tissue" }).click();
  const standard = { strength: "0.0 m/s²", direction: "Down", ground: false, contact: "Off", resolution: "Automatic" };
  const defaults = { gravity: [0, 0, 0], ground: null, contact: "off" };
  const nothing = ({ gravity, ...rest }) => ({ gravity: gravity.map((x) => x + 0), ...rest });
  const set = async () => {
    await page.getByLabel("Strength").fill("9.8");
    await page.getByLabel("Direction").selectOption("right");
    await page.getByLabel("Ground collision").check();
    const { gravity, ground } = await orders(page);
    assert.ok(gravity[0] > 9 && ground !== null);
  };
  await set();
  await rebuilt(page, () => page.getByRole("button", { name: "Reset", exact: true }).last().click());
  assert.deepEqual(await shown(page), standard, "after a reset");
  assert.deepEqual(nothing(await orders(page)), defaults);

  await set();
  await rebuilt(page, () => page.selectOption("#bodies", "female"));
  assert.deepEqual(await shown(page), standard, "on another character");
  assert.deepEqual(nothing(await orders(page)), defaults);

  const toml = '[solver]\ngravity = -5.0\n[contact]\nmode = "local"\nground = true\n[detail]\nresolution = 1234\n';
  await rebuilt(page, () => dropBytes(page, [textFile("own.supple.toml", toml)]));
  assert.deepEqual(await shown(page), { strength: "5.0 m/s²", direction: "Down", ground: true, contact: "Local", resolution: "1,234 vertices" }, "after a dropped file");
  const now = await orders(page);
  assert.deepEqual([now.gravity[1], now.contact], [-5, "local"]);
  assert.ok(Math.abs(now.ground) < 0.05, "the ground is below the feet");
  const saved = readFileSync(await download(page, () => page.getByRole("button", { name: "Save TOML" }).click()), "utf8");
  assert.match(saved, /ground = true/);
  assert.deepEqual(problems, []);
}

async function opensCharacterAndMotion({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await rebuilt(page, () => drop(page, [path.join(data, "mocap", "09_01.bvh"), female]));
  const seen = await page.evaluate(() => {
    const { description } = window.supple;
    return [description.info.name, description.clips[description.clip]?.name];
  });
  assert.deepEqual(seen, ["female", "09_01"]);
  assert.equal(await page.locator("#clip option:checked").innerText(), "09 01");

  // Shortcuts work while a list has the focus.
  await page.locator("#clip").focus();
  await page.keyboard.press(" ");
  assert.equal(await page.evaluate(() => window.supple.playing), false, "space pauses");
  await page.keyboard.press("b");
  assert.ok(await page.getByRole("checkbox", { name: "Skeleton B" }).isChecked(), "B shows the skeleton");
  assert.deepEqual(problems, []);
}

async function keepsTheSession({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await rebuilt(page, () => drop(page, [female]));
  await rebuilt(page, () => dropBytes(page, [textFile("soft.supple.toml", "[tissue]\nstiffness = 1234.0\n")]));
  await page.selectOption("#clip", { label: "squat" });
  await page.getByRole("tab", { name: "Tissue" }).click();
  await pass(page, 0.3);
  await page.reload();
  await untilSimulated(page);
  const state = () =>
    page.evaluate(() => {
      const { description, settings, embedded } = window.supple;
      return { name: description.info.name, clip: description.clips[description.clip]?.name, stiffness: settings.tissue.stiffness, embedded };
    });
  assert.deepEqual(await state(), { name: "female", clip: "squat", stiffness: 1234, embedded: null });
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Tissue");

  // Without storage the page says so.
  await page.evaluate(() => {
    indexedDB.open = () => {
      throw new Error("no storage");
    };
  });
  await drop(page, [female]);
  await page.locator(".message", { hasText: "cannot keep the file" }).waitFor();
  assert.deepEqual(problems, []);
}

/** A rigged character leaves the Rig tab, and no clip plays while a rig is edited. */
async function rigAndClips({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.getByRole("tab", { name: "Rig" }).click();
  await pass(page, 1.5);
  assert.ok(await page.locator("#clip").isDisabled(), "clips cannot be chosen over a rig");
  await page.keyboard.press(" ");
  const before = await skin(page);
  await pass(page, 0.5);
  assert.ok(farthest(before, await skin(page)) < 0.002, "the body rests while its rig is edited");
  await rebuilt(page, () => drop(page, [female]));
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "View");
  assert.ok(await page.locator("#clip").isEnabled());
  assert.deepEqual(problems, []);
}

/** The space bar plays and pauses, whatever has the focus; only texts and numbers take it. */
async function spacePauses({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const state = () => page.evaluate(() => [window.supple.playing, window.supple.tools.current, window.supple.repeat, window.supple.method, window.supple.overlays.shown.size, document.querySelector("#readout").open, document.querySelector("[role=tab][aria-selected=true]").textContent]);
  let playing = true;
  const before = await state();
  for (const at of ["#play", "#repeat", "#speed", "#scrub", "#view", "#readout summary", '#tools [role=radio][aria-label*="(3)"]', "#tab-export", "#page-view input[type=checkbox]", '#page-view [role=radio][title*="(R)"]', "#open"]) {
    await page.locator(at).first().focus();
    await page.keyboard.press(" ");
    playing = !playing;
    assert.deepEqual(await state(), [playing, ...before.slice(1)], at);
  }
  // Enter does what the space bar does elsewhere.
  await page.getByRole("checkbox", { name: "Skeleton B" }).focus();
  await page.keyboard.press("Enter");
  assert.ok(await page.getByRole("checkbox", { name: "Skeleton B" }).isChecked(), "Enter ticks a box");
  assert.deepEqual(problems, []);
}

/** What was said of a file goes when the next one is opened. */
async function clearsMessages({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const shown = () => page.locator(".message").allInnerTexts();
  await dropBytes(page, [textFile("tube.off", tube(24, 40))]);
  await page.locator(".message", { hasText: "This mesh has no skeleton" }).waitFor();
  await dropBytes(page, [textFile("bad.obj", "")]);
  await page.locator(".message.bad", { hasText: "bad.obj" }).waitFor();
  assert.deepEqual((await shown()).filter((text) => !text.includes("bad.obj")), [], "the next file has failed");
  await rebuilt(page, () => drop(page, [female]));
  assert.deepEqual((await shown()).filter((text) => !text.includes("Building")), [], "the next file is open");
  await dropBytes(page, [textFile("bad.obj", "")]);
  await page.locator(".message.bad").waitFor();
  await rebuilt(page, () => page.selectOption("#bodies", "male"));
  assert.equal(await page.locator(".message.bad").count(), 0, "an embedded body is open");
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "the space bar pauses", run: spacePauses },
  { name: "messages of the last file", run: clearsMessages },
  { name: "settings in force", run: showsWhatIsInForce },
  { name: "drop a character and a motion", needsData: true, run: opensCharacterAndMotion },
  { name: "reload keeps the session", run: keepsTheSession },
  { name: "rig and clips", run: rigAndClips },
];
