// Plays half an hour of simulated time at full speed: memory must not grow.
import assert from "node:assert/strict";
import { openPage, untilSimulated } from "./browser.mjs";

/** Duration of the test [s]; 180 for a release. */
const SECONDS = Number(process.env.SUPPLE_MEMORY_SECONDS ?? 40);
/** Growth explained by garbage collection and lazily allocated buffers [MB]. */
const MAX_GROWTH = 12;

async function memoryStaysFlat({ context, url }) {
  const { page, problems } = await openPage(context, url, { size: { width: 640, height: 480 } });
  await untilSimulated(page);
  await page.evaluate(() => window.supple.simulation.order({ type: "pace", unlimited: true }));
  const sizes = [];
  const clips = ["squat", "jump", "shake", "sit"];
  const overlays = ["b", "v", "x", "w"];
  const begin = Date.now();
  for (let round = 0; Date.now() - begin < 1000 * SECONDS; round += 1) {
    await page.selectOption("#clip", { label: clips[round % clips.length] });
    const key = overlays[round % overlays.length];
    await page.locator("#view").focus();
    await page.keyboard.press(key);
    await page.waitForTimeout((1000 * SECONDS) / 24);
    await page.locator("#view").focus();
    await page.keyboard.press(key);
    await page.evaluate(() => window.gc?.());
    sizes.push(await page.evaluate(async () => ({
      page: performance.memory.usedJSHeapSize / 1e6,
      wasm: (await window.supple.simulation.request("memory", {})).bytes / 1e6,
    })));
  }
  const steps = await page.evaluate(() => window.supple.readout.newest.steps);
  // The first quarter fills caches and pools.
  const steady = sizes.slice(Math.floor(sizes.length / 4));
  const grown = (name) => steady.at(-1)[name] - steady[0][name];
  console.log(`     ${steps} steps; page ${grown("page").toFixed(1)} MB, WebAssembly ${grown("wasm").toFixed(1)} MB grown`);
  assert.ok(grown("page") < MAX_GROWTH && grown("wasm") < MAX_GROWTH, JSON.stringify(steady));
  assert.deepEqual(problems, []);
}

export const memory = { name: "memory stays flat", run: memoryStaysFlat };
