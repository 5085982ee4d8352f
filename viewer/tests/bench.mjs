// Benchmark of the page: steps and frames per second, step time relative to the native one, download size, start-up time.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, existsSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { openPage, root, run, untilSimulated } from "./browser.mjs";

const SECONDS = Number(process.env.SUPPLE_BENCH_SECONDS ?? 8);
/** The limits apply to an idle machine: set SUPPLE_BENCH_CHECK=1 to enforce them. */
const CHECK = process.env.SUPPLE_BENCH_CHECK === "1";

/** Anatomy is fetched when its tab is opened, not when the page starts. */
const FETCHED_LATER = /\.(template|bin)$/;

function compressedSize() {
  let [gzip, brotli] = [0, 0];
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const full = path.join(folder, entry.name);
      if (entry.isDirectory()) walk(full);
      else if (!FETCHED_LATER.test(entry.name)) {
        const bytes = readFileSync(full);
        gzip += gzipSync(bytes, { level: 9 }).length;
        brotli += brotliCompressSync(bytes).length;
      }
    }
  };
  walk(path.join(root, "crates", "view", "dist"));
  return { gzip: gzip / 1e6, brotli: brotli / 1e6 };
}

function nativeStep() {
  const program = path.join(root, "target", "release", "examples", "native_step");
  if (!existsSync(program)) return null;
  return Number(run(program, ["60"], { RAYON_NUM_THREADS: "1" }));
}

async function measure({ context, url }) {
  const { page } = await openPage(context, url, { size: { width: 800, height: 600 } });
  await page.waitForFunction(() => window.supple?.firstMovement, null, { timeout: 120_000 });
  await untilSimulated(page);
  await page.waitForTimeout(3000);
  const counts = () =>
    page.evaluate(() => ({ at: performance.now(), frames: window.supple.scene.renderer.info.render.frame, steps: window.supple.readout.newest.steps }));
  const [before] = [await counts(), await page.waitForTimeout(1000 * SECONDS)];
  const after = await counts();
  const seconds = (after.at - before.at) / 1000;
  const { firstMovement, tets } = await page.evaluate(() => ({ firstMovement: window.supple.firstMovement, tets: window.supple.report?.tets ?? 0 }));
  const wasmStep = (await page.evaluate(() => window.supple.simulation.request("benchmark", { steps: 60 }))).stepMs;
  // The page is closed, so that the native step has the machine to itself.
  await page.goto("about:blank");
  const native = nativeStep();
  const figures = {
    tets,
    stepsPerSecond: (after.steps - before.steps) / seconds,
    framesPerSecond: (after.frames - before.frames) / seconds,
    wasmStepMs: wasmStep,
    nativeStepMs: native,
    ratio: native ? wasmStep / native : null,
    firstMovementMs: firstMovement,
    sizeMB: compressedSize(),
  };
  console.log(JSON.stringify(figures, null, 2));
  assert.ok(figures.sizeMB.gzip <= 3.3, "the page needs more than 3.3 MB to start");
  if (!CHECK) return;
  assert.ok(figures.stepsPerSecond >= 45, "fewer than 45 steps per second");
  assert.ok(figures.framesPerSecond >= 15, "fewer than 15 frames per second");
  assert.ok(figures.ratio === null || figures.ratio <= 3, "more than three times the native step time");
  assert.ok(figures.firstMovementMs <= 2000, "the first movement takes more than 2 s");
}

export const bench = { name: "bench", run: measure };
