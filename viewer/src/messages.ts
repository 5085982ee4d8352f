// Non-blocking messages.
import { byId, make } from "./dom";

type Kind = "plain" | "good" | "bad";
const DURATIONS = { plain: 6000, good: 5000, bad: 14000 } as const;

export interface Message {
  update(text: string, share?: number): void;
  close(): void;
}

export function showMessage(text: string, kind: Kind = "plain", duration: number | null = DURATIONS[kind]): Message {
  const words = make("span", { textContent: text });
  const progress = make("progress", { max: 1, hidden: true });
  progress.setAttribute("aria-label", text);
  const box = make("div", { className: `message ${kind}` }, words, progress);
  const close = (): void => box.remove();
  const dismiss = make("button", { type: "button", textContent: "✕", onclick: close });
  dismiss.setAttribute("aria-label", "Dismiss");
  if (duration !== null) {
    box.append(dismiss);
    setTimeout(close, duration);
  }
  const place = byId("messages");
  while (place.childElementCount > 3) place.firstElementChild?.remove();
  place.append(box);
  return {
    update(next, share) {
      words.textContent = next;
      progress.hidden = share === undefined;
      if (share !== undefined) progress.value = share;
    },
    close,
  };
}

/** Shown instead of the page after a fatal error. */
export function fatal(title: string, text: string): void {
  const box = make("div", { className: "fatal" }, make("h2", { textContent: title }), make("p", { textContent: text }));
  box.setAttribute("role", "alert");
  byId("app").append(box);
}
