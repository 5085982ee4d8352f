// Entry point: checks the browser, shows an embedded body, connects the controls.
import { App, type Start } from "./app";
import { AnatomyPage } from "./anatomy-page";
import { byId } from "./dom";
import { ExportPage } from "./export-page";
import { TissuePage } from "./tissue-page";
import { ViewPage, OVERLAYS } from "./view-page";
import { fatal, showMessage } from "./messages";
import { openGlCanvas } from "./gl-canvas";
import { missingFeature, NO_WEBGL } from "./requirements";
import { firstHint } from "./hint";
import { listenForFiles, namedFile, openNamed } from "./open-files";
import { Panel } from "./panel";
import type { Opened } from "./protocol";
import { RigPage } from "./rig-page";
import { keepSession, lastSession, storedFiles, type Session } from "./session";
import { help, listen, type Shortcut } from "./shortcuts";
import { Simulation } from "./simulation";
import type { ToolName } from "./tools";
import { Transport } from "./transport";

function shortcuts(parts: {
  app: App;
  transport: Transport;
  view: ViewPage;
  rig: RigPage;
  panel: Panel;
  exports: ExportPage;
  open: () => void;
}): Shortcut[] {
  const { app, transport, view, rig, panel, exports, open } = parts;
  const list: Shortcut[] = [
    { keys: ["?"], text: "show this list", run: () => help(list) },
    { keys: [" "], text: "play or pause", run: () => transport.toggle() },
    { keys: ["ArrowLeft", "ArrowRight"], text: "previous or next frame", run: ({ key }) => transport.nudge(key === "ArrowLeft" ? -1 : 1) },
    { keys: ["l"], text: "repeat", run: () => transport.toggleRepeat() },
    { keys: ["1"], text: "tool: pull the tissue", run: () => app.tools.choose("pull") },
    { keys: ["2"], text: "tool: pose with joints", run: () => app.tools.choose("pose") },
    { keys: ["3"], text: "tool: poke with a ball", run: () => app.tools.choose("poke") },
    { keys: ["4"], text: "tool: rotate the view only", run: () => app.tools.choose("look") },
    { keys: ["s"], text: "shake", run: () => app.tools.shake() },
    { keys: ["q"], text: "method: tissue", run: () => view.useMethod("tissue") },
    { keys: ["e"], text: "method: dual quaternions", run: () => view.useMethod("dqs") },
    { keys: ["r"], text: "method: linear blend", run: () => view.useMethod("lbs") },
    { keys: ["d"], text: "compare: one, divider, side by side", run: () => view.nextCompare() },
    ...OVERLAYS.map(([name, label, key]) => ({ keys: [key], text: label.toLowerCase(), run: () => view.toggleOverlay(name) })),
    { keys: ["o"], text: "open a file", run: open },
    { keys: ["p"], text: "show or hide the controls (small screens)", run: () => panel.toggle() },
    { keys: ["f"], text: "reset the view", run: () => app.resetView() },
    { keys: ["Ctrl+z"], text: "undo: pose or skeleton", run: () => (rig.open ? rig.undo() : app.tools.pose.undo()) },
    { keys: ["Ctrl+Shift+z", "Ctrl+y"], text: "redo: pose or skeleton", run: () => (rig.open ? rig.redo() : app.tools.pose.redo()) },
    { keys: ["Delete", "Backspace"], text: "delete the selected joint", run: () => rig.remove() },
    { keys: ["Ctrl+s"], text: "save a picture", run: () => void exports.picture() },
  ];
  return list;
}

/** Sets what does not belong to one character as it was before the reload. */
function restoreView(app: App, transport: Transport, view: ViewPage, last: Partial<Session>): void {
  app.playing = last.playing ?? true;
  app.speed = last.speed ?? 1;
  app.repeat = last.repeat ?? true;
  app.applyPlay();
  transport.show();
  if (last.method) view.useMethod(last.method);
  if (last.other) view.useOther(last.other);
  if (last.compare) view.useCompare(last.compare);
  for (const name of last.overlays ?? []) view.overlay(name, true);
  if (last.tool) app.tools.choose(last.tool as ToolName);
}

