// The tools that the build installs.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { PACKAGES, TARGET, addWasmTarget, installChromium, installPackages } from "../scripts/tools.mjs";
import { validator } from "./browser.mjs";
import { skipped, summary } from "./report.mjs";

const fail = () => {
  throw new Error("spawn ENOENT");
};

const adds = {
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
      assert.throws(() => installPackages(["vite"], { folder, install: fail }), /could not install vite: run `npm install` in /);

      assert.equal(await installChromium({ path: async () => "/usr/bin/chromium", download: fail }), false);
      await assert.rejects(installChromium({ path: async () => undefined, download: fail }), /apt-get install chromium/);
    } finally {
      rmSync(folder, { recursive: true });
    }
    // What the tests run is among what is installed.
    assert.ok(PACKAGES.test.includes("gltf-validator") && existsSync(path.join(validator(), "gltf-validator")), "the glTF validator");
  },
};

const names = {
  name: "a run names the tests that it left out",
  run() {
    const tests = [{ name: "one" }, { name: "two", needsData: true }, { name: "three" }];
    assert.deepEqual(skipped(tests, true), []);
    const left = skipped(tests, false);
    assert.deepEqual(left, [tests[1]]);
    assert.equal(summary(tests, left, [], "/data"), "2 of 3 page tests passed\n1 skipped, because /data was not found: two");
    assert.match(summary(tests, [], ["three"], "/data"), /^2 of 3 page tests passed\n1 failed: three$/);
  },
};

export const tests = [adds, names];
