// How the file that is shown is read: what the command line has as --up, --unit and --auto-weights.
import type { App } from "./app";
import { check, choiceRow, heading, make } from "./dom";
import { say } from "./messages";
import type { Reading } from "./protocol";

const UPS = [["", "As found"], ["y", "Y"], ["z", "Z"]] as const;
const UNITS = [["", "As found"], ["m", "m"], ["cm", "cm"], ["mm", "mm"], ["in", "in"], ["ft", "ft"]] as const;

export function readingBlock(app: App): HTMLElement {
  const read = (change: Partial<Reading>): void => {
    app.readAgain(change).catch((error: unknown) => {
      say((error as Error).message, "bad");
      show();
    });
  };
  const up = choiceRow("Up axis", UPS, (value) => read({ up: value }));
  const unit = choiceRow("Unit", UNITS, (value) => read({ unit: value }));
  const weights = check("Compute weights anew", "", (on) => read({ auto_weights: on }));
  const block = make("div", {}, heading("File"), up.row, unit.row, weights.row);
  const show = (): void => {
    block.hidden = !app.files;
    up.set(app.reading.up);
    unit.set(app.reading.unit);
    weights.box.checked = app.reading.auto_weights;
    // A mesh without a skeleton has no weights to compute.
    weights.row.hidden = app.description?.bare ?? true;
  };
  app.onOpened.push(show);
  show();
  return block;
}
