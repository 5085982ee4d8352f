// Runs the Khronos glTF validator on files: node scripts/validate-gltf.mjs FILE...
//
// Requires `npm install gltf-validator` in any folder; set GLTF_VALIDATOR_MODULES to its node_modules unless that is in
// the current folder. Exit status 1 on any error; --json prints all messages.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

const modules = process.env.GLTF_VALIDATOR_MODULES ?? path.join(process.cwd(), "node_modules");
const validator = createRequire(path.join(path.resolve(modules), "x.js"))("gltf-validator");

const args = process.argv.slice(2);
const json = args.includes("--json");
let failed = false;
for (const file of args.filter((arg) => arg !== "--json")) {
  const bytes = new Uint8Array(await readFile(file));
  const folder = path.dirname(file);
  const report = await validator.validateBytes(bytes, {
    maxIssues: 0,
    externalResourceFunction: async (uri) => new Uint8Array(await readFile(path.join(folder, decodeURIComponent(uri)))),
  });
  const { numErrors, numWarnings, messages } = report.issues;
  failed ||= numErrors > 0;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings`);
  const counts = new Map();
  for (const message of messages) {
    if (json) console.log(JSON.stringify(message));
    const key = `${["error", "warning", "info", "hint"][message.severity]} ${message.code}`;
    if (!counts.has(key)) counts.set(key, { count: 0, message });
    counts.get(key).count += 1;
  }
  for (const [key, { count, message }] of counts) {
    if (message.severity < 2) console.log(`  ${count} × ${key}: ${message.message} (${message.pointer ?? ""})`);
  }
}
process.exit(failed ? 1 : 0);
