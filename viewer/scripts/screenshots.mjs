// Screenshots of the page for docs/page: node scripts/screenshots.mjs [FOLDER]
import { mkdirSync } from "node:fs";
import path from "node:path";
import { data, drop, haveData, jointOnScreen, launch, openPage, root, serve, untilSimulated } from "../tests/browser.mjs";

const folder = process.argv[2] ?? path.join(root, "docs", "page");
mkdirSync(folder, { recursive: true });
const server = await serve();
const browser = await launch();
const size = { width: 1280, height: 800 };

async function shoot(name, dark, act) {
  const { page, problems } = await openPage(browser.context, server.url, { size, dark });
  await untilSimulated(page);
  await page.locator("#hint button").click();
  await act(page);
  await sharpen(page);
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  if (problems.length > 0) console.log(name, problems);
  await page.close();
}

/** Pauses a clip at a time, after the tissue has settled. */
async function at(page, clip, time) {
  await page.selectOption("#clip", { label: clip });
  const until = async (steps) => {
    const from = await page.evaluate(() => window.supple.readout.newest.steps);
    await page.waitForFunction((to) => window.supple.readout.newest.steps >= to, from + steps, { timeout: 120_000 });
  };
  await page.click("#play");
  await page.evaluate((time) => window.supple.simulation.order({ type: "seek", time }), time - 0.15);
  await until(45);
  await page.evaluate((time) => window.supple.simulation.order({ type: "seek", time }), time);
  await until(5);
}

/** Full resolution, which a slow machine would reduce. */
const sharpen = async (page) => {
  await page.evaluate(() => {
    window.supple.adaptResolution = () => {};
    window.supple.scene.scaleResolution(10);
  });
  await page.waitForTimeout(1500);
};

const key = async (page, name) => {
  await page.locator("#view").focus();
  await page.keyboard.press(name);
};

await shoot("play", true, (page) => at(page, "jump", 0.6));
await shoot("compare", false, async (page) => {
  await key(page, "d");
  await at(page, "squat", 1.2);
  await page.waitForTimeout(500);
});
await shoot("inside", true, async (page) => {
  await key(page, "v");
  await key(page, "t");
  await at(page, "sit", 1.2);
  await page.waitForTimeout(800);
});
await shoot("touch", false, async (page) => {
  await page.selectOption("#clip", { label: "rest pose" });
  await page.getByRole("tab", { name: "Tissue" }).click();
  await page.waitForTimeout(1500);
  const at = await page.evaluate(() => {
    const { supple } = window;
    return supple.tools.onScreen(supple.scene.camera.position.clone().set(0.05, 0.57 * supple.tools.height, 0.1)).toArray();
  });
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] + 48, at[1] - 12, { steps: 8 });
  await page.waitForTimeout(2500);
});
await shoot("pose", true, async (page) => {
  await page.selectOption("#clip", { label: "rest pose" });
  await key(page, "2");
  await page.waitForTimeout(1500);
  const at = await jointOnScreen(page, "(wrist|hand).*(L$|left)");
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] - 30, at[1] - 140, { steps: 8 });
  await page.mouse.up();
  await page.mouse.move(300, 700);
  await page.waitForTimeout(2500);
});
if (haveData) {
  const { page } = await openPage(browser.context, server.url, { size, dark: true });
  await page.waitForFunction(() => window.supple?.firstMovement);
  await page.locator("#hint button").click();
  await drop(page, [path.join(data, "fps", "male", "male_LR20.off")]);
  await page.getByRole("button", { name: "Fit a humanoid" }).click();
  await page.locator("#page-rig .joints li").nth(12).waitFor();
  await page.evaluate(() => document.querySelectorAll(".message").forEach((box) => box.remove()));
  await sharpen(page);
  await page.screenshot({ path: path.join(folder, "rig.png") });
}
await browser.close();
server.close();
process.exit(0);
