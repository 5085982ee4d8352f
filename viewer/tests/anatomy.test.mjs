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

/** Boxes tell what is drawn; what is peeled away comes back when its box is ticked. */
async function boxesTellWhatIsDrawn({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  const labels = { skin: "Skin", muscleSurface: "Muscle surface", muscles: "Muscles", bones: "Bones" };
  const ticked = async () => {
    const all = [];
    for (const [name, label] of Object.entries(labels)) if (await page.getByRole("checkbox", { name: label, exact: true }).isChecked()) all.push(name);
    return all;
  };
  for (const at of [0.4, 0.6, 1]) {
    await slide(page, "Peel", at);
    assert.deepEqual(await ticked(), await shown(page), `peeled to ${at}`);
  }
  await page.getByRole("checkbox", { name: "Muscles", exact: true }).check();
  assert.deepEqual(await shown(page), ["muscles", "bones"]);
  await page.getByRole("checkbox", { name: "Skin", exact: true }).check();
  assert.ok((await shown(page)).includes("skin") && (await ticked()).includes("skin"));
  assert.deepEqual(problems, []);
}

/** Peeling and cut belong to the tab: elsewhere the body is whole, and they are there again afterwards. */
async function staysInItsTab({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  await page.getByLabel("Cut", { exact: true }).selectOption("top");
  await slide(page, "Cut at", 0.5);
  await slide(page, "Peel", 0.4);
  const cuts = () => page.evaluate(() => window.supple.bodies[0].mesh.material[0].clippingPlanes?.length ?? 0);
  for (const tab of ["View", "Tissue", "Rig", "Export"]) {
    await page.getByRole("tab", { name: tab }).click();
    assert.deepEqual([await shown(page), await cuts()], [["skin"], 0], tab);
  }
  await page.getByRole("tab", { name: "Anatomy" }).click();
  assert.deepEqual([await shown(page), await cuts()], [["muscles", "bones"], 1]);
  assert.deepEqual(problems, []);
}

/** A cut above the head stays above it in a jump: the picture is the same as without one. */
async function cutFollows({ context, url }) {
  const { page, problems } = await openAnatomy(context, url);
  await slide(page, "Peel", 0);
  await page.selectOption("#clip", { label: "jump" });
  await page.click("#play");
  // Where the head is highest.
  const highest = async () => {
    let best = [0, -Infinity];
    const seconds = await page.evaluate(() => window.supple.description.clips[window.supple.description.clip].seconds);
    for (let time = 0; time < seconds; time += seconds / 12) {
      await page.evaluate((time) => window.supple.simulation.order({ type: "seek", time }), time);
      await pass(page, 0.15);
      const y = await page.evaluate(() => window.supple.jointPositions[3 * window.supple.description.joints.findIndex(({ name }) => name === "head") + 1]);
      if (y > best[1]) best = [time, y];
    }
    return best;
  };
  const [time, head] = await highest();
  await page.evaluate((time) => window.supple.simulation.order({ type: "seek", time }), time);
  await pass(page, 2);
  const high = await page.evaluate(() => window.supple.description.bounds[1][1]);
  assert.ok(head > 0.95 * high, `the head joint jumps to ${head} m, the body is ${high} m high`);
  // Pixels of the body in the picture, whose background is transparent, above the ground.
  const drawn = () =>
    page.evaluate(async () => {
      const { supple } = window;
      supple.scene.ground.visible = supple.scene.rings.visible = false;
      const bitmap = await createImageBitmap(await supple.picture(640, 400));
      supple.scene.ground.visible = supple.scene.rings.visible = true;
      const canvas = new OffscreenCanvas(640, 400);
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, 640, 400);
      let count = 0;
      for (let k = 3; k < data.length; k += 4) if (data[k] > 128) count += 1;
      return count;
    });
  const whole = await drawn();
  const cut = async (share) => {
    await page.getByLabel("Cut", { exact: true }).selectOption("top");
    await slide(page, "Cut at", share);
    await pass(page, 0.3);
    return (await drawn()) / whole;
  };
  const uncut = await cut(1);
  assert.ok(uncut > 0.99, `a cut above the body leaves ${uncut} of it in mid-jump`);
  const half = await cut(0.5);
  assert.ok(half > 0.2 && half < 0.8, `a cut through the middle leaves ${half}`);
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "anatomy: boxes tell what is drawn", run: boxesTellWhatIsDrawn },
  { name: "anatomy: peeling and cut stay in their tab", run: staysInItsTab },
  { name: "anatomy: the cut follows the body", run: cutFollows },
  { name: "anatomy: the slider peels from skin to bone", run: peels },
  { name: "anatomy: names under the pointer", run: tellsNames },
  { name: "anatomy: a cutting plane; bones move with the body", run: cutsAndMoves },
  { name: "anatomy: other characters keep their skin", needsData: true, run: ownFiles },
];
