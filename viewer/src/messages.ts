// Non-blocking messages.
import { button, byId, make } from "./dom";

type Kind = "plain" | "good" | "bad";
const DURATIONS = { plain: 6000, good: 5000, bad: 14000 } as const;

/** A button on a message, which closes it. */
export interface MessageAction {
  label: string;
  run: () => void;
}

export interface Message {
  /** Shows a progress bar with a share from 0 to 1; with null, one without a known share. */
  update(text: string, share?: number | null): void;
  close(): void;
}

/** What closes each message that is not of a running task. */
const closers = new Set<() => void>();

/** Closes all messages but those of tasks that still run. */
export function clearMessages(): void {
  for (const close of [...closers]) close();
}

/** Shows a message; with `duration` null it stays until it is closed. */
export function showMessage(text: string, kind: Kind = "plain", duration: number | null = DURATIONS[kind], action?: MessageAction): Message {
  const words = make("span", { textContent: text });
  const progress = make("progress", { max: 1, hidden: true });
  progress.setAttribute("aria-label", text);
  const box = make("div", { className: `message ${kind}` }, words, progress);
  const close = (): void => {
    box.remove();
    closers.delete(close);
  };
  if (action) {
    box.append(
      button(action.label, () => {
        close();
        action.run();
      }),
    );
  }
  const dismiss = make("button", { type: "button", textContent: "✕", className: "dismiss", onclick: close });
  dismiss.setAttribute("aria-label", "Dismiss");
  if (duration !== null) {
    box.append(dismiss);
    closers.add(close);
    setTimeout(close, duration);
  }
  const place = byId("messages");
  while (place.childElementCount > 3) place.firstElementChild?.remove();
  place.append(box);
  return {
    update(next, share) {
      words.textContent = next;
      progress.hidden = share === undefined;
      if (share === null) progress.removeAttribute("value");
      else if (share !== undefined) progress.value = share;
    },
    close,
  };
}

/** Shows progress of a long task with a cancel button; nothing if it ends within `delay` [ms]. */
export function showProgress(text: string, cancel: () => void, delay = 500): Message {
  let note: Message | null = null;
  let newest: [string, number | null] = [text, null];
  const timer = setTimeout(() => {
    note = showMessage(text, "plain", null, { label: "Cancel", run: cancel });
    note.update(...newest);
  }, delay);
  return {
    update(next, share = null) {
      newest = [next, share];
      note?.update(next, share);
    },
    close() {
      clearTimeout(timer);
      note?.close();
    },
  };
}

/** A library's message as the beginning of a sentence. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shown instead of the page after a fatal error. */
export function fatal(title: string, text: string): void {
  const box = make("div", { className: "fatal" }, make("h2", { textContent: title }), make("p", { textContent: text }));
  box.setAttribute("role", "alert");
  byId("app").append(box);
}
