// Browser requirements.

/** A module with one SIMD instruction: `i8x16.splat`. */
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Message if WebGL 2 is not available. */
export const NO_WEBGL = "This browser does not provide WebGL 2. Enable hardware acceleration or use another browser.";

/** Describes the missing feature; null if nothing is missing. */
export function missingFeature(): string | null {
  if (typeof WebAssembly !== "object") {
    return "This browser does not provide WebAssembly. Update the browser, or check whether a policy disables it.";
  }
  if (!WebAssembly.validate(SIMD)) {
    return "This browser does not provide WebAssembly SIMD. Use Chrome 91, Firefox 89, Safari 16.4 or newer.";
  }
  return null;
}