/** What belongs to the character of the last session. */
function startOf(last: Partial<Session>): Start {
  return {
    ...(last.settings ? { settings: last.settings } : {}),
    ...(typeof last.clip === "number" ? { clip: last.clip } : {}),
    ...(last.pose ? { pose: new Float32Array(last.pose) } : {}),
  };
}

/** Opens the first character: the named file, that of the last session, or an embedded body. */
async function openFirst(app: App, named: string | null, last: Partial<Session>, embedded: Promise<Opened> | null): Promise<void> {
  const kept = await storedFiles();
  const start = (last.named ?? null) === named ? { ...startOf(last), motions: kept?.motions ?? [] } : {};
  if (named) {
    await openNamed(app, named, start);
  } else if (embedded) {
    await app.show(await embedded, { ...start, embedded: last.embedded ?? "male" });
  } else if (kept && kept.files.length > 0) {
    await app.restore(kept.files, kept.options, kept.placed, start);
  } else {
    await app.openEmbedded("male");
    showMessage("The browser did not keep the file: open it again.");
  }
}

async function begin(): Promise<void> {
  const lack = missingFeature();
  const simulation = lack ? null : new Simulation();
  const last = lastSession();
  // The worker loads the body while the canvas is set up.
  const named = namedFile();
  const own = last.embedded === null;
  const embedded = named || own ? null : (simulation?.request("embedded", { name: last.embedded ?? "male" }) ?? null);
  await simulation?.ready;
  const glCanvas = simulation && openGlCanvas(byId<HTMLCanvasElement>("view"));
  if (!simulation || !glCanvas) {
    fatal("Supple cannot run here", lack ?? NO_WEBGL);
    return;
  }
  const app = new App(simulation, glCanvas);
  const transport = new Transport(app);
  const view = new ViewPage(app);
  const rig = new RigPage(app);
  const exports = new ExportPage(app);
  rig.onEdit = (on) => transport.lock(on);
  const anatomy = new AnatomyPage(app);
  const panel = new Panel([view, new TissuePage(app), anatomy, rig, exports]);
  const { open } = listenForFiles(app);
  anatomy.onPerson = () => panel.openByName("Anatomy");
  app.onNew = () => {
    if (panel.name === "Rig") panel.open("View");
  };
  app.onRigged = () => panel.openByName("View");
  app.onImportOptions = () => panel.openByName("Rig");
  anatomy.onPicture = () => void exports.picture();
  app.tools.pose.onExport = () => panel.openByName("Export");
  app.onOpened.push(() => {
    const { description } = app;
    if (!description) return;
    const { name, vertices } = description.info;
    byId("title").textContent = `${name} · ${vertices.toLocaleString("en")} vertices · ${description.joints.length} joints`;
    const scan = description.scan ? app.scan : null;
    const inside = scan && { label: "See inside", run: () => anatomy.seeInside(scan) };
    if (description.bare) {
      panel.openByName("Rig");
      const text = description.info.triangles > 0 ? "This mesh has no skeleton. Fit a humanoid, or click the body to place joints." : "These are points without a surface.";
      showMessage(inside ? `${text} If it is a scan of a person, see the muscles and bones inside.` : text, "plain", inside ? 20_000 : undefined, inside || undefined);
    } else if (inside) {
      showMessage("The file has no skeleton: one was fitted. See the muscles and bones inside?", "plain", 20_000, inside);
    }
  });
  const list = shortcuts({ app, transport, view, rig, panel, exports, open });
  listen(list);
  byId("help-button").onclick = () => help(list);
  restoreView(app, transport, view, last);
  // For tests and debugging.
  Object.assign(window, { supple: app });
  try {
    await openFirst(app, named, last, embedded);
    if (last.tab && (last.named ?? null) === named) panel.open(last.tab);
  } catch (error) {
    await app.openEmbedded("male");
    showMessage((error as Error).message, "bad");
  }
  keepSession(app, () => panel.name);
  firstHint();
}

begin().catch((error: unknown) => fatal("Supple could not start", (error as Error).message));
