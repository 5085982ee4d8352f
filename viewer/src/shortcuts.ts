// Keyboard shortcuts and their help dialog.
import { byId, button, make } from "./dom";

export interface Shortcut {
  keys: string[];
  text: string;
  run: (event: KeyboardEvent) => void;
}

export function listen(shortcuts: Shortcut[]): void {
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typing = isTyping(target);
    const pressing = event.key === "Enter" && target.matches("button, summary, input");
    // The space bar plays and pauses whatever has the focus, so Enter ticks boxes.
    if (pressing && target.matches("input[type=checkbox]")) target.click();
    // Lists keep the arrow keys; everything else is a shortcut there too.
    const sliding = event.key.startsWith("Arrow") && target.matches("input, select, [role=radio], [role=tab], [role=slider]");
    if (typing || pressing || sliding || event.altKey) return;
    const name = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.shiftKey && event.key.length > 1 ? "Shift+" : ""}${event.key}`;
    const wanted = event.ctrlKey && event.shiftKey ? `Ctrl+Shift+${event.key}` : name;
    const found = shortcuts.find(({ keys }) => keys.some((key) => key.toLowerCase() === wanted.toLowerCase()));
    if (!found) return;
    event.preventDefault();
    if (event.repeat && event.key === " ") return;
    found.run(event);
  });
  // Some browsers press a button when the key is released.
  addEventListener("keyup", (event) => {
    if (event.key === " " && !isTyping(event.target as HTMLElement)) event.preventDefault();
  });
}

/** Whether keys are text, or belong to a dialog. */
function isTyping(target: HTMLElement): boolean {
  return target.matches("input:is([type=text], [type=number]), textarea, dialog *");
}

export function help(shortcuts: Shortcut[]): void {
  const dialog = byId<HTMLDialogElement>("help");
  const list = make("dl");
  list.append(make("dt", {}, "drag"), make("dd", { textContent: "on the character: use the tool; elsewhere: rotate the view" }));
  list.append(make("dt", {}, "right drag, two fingers"), make("dd", { textContent: "move the view; two fingers also zoom" }));
  list.append(make("dt", {}, "wheel, pinch"), make("dd", { textContent: "zoom; with the poke tool: size of the ball" }));
  for (const { keys, text } of shortcuts) {
    const shown = keys.slice(0, 2).map((key) => make("kbd", { textContent: key === " " ? "space" : key }));
    const names = shown.flatMap((key, index) => (index > 0 ? [" ", key] : [key]));
    list.append(make("dt", {}, ...names), make("dd", { textContent: text }));
  }
  const close = button("Close", () => dialog.close(), "", true);
  dialog.replaceChildren(make("h2", { textContent: "Mouse, touch and keyboard" }), list, close);
  dialog.showModal();
  // The focused button would scroll the list to its end.
  dialog.scrollTop = 0;
}
