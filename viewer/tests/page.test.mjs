// User actions on the page.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { data, download, drop, dropBytes, farthest, female, openPage, pass, root, run, skin, stand, untilSimulated, validator } from "./browser.mjs";

/** Fraction of the canvas that changes in half a second of simulated time. */
async function changedPixels(page) {
  const grab = () =>
    page.evaluate(async () => {
      const bitmap = await createImageBitmap(await window.supple.picture());
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const before = window.grabbed;
      const now = (window.grabbed = context.getImageData(0, 0, canvas.width, canvas.height).data);
      let changed = 0;
      for (let k = 0; before && k < now.length; k += 4) {
        if (Math.abs(before[k] - now[k]) + Math.abs(before[k + 1] - now[k + 1]) > 12) changed += 1;
      }
      return changed / (now.length / 4);
    });
  await grab();
  await pass(page, 0.5);
  return grab();
}

async function opensAndMoves({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await page.waitForFunction(() => window.supple?.firstMovement, null, { timeout: 60_000 });
  await untilSimulated(page);
  const changed = await changedPixels(page);
  assert.ok(changed > 0.002, `${changed} of the pixels changed, expected more`);
  assert.deepEqual(problems, []);
  assert.equal(await page.locator("dialog[open]").count(), 0);
}

async function sharedCharacters({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const files = [
    ...readdirSync(path.join(data, "characters"), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [path.join(data, "characters", entry.name)]),
    ["cylinder/cylinder.off", "cylinder/cylinder.skel", "cylinder/cylinder0.anim"].map((name) => path.join(data, "fps", name)),
  ];
  for (const set of files) {
    await page.evaluate(() => (window.supple.simulated = false));
    await drop(page, set);
    await untilSimulated(page);
    const name = path.basename(set[0]).replace(/\.\w+$/, "");
    const seen = await page.evaluate(() => ({ name: window.supple.description.info.name, finite: window.supple.bodies[0].positions.array.every(Number.isFinite) }));
    assert.equal(seen.name, name);
    assert.ok(seen.finite, `${name} has positions that are not numbers`);
    assert.equal(await page.locator("#bodies").inputValue(), "", "the selection of embedded bodies is cleared");
    if (name.includes("Crimsom")) {
      const z = await page.evaluate(() => window.supple.scene.camera.position.z);
      assert.ok(z < 0, "a VRM 0.x faces -Z, so the camera is there");
    }
    const before = await skin(page);
    await pass(page, 0.7);
    assert.ok(farthest(before, await skin(page)) > 1e-4, `${name} does not move`);
    await page.keyboard.press("u");
    await pass(page, 0.2);
    const hidden = await page.evaluate(() => window.supple.bodies[0].mesh.material.some(({ alphaTest, opacity }) => alphaTest >= opacity));
    assert.ok(!hidden, `${name} is invisible when transparent`);
    await page.keyboard.press("u");
  }
  assert.deepEqual(problems, []);
}

async function motions({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await drop(page, [path.join(data, "mocap", "09_01.bvh")]);
  await page.waitForFunction(() => window.supple.description.clips.at(-1).name === "09_01");
  const before = await skin(page);
  await pass(page, 0.6);
  assert.ok(farthest(before, await skin(page)) > 0.02, "a run must move the body");
  assert.equal(await page.locator("#bodies").inputValue(), "male", "the body must stay the same");
  await dropBytes(page, [{ name: "walk.glb", base64: withoutMeshes(path.join(data, "characters", "CesiumMan.glb")) }]);
  await page.waitForFunction(() => window.supple.description.clips.at(-1).name === "walk");
  assert.equal(await page.locator("#bodies").inputValue(), "male", "a file without a mesh must be read as a motion");
  assert.deepEqual(problems, []);
}

/** A GLB's skeleton and clips without meshes, in base64. */
function withoutMeshes(file) {
  const bytes = readFileSync(file);
  const length = bytes.readUInt32LE(12);
  const json = JSON.parse(bytes.toString("utf8", 20, 20 + length));
  for (const node of json.nodes) delete node.mesh;
  delete json.meshes;
  const text = JSON.stringify(json).padEnd(length);
  assert.equal(text.length, length);
  return Buffer.concat([bytes.subarray(0, 20), Buffer.from(text), bytes.subarray(20 + length)]).toString("base64");
}

async function pullsTheTissue({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await stand(page);
  const before = await skin(page);
  // The belly, slightly above the middle.
  const at = await page.evaluate(() => {
    const { supple } = window;
    const point = supple.scene.camera.position.clone().set(0.02, 0.6 * supple.tools.height, 0.1);
    return supple.tools.onScreen(point).toArray();
  });
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] + 90, at[1], { steps: 6 });
  await pass(page, 1);
  const pulled = farthest(before, await skin(page));
  assert.ok(pulled > 0.004, `the tissue moved by ${pulled} m only`);
  await page.mouse.up();
  await pass(page, 2);
  assert.ok(farthest(before, await skin(page)) < 0.5 * pulled, "the tissue must return");
  await page.locator("#view").focus();
  await page.keyboard.press("s");
  await pass(page, 0.25);
  assert.ok(farthest(before, await skin(page)) > 0.01, "the shake must move the skin");
  assert.deepEqual(problems, []);
}

async function switchesMethods({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.selectOption("#clip", { label: "squat" });
  await page.click("#play");
  await page.evaluate(() => window.supple.simulation.order({ type: "seek", time: 1.2 }));
  await pass(page, 2.5);
  const shown = {};
  for (const [key, method] of [["r", "lbs"], ["e", "dqs"], ["q", "tissue"]]) {
    await page.locator("#view").focus();
    await page.keyboard.press(key);
    await pass(page, 0.7);
    shown[method] = await skin(page);
  }
  assert.ok(farthest(shown.lbs, shown.dqs) > 1e-3, "linear blend and dual quaternions differ");
  assert.ok(farthest(shown.lbs, shown.tissue) > 1e-3, "linear blend and tissue differ");
  for (const mode of ["Divider", "Side by side", "One"]) {
    await page.getByRole("radio", { name: mode, exact: true }).click();
    await pass(page, 0.3);
  }
  for (const key of ["b", "v", "u", "t", "x", "w"]) {
    await page.locator("#view").focus();
    await page.keyboard.press(key);
    await pass(page, 0.25);
  }
  assert.ok((await changedPixels(page)) < 1);
  assert.deepEqual(problems, []);
}

async function reportsBadFiles({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const base64 = (text) => Buffer.from(text).toString("base64");
  const bad = [
    { name: "broken.glb", base64: base64("glTF\u0002\u0000\u0000\u0000garbage") },
    { name: "empty.obj", base64: base64("") },
    { name: "what.xyz", base64: base64("hello") },
    { name: "nan.off", base64: base64("OFF\n3 1 0\nnan 0 0\n1 0 0\n0 1 0\n3 0 1 2\n") },
    { name: "bad.supple.toml", base64: base64("[tissue]\nstifness = 3\n") },
    { name: "motion.bvh", base64: base64("HIERARCHY\nROOT a\n{") },
    { name: "character.fbx", base64: base64("no fbx") },
  ];
  for (const file of bad) {
    await dropBytes(page, [file]);
    const message = page.locator(".message.bad").last();
    await message.waitFor({ timeout: 20_000 });
    const text = await message.innerText();
    assert.ok(text.includes(file.name) && text.length > file.name.length + 10, text);
    assert.doesNotMatch(text, /--[a-z]|supple [a-z]/, "no commands in messages");
    await page.evaluate(() => document.querySelectorAll(".message").forEach((box) => box.remove()));
  }
  assert.ok((await changedPixels(page)) > 0.001, "the body must still move");
  // The browser logs a refused conversion itself.
  assert.deepEqual(problems.filter((text) => !/status of (404|405|422)/.test(text)), []);
}

async function buildsARig({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const mesh = path.join(data, "fps", "cylinder", "cylinder.off");
  await drop(page, [mesh]);
  await page.getByRole("button", { name: "Start empty" }).waitFor();
  await page.waitForFunction(() => window.supple.description.joints.length === 0);
  await pass(page, 0.5);
  await page.getByRole("button", { name: "Start empty" }).click();
  for (const share of [0.08, 0.5, 0.92]) {
    const at = await page.evaluate((share) => {
      const [low, high] = window.supple.description.bounds;
      const middle = low.map((x, k) => 0.5 * (x + high[k]));
      const long = [0, 1, 2].reduce((best, k) => (high[k] - low[k] > high[best] - low[best] ? k : best), 0);
      middle[long] = low[long] + share * (high[long] - low[long]);
      return window.supple.tools.onScreen(window.supple.scene.camera.position.clone().fromArray(middle)).toArray();
    }, share);
    const count = await page.locator("#page-rig .joints li").count();
    await page.mouse.click(...at);
    await page.waitForFunction((count) => document.querySelectorAll("#page-rig .joints li").length === count + 1, count);
  }
  // Undo, redo and rename.
  await page.getByRole("button", { name: "Undo" }).click();
  assert.equal(await page.locator("#page-rig .joints li").count(), 2);
  await page.getByRole("button", { name: "Redo" }).click();
  assert.equal(await page.locator("#page-rig .joints li").count(), 3);
  const field = page.getByLabel("Name of the selected joint");
  await field.fill("the tip");
  await field.press("Enter");
  assert.ok((await page.locator("#page-rig .joints").innerText()).includes("the_tip"));
  const skel = await download(page, () => page.getByRole("button", { name: "Save .skel" }).click());
  const glb = await download(page, () => page.getByRole("button", { name: "Save GLB" }).click());
  run("node", [path.join(root, "scripts", "validate-gltf.mjs"), glb], { GLTF_VALIDATOR_MODULES: validator() });
  for (const files of [[mesh, skel], [glb]]) {
    await page.reload();
    await untilSimulated(page);
    const kept = await page.evaluate(() => window.supple.description.joints.map(({ name }) => name));
    assert.ok(kept.includes("the_tip"), "a reload keeps the rig");
    await page.evaluate(() => (window.supple.simulated = false));
    await drop(page, files);
    await untilSimulated(page);
    const joints = await page.evaluate(() => window.supple.description.joints.filter(({ bone }) => bone).map(({ name }) => name));
    assert.equal(joints.length, 3);
    assert.ok(joints.includes("the_tip"));
    const before = await skin(page);
    await page.locator("#view").focus();
    await page.keyboard.press("s");
    await pass(page, 0.3);
    assert.ok(farthest(before, await skin(page)) > 1e-3, "it must move when shaken");
    await pass(page, 1.5);
  }
  assert.deepEqual(problems, []);
}

/** Up axis, unit and weights, as on the command line. */
async function appliesImportOptions({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.getByRole("tab", { name: "Rig" }).click();
  const [up, unit, weights] = ["Up axis", "Unit", "Recompute weights"].map((label) => page.getByLabel(label));
  assert.equal(await up.isVisible(), false, "embedded bodies have no import options");
  const size = async (act) => {
    await page.evaluate(() => (window.supple.simulated = false));
    await act();
    await untilSimulated(page);
    return page.evaluate(() => {
      const [low, high] = window.supple.description.bounds;
      return high.map((x, axis) => x - low[axis]);
    });
  };
  const near = (a, b) => assert.ok(a.every((x, axis) => Math.abs(x - b[axis]) < 1e-3), `${a} is not ${b}`);
  // A rigged character leaves the Rig tab.
  const open = async () => {
    await drop(page, [female]);
    await page.waitForFunction(() => window.supple.description.info.name === "female");
    await page.getByRole("tab", { name: "Rig" }).click();
  };
  const [x, y, z] = await size(open);
  near(await size(() => up.selectOption("z")), [x, z, y]);
  near(await size(() => unit.selectOption("ft")), [x, z, y].map((side) => 0.3048 * side));
  near(await size(() => weights.check()), [x, z, y].map((side) => 0.3048 * side));
  near(await size(open), [x, y, z]);
  assert.deepEqual([await up.inputValue(), await unit.inputValue(), await weights.isChecked()], ["", "", false]);
  assert.deepEqual(problems, []);
}

/** A GLB whose scene is scaled, in base64. */
function scaled(file, factor) {
  const bytes = readFileSync(file);
  const length = bytes.readUInt32LE(12);
  const json = JSON.parse(bytes.toString("utf8", 20, 20 + length));
  const scene = json.scenes[json.scene ?? 0];
  json.nodes.push({ name: "all", children: scene.nodes, scale: [factor, factor, factor] });
  scene.nodes = [json.nodes.length - 1];
  let text = JSON.stringify(json);
  text = text.padEnd(4 * Math.ceil(text.length / 4));
  const head = Buffer.from(bytes.subarray(0, 20));
  const rest = bytes.subarray(20 + length);
  head.writeUInt32LE(20 + text.length + rest.length, 8);
  head.writeUInt32LE(text.length, 12);
  return Buffer.concat([head, Buffer.from(text), rest]).toString("base64");
}

/** A warning about a file leads to the controls that say how it is read. */
async function warningsLeadToOptions({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await dropBytes(page, [{ name: "giant.glb", base64: scaled(female, 200) }]);
  const warning = page.locator(".message", { hasText: " m " });
  await warning.getByRole("button", { name: "File options" }).click();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Rig");
  assert.ok(await page.getByLabel("Unit").isVisible());
  assert.deepEqual(problems, []);
}

async function exportsAGlb({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.selectOption("#clip", { label: "elbow" });
  await page.getByRole("tab", { name: "Export" }).click();
  await page.getByLabel("Largest error").selectOption("5");
  const file = await download(page, () => page.getByRole("button", { name: "Export GLB" }).click());
  assert.match(path.basename(file), /^male-elbow\.glb$/);
  run("node", [path.join(root, "scripts", "validate-gltf.mjs"), file], { GLTF_VALIDATOR_MODULES: validator() });
  const png = await download(page, () => page.getByRole("button", { name: "Save PNG" }).click());
  assert.match(path.basename(png), /\.png$/);
  await page.getByRole("tab", { name: "Tissue" }).click();
  const toml = await download(page, () => page.getByRole("button", { name: "Save TOML" }).click());
  assert.match(path.basename(toml), /\.supple\.toml$/);
  assert.deepEqual(problems, []);
}

async function layoutFitsScreens({ context, url }) {
  for (const [width, height] of [[360, 640], [768, 1024], [1280, 800], [3840, 2160]]) {
    const { page, problems } = await openPage(context, url, { size: { width, height } });
    await page.waitForFunction(() => window.supple?.firstMovement, null, { timeout: 60_000 });
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll("#top, #bar, #tools, #bar > *, #top button")]
        .filter((element) => element.checkVisibility())
        .filter((element) => {
          const box = element.getBoundingClientRect();
          return box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
        })
        .map((element) => element.id || element.textContent),
    );
    assert.deepEqual(outside, [], `${width} × ${height}`);
    const unnamed = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select")]
        .filter((element) => element.checkVisibility())
        .filter((element) => !(element.textContent?.trim() || element.getAttribute("aria-label") || element.labels?.length))
        .map((element) => element.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(unnamed, [], "every control needs a name");
    assert.deepEqual(problems, []);
    await page.close();
  }
}

async function reportsMissingFeatures({ context, url }) {
  const page = await context.newPage();
  await page.addInitScript(() => {
    WebAssembly.validate = () => false;
  });
  await page.goto(url);
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.innerText(), /SIMD/);
}

export const tests = [
  { name: "opens and moves", run: opensAndMoves },
  { name: "drop every shared character", needsData: true, run: sharedCharacters },
  { name: "drop a motion", needsData: true, run: motions },
  { name: "pull and shake", run: pullsTheTissue },
  { name: "switch methods", run: switchesMethods },
  { name: "bad files", run: reportsBadFiles },
  { name: "build a rig", needsData: true, run: buildsARig },
  { name: "import options", run: appliesImportOptions },
  { name: "warnings lead to the file's options", run: warningsLeadToOptions },
  { name: "export", run: exportsAGlb },
  { name: "screen sizes", run: layoutFitsScreens },
  { name: "missing features", run: reportsMissingFeatures },
];
