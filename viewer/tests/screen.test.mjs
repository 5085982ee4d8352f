// Screens: phones, help, progress, pictures, and the frame.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { download, dropBytes, onScreen, openPage, pass, stand, textFile, tube, untilSimulated } from "./browser.mjs";

const PHONE = { width: 390, height: 844 };

/** Two fingers zoom, also when the first is on the body. */
async function twoFingersZoom({ context, url }) {
  const { page, problems } = await openPage(context, url, { size: PHONE });
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  await untilSimulated(page);
  await page.locator("#hint button").click();
  await stand(page);
  const distance = () => page.evaluate(() => window.supple.scene.camera.position.distanceTo(window.supple.scene.controls.target));
  const [x, y] = (await onScreen(page, [0.02, 1.0, 0.1])).map(Math.round);
  for (const tool of ["1", "2", "3"]) {
    await page.keyboard.press(tool);
    const before = await distance();
    const touch = (type, points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    await touch("touchStart", [[x, y]]);
    await touch("touchMove", [[x, y - 2]]);
    await touch("touchStart", [[x, y - 2], [x + 30, y + 30]]);
    for (let k = 1; k <= 8; k += 1) await touch("touchMove", [[x - 6 * k, y - 6 * k], [x + 30 + 6 * k, y + 30 + 6 * k]]);
    await touch("touchEnd", []);
    await pass(page, 0.3);
    const after = await distance();
    assert.ok(after < 0.8 * before, `tool ${tool}: the distance went from ${before} to ${after}`);
    await page.keyboard.press("f");
    assert.equal(await page.evaluate(() => window.supple.tools.pose.history.isPosed), false, "a pinch is no pose");
  }
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  assert.deepEqual(problems, []);
}

async function fitsFingers({ context, url }) {
  const { page, problems } = await openPage(context, url, { size: PHONE });
  await untilSimulated(page);
  const small = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("button, select, summary, input[type=range], .check")]
        .filter((element) => element.checkVisibility())
        .map((element) => [element, element.getBoundingClientRect()])
        .filter(([element, box]) => box.height < 43.9 || (element.matches("button, select") && box.width < 43.9))
        .map(([element, box]) => `${element.id || element.textContent} ${box.width} × ${box.height}`),
    );
  assert.deepEqual(await small(), []);
  await page.click("#more");
  for (const tab of ["View", "Tissue", "Rig", "Export"]) {
    await page.getByRole("tab", { name: tab }).click();
    assert.deepEqual(await small(), [], tab);
  }
  // The body at rest is between the title and the panel.
  await page.waitForTimeout(300);
  const [low, high] = await page.evaluate(() => window.supple.description.bounds);
  const ends = [await onScreen(page, [0, low[1], 0]), await onScreen(page, [0, high[1], 0])];
  const panel = await page.locator("#panel").boundingBox();
  const top = await page.locator("#top").boundingBox();
  assert.ok(ends[0][1] < panel.y + 1, `the feet are at ${ends[0][1]}, the panel begins at ${panel.y}`);
  assert.ok(ends[1][1] > top.y + top.height - 1, "the head is below the title");
  assert.ok(ends[0][1] - ends[1][1] > 0.5 * (panel.y - top.y - top.height), "the body fills the space");
  assert.deepEqual(problems, []);
}

async function explainsItself({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  assert.ok(await page.locator("#hint").isVisible(), "a hint is shown first");
  await page.locator("#hint button").click();
  await page.click("#help-button");
  assert.ok(await page.locator("dialog[open]").isVisible());
  await page.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.locator("#r-fps").isVisible(), false, "timings are folded away");
  await page.locator("#readout summary").click();
  assert.ok(await page.locator("#r-fps").isVisible());
  for (const tab of ["View", "Tissue", "Rig", "Export"]) {
    await page.getByRole("tab", { name: tab }).click();
    const bare = await page.evaluate(() =>
      [...document.querySelectorAll("#app button, #app select, #app .row, #app .check")]
        .filter((element) => element.checkVisibility() && !element.closest(".message, .joints, .row select, dialog"))
        .filter((element) => !element.closest("[title]:not([title=''])"))
        .map((element) => element.textContent),
    );
    assert.deepEqual(bare, [], `no tooltip on ${tab}`);
  }
  const words = await page.evaluate(() => document.body.innerText);
  assert.doesNotMatch(words, /--[a-z]/);
  await page.reload();
  await untilSimulated(page);
  assert.equal(await page.locator("#hint").isVisible(), false, "the hint is shown once");
  assert.deepEqual(problems, []);
}

