// Posing, and tools on two bodies.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { download, farthest, jointOnScreen, onScreen, openPage, pass, root, run, skin, stand, untilSimulated, validator } from "./browser.mjs";

const WRIST = "(wrist|hand).*(L$|left)";

async function drag(page, from, ...ways) {
  await page.mouse.move(...from);
  await page.mouse.down();
  for (const [x, y] of ways) await page.mouse.move(from[0] + x, from[1] + y, { steps: 4 });
  await page.mouse.up();
}

async function keepsAPose({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await stand(page);
  await page.locator("#view").focus();
  await page.keyboard.press("2");
  const before = await skin(page);
  await drag(page, await jointOnScreen(page, WRIST), [20, -60], [20, -130]);
  await pass(page, 2.5);
  const posed = await skin(page);
  const moved = farthest(before, posed);
  assert.ok(moved > 0.1, `the skin moved by ${moved} m only`);
  const gap = await page.evaluate(() => {
    const { pose } = window.supple.tools;
    const joint = pose.marker.position.clone().fromArray(window.supple.jointPositions, 3 * pose.selected);
    return pose.marker.position.distanceTo(joint);
  });
  assert.ok(gap < 0.005, `the marker is ${gap} m from its joint`);
  assert.equal(await page.locator("#clip option:checked").innerText(), "your pose");

  // A ring turns the joint further.
  const ring = await page.evaluate(() => {
    const { rings } = window.supple.tools.pose;
    const ring = rings.group.children[2];
    const at = (angle) => window.supple.tools.onScreen(ring.localToWorld(ring.position.clone().set(Math.cos(angle), Math.sin(angle), 0))).toArray();
    return [at(0.8), at(2.0)];
  });
  await drag(page, ring[0], [ring[1][0] - ring[0][0], ring[1][1] - ring[0][1]]);
  await pass(page, 2);
  const turned = farthest(posed, await skin(page));
  assert.ok(turned > 0.03, `the ring turned the hand by ${turned} m only`);

  const steps = [["Undo", posed, "the first pose"], ["Undo", before, "the rest pose"], ["Redo", posed, "the first pose again"]];
  for (const [name, wanted, text] of steps) {
    await page.locator("#pose-bar").getByRole("button", { name }).click();
    await pass(page, 2.5);
    const left = farthest(wanted, await skin(page));
    assert.ok(left < 0.15 * moved, `${name} shows ${text}, but ${left} m of ${moved} m remain`);
  }

  await page.locator("#pose-bar").getByRole("button", { name: "Save…" }).click();
  const files = {};
  for (const format of ["GLB", "OBJ", "PC2"]) files[format] = await download(page, () => page.getByRole("button", { name: format, exact: true }).click());
  run("node", [path.join(root, "scripts", "validate-gltf.mjs"), files.GLB], { GLTF_VALIDATOR_MODULES: validator() });
  const vertices = posed.length / 3;
  assert.equal(readFileSync(files.OBJ, "utf8").match(/^v /gm).length, vertices);
  const cache = readFileSync(files.PC2);
  assert.equal(cache.toString("latin1", 0, 11), "POINTCACHE2");
  assert.deepEqual([cache.readUInt32LE(16), cache.readUInt32LE(28)], [vertices, 1]);

  await page.locator("#pose-bar").getByRole("button", { name: "Reset" }).click();
  await pass(page, 2.5);
  const left = farthest(before, await skin(page));
  assert.ok(left < 0.1 * moved, `${left} m of ${moved} m remain after the reset`);
  assert.deepEqual(problems, []);
}

/** A pull on either body of a side-by-side view moves the tissue under the pointer. */
async function pullsEitherBody({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.getByRole("radio", { name: "Side by side" }).click();
  await stand(page);
  const before = await skin(page);
  for (const index of [0, 1]) {
    const place = await page.evaluate((index) => {
      const { x, y, z } = window.supple.bodies[index].mesh.position;
      return [x + 0.02, y + 0.6 * window.supple.tools.height, z + 0.1];
    }, index);
    const at = await onScreen(page, place);
    await page.mouse.move(...at);
    await page.mouse.down();
    await page.mouse.move(at[0] + 60, at[1], { steps: 6 });
    await pass(page, 0.8);
    const pulled = await skin(page);
    await page.mouse.up();
    let most = 0;
    let where = 0;
    for (let k = 0; k + 2 < pulled.length; k += 3) {
      const way = Math.hypot(pulled[k] - before[k], pulled[k + 1] - before[k + 1], pulled[k + 2] - before[k + 2]);
      if (way > most) [most, where] = [way, Math.hypot(before[k] - 0.02, before[k + 1] - place[1], before[k + 2] - 0.1)];
    }
    assert.ok(most > 0.004, `body ${index} moved by ${most} m only`);
    assert.ok(where < 0.2, `body ${index} moved ${where} m beside the pointer`);
    await pass(page, 1.5);
  }
  // A joint of the right body is taken on the right body.
  await page.locator("#view").focus();
  await page.keyboard.press("2");
  await pass(page, 0.2);
  const wrist = await page.evaluate((source) => {
    const { supple } = window;
    const joint = supple.description.joints.findIndex(({ name }) => new RegExp(source, "i").test(name));
    const place = supple.scene.camera.position.clone().fromArray(supple.jointPositions, 3 * joint).add(supple.bodies[1].mesh.position);
    return supple.tools.onScreen(place).toArray();
  }, WRIST);
  await drag(page, wrist, [10, -40], [10, -80]);
  await pass(page, 1.5);
  const moved = farthest(before, await skin(page));
  assert.ok(moved > 0.05, `the pose moved the skin by ${moved} m only`);
  assert.deepEqual(problems, []);
}

/** The pose tool pauses the clip; another tool goes on with it, unless the user has paused it. */
async function pausesTheClip({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const tool = async (key) => {
    await page.locator("#view").focus();
    await page.keyboard.press(key);
    await pass(page, 0.2);
  };
  const time = () => page.evaluate(() => window.supple.time);
  const runs = async () => {
    const from = await time();
    await pass(page, 0.4);
    return (await time()) !== from;
  };
  assert.ok(await runs());
  await tool("2");
  assert.equal(await runs(), false, "the clip waits while joints are dragged");
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Play");
  await tool("1");
  assert.ok(await runs(), "and goes on afterwards");
  await tool("2");
  await page.reload();
  await untilSimulated(page);
  assert.equal(await runs(), false, "a reload keeps tool and pause");
  await tool("1");
  assert.ok(await runs());
  await page.click("#play");
  await tool("2");
  await tool("1");
  assert.equal(await runs(), false, "what the user has paused stays so");
  assert.deepEqual(problems, []);
}

/** Markers are large enough to be seen, and the joint that moves more is taken where several are close: the wrist, not the thumb. */
async function picksTheWrist({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await stand(page);
  await page.locator("#view").focus();
  await page.keyboard.press("2");
  await pass(page, 0.2);
  const sizes = await page.evaluate(() => {
    const all = [];
    window.supple.scene.scene.traverse((object) => object.isPoints && object.visible && all.push(object.material.size));
    return all;
  });
  assert.ok(sizes.length > 0 && Math.max(...sizes) >= 12 && Math.min(...sizes) >= 8, `${sizes} px`);
  const chosen = async (at) => {
    await page.mouse.move(...at);
    await page.mouse.down();
    await page.mouse.up();
    return page.evaluate(() => window.supple.description.joints[window.supple.tools.pose.selected]?.name ?? null);
  };
  for (const side of ["L", "R"]) {
    const wrist = await jointOnScreen(page, `^wrist\\.${side}$`);
    const thumb = await jointOnScreen(page, `^finger1-1\\.${side}$`);
    const apart = Math.hypot(thumb[0] - wrist[0], thumb[1] - wrist[1]);
    assert.ok(apart > 2 && apart < 30, `wrist and thumb are ${apart} px apart`);
    for (const share of [0, 0.3, 0.6]) {
      const at = [0, 1].map((k) => wrist[k] + share * (thumb[k] - wrist[k]));
      assert.equal(await chosen(at), `wrist.${side}`, `at ${share} of the way to the thumb`);
      await page.evaluate(() => (window.supple.tools.pose.selected = null));
    }
    assert.equal(await chosen([wrist[0] + (side === "L" ? 400 : -400), wrist[1] - 300]), null, "nothing is there");
  }
  // From nearby every finger can be taken.
  await page.evaluate(() => {
    const { supple } = window;
    const index = supple.description.joints.findIndex(({ name }) => name === "wrist.L");
    const hand = supple.scene.camera.position.clone().fromArray(supple.jointPositions, 3 * index);
    const { controls, camera } = supple.scene;
    camera.position.sub(controls.target).multiplyScalar(0.12).add(hand);
    controls.target.copy(hand);
  });
  await pass(page, 0.3);
  assert.equal(await chosen(await jointOnScreen(page, "^finger1-2\\.L$")), "finger1-2.L");
  // The joint under the pointer is named before it is taken.
  await page.mouse.move(...(await jointOnScreen(page, "^wrist\\.L$")));
  assert.equal(await page.locator("#pose-bar .name").innerText(), "wrist.L");
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "posing pauses the clip", run: pausesTheClip },
  { name: "the wrist before the thumb", run: picksTheWrist },
  { name: "keep, undo and export a pose", run: keepsAPose },
  { name: "pull either body", run: pullsEitherBody },
];
