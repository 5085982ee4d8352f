// How the current file is read: up axis, unit and weights.
import type { App } from "./app";
import { check, choiceRow, heading, make } from "./dom";
import { showMessage } from "./messages";
import type { ImportOptions } from "./protocol";

const UPS = [["", "Automatic"], ["y", "Y"], ["z", "Z"]] as const;
const UNITS = [["", "Automatic"], ["m", "m"], ["cm", "cm"], ["mm", "mm"], ["in", "in"], ["ft", "ft"]] as const;

export function importOptionsBlock(app: App): HTMLElement {
  const read = (change: Partial<ImportOptions>): void => {
    app.reload(change).catch((error: unknown) => {
      showMessage((error as Error).message, "bad");
      show();
    });
  };
  const up = choiceRow("Up axis", UPS, (value) => read({ up: value }), "Which axis of the file points up");
  const unit = choiceRow("Unit", UNITS, (value) => read({ unit: value }), "Length of one unit of the file");
  const weights = check("Recompute weights", "", (on) => read({ auto_weights: on }), "Ignore the skin weights of the file and compute new ones");
  const block = make("div", {}, heading("File"), up.row, unit.row, weights.row);
  const show = (): void => {
    block.hidden = !app.files;
    up.set(app.importOptions.up);
    unit.set(app.importOptions.unit);
    weights.box.checked = app.importOptions.auto_weights;
    // A mesh without a skeleton has no weights.
    weights.row.hidden = app.description?.bare ?? true;
  };
  app.onOpened.push(show);
  show();
  return block;
}