async function showsProgress({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const skeleton = "3\n0 0.1 0 a root\n0 1.0 0 b a\n0 1.9 0 c b\n";
  const files = [textFile("tube.off", tube(500, 400)), textFile("tube.skel", skeleton)];
  // Reading may end before a pointer is there: cancelled as soon as bar and button are shown.
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      const message = [...document.querySelectorAll(".message")].find(({ textContent }) => textContent.includes("Reading tube.off"));
      const cancel = [...(message?.querySelectorAll("button") ?? [])].find(({ textContent }) => textContent === "Cancel");
      if (!cancel || !message.querySelector("progress")) return;
      observer.disconnect();
      window.cancelled = true;
      cancel.click();
    }).observe(document.body, { childList: true, subtree: true });
  });
  await dropBytes(page, files);
  await page.waitForFunction(() => window.cancelled, null, { timeout: 20_000 });
  await page.locator(".message", { hasText: "Reading tube.off" }).waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => window.supple.description.info.name), "male", "a cancelled file leaves the character");
  assert.equal(await page.locator(".message.bad").count(), 0, "a cancellation is no error");

  await dropBytes(page, files);
  const building = page.locator(".message", { hasText: "Building the tissue" });
  await building.locator("progress[value]").waitFor({ timeout: 60_000 });
  assert.equal(await page.evaluate(() => window.supple.description.info.vertices), 200_000);
  await building.getByRole("button", { name: "Cancel" }).dispatchEvent("click");
  await page.locator(".message", { hasText: "was not built" }).getByRole("button", { name: "Build" }).waitFor();
  assert.equal(await page.evaluate(() => window.supple.simulated), false);
  assert.deepEqual(problems, []);
}

