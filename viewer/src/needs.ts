// What a browser must have.

/** A module with one SIMD instruction: `i8x16.splat`. */
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Said where no [drawing](./drawing.ts) opens. */
export const NO_WEBGL = "This browser offers no WebGL 2. Check that hardware acceleration is on, or use another browser.";

/** What is missing, in words; null where all is there. */
export function missing(): string | null {
  if (typeof WebAssembly !== "object") {
    return "This browser has no WebAssembly. Any browser of the last years has it; it may be switched off by a policy.";
  }
  if (!WebAssembly.validate(SIMD)) {
    return "This browser has no WebAssembly SIMD. Chrome 91, Firefox 89, Safari 16.4 and newer have it.";
  }
  return null;
}
