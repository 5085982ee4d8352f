// Markers, templates and the parts of a character.
import assert from "node:assert/strict";
import { dropBytes, openPage, pass, textFile, tube, untilSimulated } from "./browser.mjs";

async function fitsWithMarkers({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await dropBytes(page, [textFile("tube.off", tube(24, 40))]);
  await page.getByRole("button", { name: "Fit a humanoid" }).waitFor();
  await pass(page, 0.3);
  const joints = () => page.locator("#page-rig .joints li").filter({ visible: true });
  for (const [name, joint] of [["Humanoid template", "hips"], ["Quadruped template", "tail"]]) {
    await page.getByRole("button", { name }).click();
    await joints().filter({ hasText: joint }).first().waitFor();
    assert.ok((await joints().count()) > 12, name);
  }
  await page.getByRole("button", { name: "Fit a humanoid" }).click();
  const again = page.getByRole("button", { name: "Fit with markers" });
  await again.waitFor();
  const places = () => page.evaluate(() => structuredClone(window.markers?.places ?? null));
  await page.evaluate(() => {
    // The marker editor takes the presses.
    window.markers = window.supple.tools.pressTool;
  });
  const before = await places();
  const names = ["chin", "elbow.L", "elbow.R", "groin", "knee.L", "knee.R", "wrist.L", "wrist.R"];
  assert.deepEqual(Object.keys(before).sort(), names);
  const at = await page.evaluate(() => window.supple.tools.onScreen(window.supple.scene.camera.position.clone().fromArray(window.markers.places["wrist.L"])).toArray());
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] + 5, at[1] + 30, { steps: 4 });
  await page.mouse.up();
  await pass(page, 0.2);
  const after = await places();
  assert.ok(after["wrist.L"][1] < before["wrist.L"][1] - 0.01, "the marker follows the pointer");
  assert.equal(after["wrist.R"][1], after["wrist.L"][1], "and the other side follows it");
  await again.click();
  await joints().filter({ hasText: "hips" }).first().waitFor();
  assert.ok((await joints().count()) > 12, "all joints of a humanoid");
  assert.equal(await again.isVisible(), false, "the markers are gone");
  assert.deepEqual(problems, []);
}

/** A click on the body selects its part, whose kind is changed. */
async function choosesAKind({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.getByRole("tab", { name: "Tissue" }).click();
  await page.selectOption("#clip", { label: "rest pose" });
  await pass(page, 1);
  const list = page.locator("#page-tissue .joints");
  await list.locator("li").nth(1).waitFor();
  const at = await page.evaluate(() => {
    const { supple } = window;
    return supple.tools.onScreen(supple.scene.camera.position.clone().set(0.02, 0.6 * supple.tools.height, 0.1)).toArray();
  });
  await page.mouse.click(...at);
  const chosen = list.locator('[aria-pressed="true"]');
  await chosen.waitFor();
  assert.match(await chosen.innerText(), /flesh/, "the belly is flesh");
  const other = list.locator("button", { hasText: /rigid|hair|cloth/ }).first();
  const name = await other.locator("span").innerText();
  await other.click();
  await page.evaluate(() => (window.supple.simulated = false));
  const kind = (await other.innerText()).includes("hair") ? "rigid" : "hair";
  await page.getByLabel("Made of").selectOption(kind);
  await untilSimulated(page);
  await chosen.filter({ hasText: kind }).waitFor();
  assert.deepEqual(await page.evaluate(() => window.supple.settings.shells), { [name]: kind });
  assert.equal(await page.getByLabel("Made of").inputValue(), kind);
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "markers and templates", run: fitsWithMarkers },
  { name: "kind of a part", run: choosesAKind },
];
