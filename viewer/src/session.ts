// What a reload keeps: the file in IndexedDB, everything else in localStorage.
import type { App, Embedded } from "./app";
import type { Compare } from "./comparison";
import { showMessage } from "./messages";
import { namedFile } from "./open-files";
import { DEFAULT_OPTIONS, type DroppedFile, type ImportOptions, type Method, type OverlayName, type Placed, type Settings } from "./protocol";

const KEY = "supple-session";
const DATABASE = "supple";
const STORE = "files";

export interface Session {
  embedded: Embedded | null;
  /** The file in the page's address, if there is one. */
  named: string | null;
  clip: number | null;
  settings: Settings | null;
  pose: number[];
  tab: string;
  tool: string;
  method: Method;
  other: Method;
  compare: Compare;
  overlays: OverlayName[];
  playing: boolean;
  speed: number;
  repeat: boolean;
}

export interface StoredFiles {
  files: DroppedFile[];
  motions: DroppedFile[];
  options: ImportOptions;
  placed: Placed[] | null;
}

/** The session before the reload, if there was one. */
export function lastSession(): Partial<Session> {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {}) as Partial<Session>;
  } catch {
    return {};
  }
}

function database(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's storage cannot be opened"));
  });
}

/** Runs one request on the store. */
async function stored<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const open = await database();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = open.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("the browser's storage is full"));
    });
  } finally {
    open.close();
  }
}

/** The files of the last session; null if there were none, or they cannot be read. */
export async function storedFiles(): Promise<StoredFiles | null> {
  return ((await stored("readonly", (store) => store.get("current") as IDBRequest<StoredFiles | undefined>).catch(() => null)) as StoredFiles | null) ?? null;
}

/** Keeps the session in the browser from now on. */
export function keepSession(app: App, tab: () => string): void {
  let keeping: Promise<unknown> = Promise.resolve();
  let told = false;
  const keepFiles = (): void => {
    const { files, motions, placed } = app;
    const entry: StoredFiles = { files: files ?? [], motions, options: app.importOptions ?? DEFAULT_OPTIONS, placed };
    keeping = keeping
      .then(() => stored("readwrite", (store) => (files || motions.length > 0 ? store.put(entry, "current") : store.delete("current")) as IDBRequest<unknown>))
      .catch(() => {
        if (!told && files) showMessage("This browser cannot keep the file: after a reload, open it again.");
        told = true;
      });
  };
  const keep = (): void => {
    const { description, settings, comparison, overlays, tools } = app;
    if (!description) return;
    const session: Session = {
      embedded: app.embedded,
      named: namedFile(),
      clip: description.clip ?? description.clips.length,
      settings,
      pose: Array.from(tools.pose.history.current),
      tab: tab(),
      tool: tools.current,
      method: app.method,
      other: app.other,
      compare: comparison.chosen,
      overlays: [...overlays.shown],
      playing: app.playing || app.pausedForPose,
      speed: app.speed,
      repeat: app.repeat,
    };
    try {
      localStorage.setItem(KEY, JSON.stringify(session));
    } catch {
      // Without storage the page starts anew after a reload.
    }
  };
  app.onClips.push(keepFiles);
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => document.hidden && keep());
}
