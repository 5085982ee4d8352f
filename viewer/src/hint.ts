// What to do first, shown until it is read.
import { button, byId, make } from "./dom";

const KEY = "supple-hint";

export function firstHint(): void {
  const hint = byId("hint");
  if (localStorage.getItem(KEY)) return;
  const touch = matchMedia("(pointer: coarse)").matches;
  const lines = touch
    ? ["Drag the body to pull its tissue.", "Drag beside it to turn the view; two fingers zoom.", "“Open…” shows your own character."]
    : ["Drag the body to pull its tissue.", "Drag beside it to turn the view; the wheel zooms.", "Drop your own character anywhere."];
  const close = (): void => {
    hint.hidden = true;
    localStorage.setItem(KEY, "read");
  };
  hint.replaceChildren(make("ul", {}, ...lines.map((textContent) => make("li", { textContent }))), button("Got it", close, "Do not show this again", true));
  hint.hidden = false;
}
