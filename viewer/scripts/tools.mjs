// What the build and the tests need beyond Node: packages, the WebAssembly target of Rust, a browser.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const viewer = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const run = (program, args) => execFileSync(program, args, { cwd: viewer, stdio: "inherit", shell: process.platform === "win32" });
const ask = (program, args) => execFileSync(program, args, { stdio: ["ignore", "pipe", "ignore"] }).toString().trim();

export const TARGET = "wasm32-unknown-unknown";

/** Packages that the build needs, and those that the tests need too. */
export const PACKAGES = { build: ["three", "vite", "typescript"], test: ["three", "vite", "typescript", "playwright-core", "gltf-validator"] };

/** Installs the packages of package.json unless all are there. */
export function installPackages(packages, { folder = viewer, install = () => run("npm", ["install", "--no-audit", "--no-fund"]) } = {}) {
  const missing = packages.filter((name) => !existsSync(path.join(folder, "node_modules", name)));
  if (missing.length === 0) return false;
  console.log(`installing packages (${missing.join(", ")})`);
  try {
    install();
  } catch {
    throw new Error(`npm could not install ${missing.join(", ")}: run \`npm install\` in ${folder}, with a network, then this again`);
  }
  return true;
}

/** Adds the WebAssembly target to the Rust toolchain where it is missing, or says how to. */
export function addWasmTarget({
  sysroot = () => ask("rustc", ["--print", "sysroot"]),
  add = () => run("rustup", ["target", "add", TARGET]),
} = {}) {
  let folder;
  try {
    folder = sysroot();
  } catch {
    throw new Error("Rust was not found: install it from https://rustup.rs, then run this again");
  }
  if (existsSync(path.join(folder, "lib", "rustlib", TARGET))) return false;
  console.log(`adding the Rust target ${TARGET}`);
  try {
    add();
  } catch {
    throw new Error(
      `the Rust toolchain in ${folder} has no target ${TARGET}, and rustup could not add it: ` +
        `run \`rustup target add ${TARGET}\`, or install your system's package of it (Debian: libstd-rust-dev-wasm32)`,
    );
  }
  return true;
}

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of a Chromium: $CHROMIUM, the system's, or one that Playwright has downloaded; undefined if there is none. */
export async function chromiumPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const { chromium } = await import("playwright-core");
  return [...BROWSERS, chromium.executablePath()].find((file) => existsSync(file));
}

/** Downloads a Chromium if there is none. */
export async function installChromium({
  path = chromiumPath,
  download = () => run("npx", ["playwright-core", "install", "chromium"]),
} = {}) {
  if (await path()) return false;
  console.log("downloading Chromium");
  try {
    download();
  } catch {
    throw new Error("no Chromium was found, and none could be downloaded: install one (Debian: apt-get install chromium), or set CHROMIUM to its path");
  }
  return true;
}
