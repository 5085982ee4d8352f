// Installs what a script of package.json needs: node scripts/prepare.mjs [build | test].
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { PACKAGES, addWasmTarget, installChromium, installPackages } from "./tools.mjs";

const viewer = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
try {
  const purpose = process.argv[2] === "test" ? "test" : "build";
  installPackages(PACKAGES[purpose]);
  if (purpose === "test") {
    await installChromium();
    const page = path.join(viewer, "..", "crates", "view", "dist", "index.html");
    if (!existsSync(page)) execFileSync("npm", ["run", "build"], { cwd: viewer, stdio: "inherit", shell: process.platform === "win32" });
  } else {
    addWasmTarget();
  }
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(1);
}
