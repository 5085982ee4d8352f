// Builds crates/wasm for the browser and writes src/wasm/{supple.js, supple_bg.wasm}.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const viewer = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const root = path.dirname(viewer);
const target = path.resolve(root, process.env.CARGO_TARGET_DIR ?? "target");
const cargo = (args, env = {}) =>
  execFileSync("cargo", args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });

// Reading files is quick enough when it is small: our readers, and other people's crates.
const small = ['supple-rig', '"*"'].flatMap((crate) => ["--config", `profile.release.package.${crate}.opt-level="s"`]);
cargo(["build", "--release", "-p", "supple-wasm", "--target", "wasm32-unknown-unknown", ...small], {
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: "-C target-feature=+simd128,+bulk-memory,+nontrapping-fptoint",
  // A seventh smaller, in the same time.
  CARGO_PROFILE_RELEASE_LTO: "fat",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "1",
});
const out = path.join(viewer, "src", "wasm");
rmSync(out, { recursive: true, force: true });
const wasm = path.join(target, "wasm32-unknown-unknown", "release", "supple_wasm.wasm");
cargo(["run", "--quiet", "--manifest-path", path.join(viewer, "bindgen", "Cargo.toml"), "--", wasm, out], {
  CARGO_TARGET_DIR: path.join(target, "bindgen"),
});
