// The layers of the embedded bodies on the page.
import assert from "node:assert/strict";
import { data, drop, openPage, pass, stand, untilSimulated } from "./browser.mjs";
import path from "node:path";

/** Opens the tab and waits for muscles and bones. */
async function openAnatomy(context, url) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.click("#tab-anatomy");
  await page.waitForFunction(() => window.supple.anatomy.loaded, null, { timeout: 60_000 });
  return { page, problems };
}

/** Moves the slider with this label. */
async function slide(page, label, value) {
  await page.getByLabel(label, { exact: true }).evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input"));
  }, value);
}

/** Which layers are drawn. */
function shown(page) {
  return page.evaluate(() => {
    const { anatomy, bodies } = window.supple;
    const layers = [...anatomy.layers].filter(([, { mesh }]) => mesh.visible).map(([name]) => name);
    return bodies[0].mesh.material.some(({ visible }) => visible) ? ["skin", ...layers] : layers;
  });
}

async function peels({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  await slide(page, "Peel", 0.4);
  assert.deepEqual(await shown(page), ["muscles", "bones"]);
  await slide(page, "Peel", 1);
  assert.deepEqual(await shown(page), ["bones"]);
  await slide(page, "Peel", 0.28);
  await page.getByLabel("Muscle surface").check();
  assert.deepEqual(await shown(page), ["muscleSurface", "muscles", "bones"]);
  await slide(page, "Peel", 0);
  assert.deepEqual(await shown(page), ["skin"]);
  assert.deepEqual(problems, []);
}

async function tellsNames({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  await stand(page);
  const parts = await page.evaluate(() => window.supple.anatomy.description.parts.map(({ name }) => name));
  assert.ok(parts.includes("femur, left") && parts.length > 200, `${parts.length} parts`);
  await slide(page, "Peel", 1);
  // The middle of the left thigh.
  const at = await page.evaluate(() => {
    const { supple } = window;
    const joint = (name) => {
      const index = supple.description.joints.findIndex((joint) => joint.name === name);
      return supple.scene.camera.position.clone().fromArray(supple.jointPositions, 3 * index);
    };
    return supple.tools.onScreen(joint("upperleg02.L").lerp(joint("lowerleg01.L"), 0.4)).toArray();
  });
  const seen = new Set();
  for (let x = -24; x <= 24; x += 4) {
    await page.mouse.move(at[0] + x, at[1]);
    await pass(page, 0.1);
    if (await page.locator("#part-name").isVisible()) seen.add((await page.locator("#part-name").textContent()).split(" · ")[0]);
  }
  assert.ok(seen.has("femur, left"), `saw ${[...seen].join("; ")}`);
  // Below the skin nothing has a name, cut or not.
  await slide(page, "Peel", 0);
  await page.getByLabel("Cut", { exact: true }).selectOption("top");
  await slide(page, "Cut at", 0.95);
  await page.mouse.move(...at);
  await pass(page, 0.3);
  assert.ok(!(await page.locator("#part-name").isVisible()), "the skin hides what is below it");
  assert.deepEqual(problems, []);
}

async function cutsAndMoves({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  await page.getByLabel("Cut", { exact: true }).selectOption("top");
  await slide(page, "Cut at", 0.5);
  const planes = await page.evaluate(() => window.supple.bodies[0].mesh.material[0].clippingPlanes.length);
  assert.equal(planes, 1);
  await page.getByLabel("Cut", { exact: true }).selectOption("off");
  await page.selectOption("#clip", { label: "squat" });
  const place = () =>
    page.evaluate(() => {
      const { mesh } = window.supple.anatomy.layers.get("bones");
      const index = window.supple.anatomy.description.joints.indexOf("head");
      return mesh.skeleton.bones[index].matrixWorld.elements[13];
    });
  const heights = [];
  for (let k = 0; k < 8; k += 1) {
    await pass(page, 0.25);
    heights.push(await place());
  }
  assert.ok(Math.max(...heights) - Math.min(...heights) > 0.1, `the head moved by ${heights}`);
  assert.deepEqual(problems, []);
}

async function ownFiles({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  await drop(page, [path.join(data, "characters", "CesiumMan.glb")]);
  await page.waitForFunction(() => window.supple.description.info.name === "CesiumMan");
  assert.deepEqual(await shown(page), ["skin"]);
  await page.click("#tab-anatomy");
  assert.ok(await page.locator("#page-anatomy p").isVisible(), "the tab says which bodies have layers");
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "anatomy: the slider peels from skin to bone", run: peels },
  { name: "anatomy: names under the pointer", run: tellsNames },
  { name: "anatomy: a cutting plane; bones move with the body", run: cutsAndMoves },
  { name: "anatomy: other characters keep their skin", needsData: true, run: ownFiles },
];
