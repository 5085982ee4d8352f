// Runs the page in a real browser.
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, existsSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumPath } from "../scripts/tools.mjs";

export const viewer = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const root = path.dirname(viewer);
export const data = path.join(root, "..", "shared", "data");
export const haveData = existsSync(data);

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Serves the page with `supple view` if SUPPLE_BIN is set, else the built files as a static site. */
export async function serve(file) {
  const program = process.env.SUPPLE_BIN;
  if (program) return serveWith(path.resolve(root, program), file);
  const dist = path.join(root, "crates", "view", "dist");
  const server = createServer((request, response) => {
    const name = request.url.split("?")[0].slice(1) || "index.html";
    const full = path.join(dist, name);
    if (request.method !== "GET" || !full.startsWith(dist) || !existsSync(full)) {
      response.writeHead(404).end("not found");
      return;
    }
    response.writeHead(200, { "content-type": TYPES[path.extname(full)] ?? "application/octet-stream" });
    response.end(readFileSync(full));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

async function serveWith(program, file) {
  const child = spawn(program, ["--json", "view", "--no-open", ...(file ? [file] : [])], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const match = /"url": "([^"]+)"/.exec(text);
      if (match) resolve(match[1]);
    });
    child.on("exit", (code) => reject(new Error(`supple view ended with ${code}`)));
  });
  return { url, close: () => child.kill() };
}

export async function launch() {
  const profile = mkdtempSync(path.join(os.tmpdir(), "supple-browser-"));
  const executablePath = await chromiumPath();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    acceptDownloads: true,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--enable-precise-memory-info",
      "--js-flags=--expose-gc",
    ],
  }).catch((error) => {
    throw new Error(`${executablePath} could not start: ${error.message.split("\n", 1)[0]} Install another Chromium (Debian: apt-get install chromium), or set CHROMIUM to its path`);
  });
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, close };
}

/** Opens a page as for the first time, unless `keep` is set; `problems` collects console errors. */
export async function openPage(context, url, options = {}) {
  const page = await context.newPage();
  if (options.size) await page.setViewportSize(options.size);
  if (options.dark !== undefined) await page.emulateMedia({ colorScheme: options.dark ? "dark" : "light" });
  const problems = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  if (!options.keep) {
    const session = await context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin: new URL(url).origin, storageTypes: "local_storage,indexeddb" });
  }
  // Background tabs are not rendered.
  await page.bringToFront();
  await page.goto(url);
  return { page, problems };
}

/** Waits until tissue is built and simulated. */
export async function untilSimulated(page, timeout = 60_000) {
  await page.waitForFunction(
    () => window.supple?.simulated === true && (window.supple.readout.newest?.steps ?? 0) > 3,
    null,
    { timeout },
  );
}

/** Drops files on the page. */
export async function drop(page, files) {
  const list = files.map((file) => ({ name: path.basename(file), base64: readFileSync(file).toString("base64") }));
  await dropBytes(page, list);
}

export async function dropBytes(page, list) {
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    for (const type of ["dragenter", "dragover", "drop"]) {
      window.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
  }, list);
}

/** Runs `act` and returns the path of the file that the page saves. */
export async function download(page, act) {
  const [file] = await Promise.all([page.waitForEvent("download", { timeout: 180_000 }), act()]);
  const folder = mkdtempSync(path.join(os.tmpdir(), "supple-download-"));
  const target = path.join(folder, file.suggestedFilename());
  await file.saveAs(target);
  return target;
}

/** Current positions of the skin. */
export async function skin(page) {
  return page.evaluate(() => Array.from(window.supple.bodies[0].positions.array));
}

/** Largest distance between vertices of two skins [m]. */
export function farthest(a, b) {
  let most = 0;
  for (let k = 0; k + 2 < a.length; k += 3) {
    most = Math.max(most, Math.hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2]));
  }
  return most;
}

export function run(program, args, env = {}) {
  return execFileSync(program, args, { cwd: root, encoding: "utf8", env: { ...process.env, ...env } });
}

/** Waits for an amount of simulated time. */
export async function pass(page, seconds) {
  const until = (await page.evaluate(() => window.supple.readout.newest.steps)) + 60 * seconds;
  await page.waitForFunction((until) => window.supple.readout.newest.steps >= until, until, { timeout: 120_000 });
}

/** Waits in the rest pose. */
export async function stand(page) {
  await page.selectOption("#clip", { label: "rest pose" });
  await pass(page, 1.5);
}

/** Where a joint is on the screen [px]. */
export function jointOnScreen(page, pattern) {
  return page.evaluate((source) => {
    const { supple } = window;
    const joint = supple.description.joints.findIndex(({ name }) => new RegExp(source, "i").test(name));
    const place = supple.scene.camera.position.clone().fromArray(supple.jointPositions, 3 * joint);
    return supple.tools.onScreen(place).toArray();
  }, pattern);
}

/** Where a point of the world is on the screen [px]. */
export function onScreen(page, point) {
  return page.evaluate((point) => {
    const { supple } = window;
    return supple.tools.onScreen(supple.scene.camera.position.clone().fromArray(point)).toArray();
  }, point);
}

/** A text as a file to drop. */
export function textFile(name, text) {
  return { name, base64: Buffer.from(text).toString("base64") };
}

export const female = path.join(root, "crates", "supple", "assets", "female.glb");

export function validator() {
  return process.env.GLTF_VALIDATOR_MODULES ?? path.join(viewer, "node_modules");
}

/** A tube of 2 m that stands on its end, as OFF. */
export function tube(around, along) {
  const lines = [`OFF\n${around * along} ${2 * around * (along - 1)} 0`];
  for (let k = 0; k < along; k += 1) {
    for (let i = 0; i < around; i += 1) {
      const angle = (2 * Math.PI * i) / around;
      lines.push(`${(0.2 * Math.cos(angle)).toFixed(5)} ${((2 * k) / (along - 1)).toFixed(5)} ${(0.2 * Math.sin(angle)).toFixed(5)}`);
    }
  }
  for (let k = 0; k + 1 < along; k += 1) {
    for (let i = 0; i < around; i += 1) {
      const [a, b] = [k * around + i, k * around + ((i + 1) % around)];
      lines.push(`3 ${a} ${a + around} ${b}`, `3 ${b} ${a + around} ${b + around}`);
    }
  }
  return lines.join("\n");
}
