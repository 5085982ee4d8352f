// Runs the page's tests: node tests/run.mjs [part of a test name …]; "bench" runs only the benchmark.
import { data, launch, serve, haveData } from "./browser.mjs";
import { skipped, summary } from "./report.mjs";
import { tests as page } from "./page.test.mjs";
import { tests as pose } from "./pose.test.mjs";
import { tests as state } from "./state.test.mjs";
import { tests as screen } from "./screen.test.mjs";
import { tests as motion } from "./motion.test.mjs";
import { tests as rig } from "./rig.test.mjs";
import { tests as anatomy } from "./anatomy.test.mjs";
import { tests as person } from "./person.test.mjs";
import { bench } from "./bench.mjs";
import { memory } from "./memory.mjs";
import { tests as tools } from "./tools.test.mjs";

const wanted = process.argv.slice(2);
const all = [...page, ...pose, ...state, ...screen, ...motion, ...rig, ...anatomy, ...person, ...tools, memory, bench];
const chosen = wanted.length === 0 ? all : all.filter(({ name }) => wanted.some((part) => name.includes(part)));

const server = await serve();
const browser = await launch().catch((error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
const failed = [];
const left = skipped(chosen, haveData);
try {
  for (const test of chosen) {
    const { name, run } = test;
    if (left.includes(test)) {
      console.log(`skipped: ${name} (needs ${data})`);
      continue;
    }
    const begin = performance.now();
    try {
      await run({ context: browser.context, url: server.url });
      console.log(`ok   ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed.push(name);
      console.log(`FAIL ${name}\n${error.stack}`);
    }
    for (const page of browser.context.pages().slice(1)) await page.close();
  }
} finally {
  await browser.close();
  server.close();
}
console.log(summary(chosen, left, failed, data));
// Where everything has to be there, a skipped test is a failure.
process.exit(failed.length === 0 && (left.length === 0 || !process.env.CI) ? 0 : 1);
