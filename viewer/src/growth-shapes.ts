// Shapes of a person between those that were computed: a coarse answer for sliders, at once.
import type { GrowthShapes } from "./protocol";

/** Adds the displacement of an amount [kg] to a skin, between the neighbouring shapes. */
function addAmount(skin: Float32Array, knots: number[], first: number, offsets: Float32Array, amount: number): void {
  const shapes = [...knots.map((kilograms, index) => ({ kilograms, start: (first + index) * skin.length })), { kilograms: 0, start: -1 }];
  shapes.sort((a, b) => a.kilograms - b.kilograms);
  const upper = Math.max(1, shapes.findIndex(({ kilograms }) => kilograms >= amount));
  const [a, b] = [shapes[upper - 1], shapes[upper]];
  if (!a || !b || amount === 0) return;
  const share = Math.min(1, Math.max(0, (amount - a.kilograms) / (b.kilograms - a.kilograms)));
  for (const [{ start }, weight] of [[a, 1 - share], [b, share]] as const) {
    if (start < 0 || weight === 0) continue;
    for (let k = 0; k < skin.length; k += 1) skin[k] = (skin[k] ?? 0) + weight * (offsets[start + k] ?? 0);
  }
}

/** Adds fat and muscle [kg] to a skin at rest. */
export function addShape(skin: Float32Array, { fat, muscle, offsets }: GrowthShapes, change: { fat: number; muscle: number }): void {
  addAmount(skin, fat, 0, offsets, change.fat);
  addAmount(skin, muscle, fat.length, offsets, change.muscle);
}
