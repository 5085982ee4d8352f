// Runs the page's tests: node tests/run.mjs [part of a test name …]; "bench" runs only the benchmark.
import { launch, serve, haveData } from "./browser.mjs";
import { tests as page } from "./page.test.mjs";
import { tests as pose } from "./pose.test.mjs";
import { tests as state } from "./state.test.mjs";
import { tests as screen } from "./screen.test.mjs";
import { tests as rig } from "./rig.test.mjs";
import { tests as anatomy } from "./anatomy.test.mjs";
import { tests as person } from "./person.test.mjs";
import { bench } from "./bench.mjs";
import { memory } from "./memory.mjs";
import { tools } from "./tools.test.mjs";

const wanted = process.argv.slice(2);
const all = [...page, ...pose, ...state, ...screen, ...rig, ...anatomy, ...person, tools, memory, bench];
const chosen = wanted.length === 0 ? all : all.filter(({ name }) => wanted.some((part) => name.includes(part)));

const server = await serve();
const browser = await launch();
let failed = 0;
try {
  for (const { name, needsData, run } of chosen) {
    if (needsData && !haveData) {
      console.log("skipped: ../shared/data was not found");
      failed += process.env.CI ? 1 : 0;
      continue;
    }
    const begin = performance.now();
    try {
      await run({ context: browser.context, url: server.url });
      console.log(`ok   ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
    for (const page of browser.context.pages().slice(1)) await page.close();
  }
} finally {
  await browser.close();
  server.close();
}
console.log(failed === 0 ? `${chosen.length} page tests passed` : `${failed} of ${chosen.length} page tests failed`);
process.exit(failed === 0 ? 0 : 1);