function pngSize(file) {
  const bytes = readFileSync(file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

async function savesPictures({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.evaluate(() => window.supple.scene.scaleResolution(0.5));
  await page.getByRole("tab", { name: "Export" }).click();
  const png = () => download(page, () => page.getByRole("button", { name: "Save PNG" }).click());
  assert.deepEqual(pngSize(await png()), [1280, 800], "as the window, whatever the drawing's resolution");
  await page.getByLabel("Resolution").last().selectOption("1920x1080");
  assert.deepEqual(pngSize(await png()), [1920, 1080]);
  assert.deepEqual(problems, []);
}

/** No vertex leaves the free area in a jump. */
async function framesAJump({ context, url }) {
  const { page, problems } = await openPage(context, url, { size: { width: 1280, height: 800 } });
  await untilSimulated(page);
  await page.selectOption("#clip", { label: "jump" });
  const outside = await page.evaluate(async () => {
    const { supple } = window;
    const seconds = supple.description.clips[supple.description.clip].seconds;
    const from = supple.readout.newest.steps;
    let most = 0;
    const point = supple.scene.camera.position.clone();
    while (supple.readout.newest.steps - from < 60 * (seconds + 0.2)) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const { left, top, width, height } = supple.scene.framing?.free ?? { left: 0, top: 62, width: 920, height: 670 };
      const positions = supple.bodies[0].positions.array;
      for (let k = 0; k + 2 < positions.length; k += 3 * 23) {
        const at = supple.tools.onScreen(point.fromArray(positions, k));
        most = Math.max(most, left - at.x, at.x - left - width, top - at.y, at.y - top - height);
      }
    }
    return most;
  });
  assert.ok(outside < 12, `a vertex was ${outside} px out of the frame`);
  assert.deepEqual(problems, []);
}

/** On a phone on its side the body is beside the controls, not above them. */
async function fitsALandscapePhone({ context, url }) {
  for (const [width, height] of [[844, 390], [667, 375], [932, 430]]) {
    const { page, problems } = await openPage(context, url, { size: { width, height } });
    await untilSimulated(page);
    await stand(page);
    await page.locator("#hint button").click();
    const tall = async () => {
      await page.waitForTimeout(400);
      const [low, high] = await page.evaluate(() => window.supple.description.bounds);
      const ends = [await onScreen(page, [0, low[1], 0]), await onScreen(page, [0, high[1], 0])];
      const box = async (id) => page.locator(id).boundingBox();
      const [top, bar] = [await box("#top"), await box("#bar")];
      assert.ok(ends[0][1] < bar.y + 2 && ends[1][1] > top.y + top.height - 2, `${width} × ${height}: from ${ends[1][1]} to ${ends[0][1]}`);
      return ends[0][1] - ends[1][1];
    };
    assert.ok((await tall()) > 0.5 * height, `${width} × ${height}: the figure is ${await tall()} px high`);
    await page.click("#more");
    for (const tab of ["View", "Tissue", "Anatomy", "Rig", "Export"]) {
      await page.getByRole("tab", { name: tab }).click();
      assert.ok((await tall()) > 0.5 * height, `${width} × ${height}, ${tab}: the figure is ${await tall()} px high`);
    }
    await page.getByRole("tab", { name: "View" }).click();
    const outside = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll("#top, #bar, #tools, #panel, #bar > *, #top button, #tools button")]
        .filter((element) => element.checkVisibility())
        .map((element) => [element, element.getBoundingClientRect()]);
      const out = boxes.filter(([, box]) => box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1);
      const small = boxes.filter(([element, box]) => element.matches("button") && (box.width < 43.9 || box.height < 43.9));
      return [...out, ...(matchMedia("(pointer: coarse)").matches ? small : [])].map(([element]) => element.id || element.textContent);
    });
    assert.deepEqual(outside, [], `${width} × ${height}`);
    assert.deepEqual(problems, []);
    await page.close();
  }
}

/** While nothing moves the picture has its full resolution, and few frames are drawn. */
async function sharpens({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  const ratio = () => page.evaluate(() => window.supple.scene.renderer.getPixelRatio());
  const full = await page.evaluate(() => Math.min(devicePixelRatio, 2));
  assert.ok((await ratio()) < full, "software rendering begins with fewer pixels");
  await page.selectOption("#clip", { label: "rest pose" });
  await page.mouse.move(300, 200);
  await page.waitForFunction((full) => window.supple.scene.renderer.getPixelRatio() === full, full, { timeout: 60_000 });
  const frames = () => page.evaluate(() => window.supple.scene.renderer.info.render.frame);
  const from = await frames();
  await page.waitForTimeout(2000);
  assert.ok((await frames()) - from <= 12, `${(await frames()) - from} frames in two still seconds`);
  assert.equal(await ratio(), full);
  // Any movement brings the frame rate back.
  await page.locator("#view").focus();
  await page.keyboard.press("s");
  await page.waitForFunction((full) => window.supple.scene.renderer.getPixelRatio() < full, full, { timeout: 20_000 });
  assert.deepEqual(problems, []);
}

/** The page says what can be dropped on it. */
async function namesFormats({ context, url }) {
  const { page } = await openPage(context, url);
  const text = await page.locator("#drop small").textContent();
  for (const format of ["GLB", "VRM", "FBX", "OBJ", "BVH"]) assert.ok(text.includes(format), text);
}

export const tests = [
  { name: "a phone on its side", run: fitsALandscapePhone },
  { name: "the picture sharpens", run: sharpens },
  { name: "formats that can be dropped", run: namesFormats },
  { name: "two fingers zoom", run: twoFingersZoom },
  { name: "targets for fingers", run: fitsFingers },
  { name: "hint, help and tooltips", run: explainsItself },
  { name: "progress and cancel", run: showsProgress },
  { name: "pictures", run: savesPictures },
  { name: "a jump stays in the frame", run: framesAJump },
];
