// What a run of the tests says of itself.

/** Tests that need data which is not there. */
export function skipped(tests, haveData) {
  return haveData ? [] : tests.filter(({ needsData }) => needsData);
}

/** The last lines of a run: what passed, what failed, and what was not run and why. */
export function summary(tests, left, failed, data) {
  const passed = tests.length - left.length - failed.length;
  const lines = [`${passed} of ${tests.length} page tests passed`];
  if (failed.length > 0) lines.push(`${failed.length} failed: ${failed.join("; ")}`);
  if (left.length > 0) lines.push(`${left.length} skipped, because ${data} was not found: ${left.map(({ name }) => name).join("; ")}`);
  return lines.join("\n");
}
