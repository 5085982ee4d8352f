// The tools that the build installs.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { TARGET, addWasmTarget, installPackages } from "../scripts/tools.mjs";

const fail = () => {
  throw new Error("spawn ENOENT");
};

export const tools = {
  name: "missing packages and the WebAssembly target are added, or named",
  async run() {
    const folder = mkdtempSync(path.join(os.tmpdir(), "supple-tools-"));
    try {
      let added = 0;
      const sysroot = () => folder;
      assert.equal(addWasmTarget({ sysroot, add: () => (added += 1) }), true);
      assert.equal(added, 1);
      assert.throws(() => addWasmTarget({ sysroot, add: fail }), new RegExp(`rustup target add ${TARGET}`));
      assert.throws(() => addWasmTarget({ sysroot: fail }), /rustup\.rs/);
      mkdirSync(path.join(folder, "lib", "rustlib", TARGET), { recursive: true });
      assert.equal(addWasmTarget({ sysroot, add: fail }), false);

      mkdirSync(path.join(folder, "node_modules", "three"), { recursive: true });
      assert.equal(installPackages(["three"], { folder, install: fail }), false);
      assert.equal(installPackages(["three", "vite"], { folder, install: () => (added += 1) }), true);
      assert.equal(added, 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
