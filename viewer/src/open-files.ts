// Opens files from the dialog, from drag and drop, or from the local server.
import type { App, Start } from "./app";
import { byId } from "./dom";
import { showMessage } from "./messages";
import type { DroppedFile } from "./protocol";
import { Cancelled } from "./simulation";

const MAX_FILE_SIZE = 512 * 1024 * 1024;

async function read(files: Iterable<File>): Promise<DroppedFile[]> {
  const all = [...files];
  const large = all.find((file) => file.size > MAX_FILE_SIZE);
  if (large) throw new Error(`${large.name} is larger than 512 MB, the limit for this page`);
  return Promise.all(all.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
}

export function listenForFiles(app: App): { open: () => void } {
  const field = byId<HTMLInputElement>("file");
  const bodies = byId<HTMLSelectElement>("bodies");
  const overlay = byId("drop");
  const opened = async (files: Iterable<File>): Promise<void> => {
    let name = "";
    try {
      const list = await read(files);
      if (list.length === 0) return;
      name = list.map((file) => file.name).join(", ");
      await app.openFiles(list);
    } catch (error) {
      if (error instanceof Cancelled) return;
      const { message } = error as Error;
      showMessage(name && !message.startsWith(name) ? `${name}: ${message}` : message, "bad");
    }
  };
  field.onchange = () => {
    if (field.files) void opened(field.files).then(() => (field.value = ""));
  };
  bodies.onchange = () => {
    const name = bodies.value === "female" ? "female" : "male";
    app.openEmbedded(name).catch((error: unknown) => showMessage((error as Error).message, "bad"));
  };
  app.onOpened.push(() => (bodies.value = app.embedded ?? ""));
  let depth = 0;
  addEventListener("dragenter", (event) => {
    event.preventDefault();
    depth += 1;
    overlay.classList.add("over");
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("dragleave", () => {
    depth -= 1;
    if (depth <= 0) overlay.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    overlay.classList.remove("over");
    if (event.dataTransfer) void opened(event.dataTransfer.files);
  });
  const open = (): void => field.click();
  byId("open").onclick = open;
  return { open };
}

/** The file given to `supple view FILE`, from the page's address. */
export function namedFile(): string | null {
  return new URLSearchParams(location.search).get("file");
}

export async function openNamed(app: App, name: string, start: Start): Promise<void> {
  const answer = await fetch(`./file/${encodeURIComponent(name)}`);
  if (!answer.ok) throw new Error(`${name}: ${(await answer.text()) || answer.statusText}`);
  const shown = answer.headers.get("x-supple-name") ?? name;
  await app.openFiles([{ name: decodeURIComponent(shown), bytes: new Uint8Array(await answer.arrayBuffer()) }], start);
}
