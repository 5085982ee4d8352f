// Motion as files: point caches and a video of one loop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { download, openPage, untilSimulated } from "./browser.mjs";

const exported = (page, format) => download(page, () => page.getByRole("button", { name: `Export ${format}`, exact: true }).click());

/** Both caches hold every frame of the clip, and the same positions. */
async function savesCaches({ context, url }) {
  const { page, problems } = await openPage(context, url);
  await untilSimulated(page);
  await page.selectOption("#clip", { label: "elbow" });
  await page.getByRole("tab", { name: "Export" }).click();
  await page.getByLabel("Frames per second").selectOption("24");
  const { seconds, vertices } = await page.evaluate(() => {
    const { description, bodies } = window.supple;
    return { seconds: description.clips[description.clip].seconds, vertices: bodies[0].positions.count };
  });
  const files = { PC2: await exported(page, "PC2"), MDD: await exported(page, "MDD") };
  assert.deepEqual(Object.values(files).map((file) => path.basename(file)), ["male-elbow.pc2", "male-elbow.mdd"]);
  const [pc2, mdd] = [readFileSync(files.PC2), readFileSync(files.MDD)];
  const frames = Math.floor(24 * seconds + 1e-3) + 1;
  assert.equal(pc2.toString("latin1", 0, 11), "POINTCACHE2");
  assert.deepEqual([pc2.readUInt32LE(16), pc2.readUInt32LE(28)], [vertices, frames]);
  assert.deepEqual([mdd.readUInt32BE(0), mdd.readUInt32BE(4)], [frames, vertices]);
  const [pc2Head, mddHead] = [32, 8 + 4 * frames];
  assert.deepEqual([pc2.length, mdd.length], [pc2Head + 12 * frames * vertices, mddHead + 12 * frames * vertices]);
  assert.ok(Math.abs(mdd.readFloatBE(8 + 4 * (frames - 1)) - (frames - 1) / 24) < 1e-5, "the time of the last frame");
  let moved = 0;
  for (let v = 0; v < vertices; v += 7) {
    const [first, middle] = [0, Math.floor(frames / 2)].map((frame) => 12 * (frame * vertices + v));
    moved = Math.max(moved, Math.hypot(...[0, 4, 8].map((k) => pc2.readFloatLE(pc2Head + first + k) - pc2.readFloatLE(pc2Head + middle + k))));
    // Two runs of the same simulation.
    for (const k of [0, 4, 8]) assert.ok(Math.abs(pc2.readFloatLE(pc2Head + middle + k) - mdd.readFloatBE(mddHead + middle + k)) < 1e-3);
  }
  assert.ok(moved > 0.1, `the forearm moved by ${moved} m`);
  assert.deepEqual(problems, []);
}

/** The recording begins and ends with the clip, and what was set before comes back. */
async function recordsOneLoop({ context, url }) {
  const { page, problems } = await openPage(context, url, { size: { width: 640, height: 480 } });
  await untilSimulated(page);
  await page.selectOption("#clip", { label: "elbow" });
  await page.click("#play");
  await page.locator("#more").click();
  await page.getByRole("tab", { name: "Export" }).click();
  await page.evaluate(() => {
    window.times = {};
    for (const name of ["start", "stop"]) {
      const act = MediaRecorder.prototype[name];
      MediaRecorder.prototype[name] = function (...rest) {
        window.times[name] = [window.supple.time, window.supple.readout.newest.steps];
        window.framed = { ...window.supple.scene.framing.free };
        return act.apply(this, rest);
      };
    }
  });
  const file = await download(page, () => page.getByRole("button", { name: "Record one loop" }).click());
  assert.match(path.basename(file), /^male-elbow\.(webm|mp4)$/);
  assert.ok(readFileSync(file).length > 10_000, "pictures are in it");
  const { times, seconds } = await page.evaluate(() => {
    const { description } = window.supple;
    return { times: window.times, seconds: description.clips[description.clip].seconds };
  });
  assert.deepEqual(await page.evaluate(() => window.framed), { left: 0, top: 0, width: 640, height: 480 }, "the body fills the video, whatever covers the window");
  // A slow machine draws every third or fourth step.
  const [from, to] = [times.start, times.stop];
  assert.ok(from[0] < 0.35 && to[0] < 0.35, `from ${from[0]} s to ${to[0]} s of the clip`);
  assert.ok(Math.abs((to[1] - from[1]) / 60 - seconds) < 0.4, `${(to[1] - from[1]) / 60} s of ${seconds} s`);
  assert.equal(await page.evaluate(() => window.supple.playing), false, "the clip is paused as before");

  await page.selectOption("#clip", { label: "rest pose" });
  await page.getByRole("button", { name: "Record one loop" }).click();
  await page.locator(".message", { hasText: "Choose a clip first" }).waitFor();
  assert.deepEqual(problems, []);
}

export const tests = [
  { name: "export point caches", run: savesCaches },
  { name: "video of one loop", run: recordsOneLoop },
];
