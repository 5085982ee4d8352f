// Entry point: checks the browser, shows an embedded body, connects the controls.
import { App } from "./app";
import { byId } from "./dom";
import { ExportPage } from "./export-page";
import { TissuePage } from "./tissue-page";
import { ViewPage, OVERLAYS } from "./view-page";
import { fatal, showMessage } from "./messages";
import { openGlCanvas } from "./gl-canvas";
import { missingFeature, NO_WEBGL } from "./requirements";
import { listenForFiles, namedFile, openNamed } from "./open-files";
import { Panel } from "./panel";
import { RigPage } from "./rig-page";
import { help, listen, type Shortcut } from "./shortcuts";
import { Simulation } from "./simulation";
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
    { keys: ["2"], text: "tool: drag a joint", run: () => app.tools.choose("pose") },
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
    { keys: ["Ctrl+z"], text: "undo rig edit", run: () => rig.undo() },
    { keys: ["Ctrl+Shift+z", "Ctrl+y"], text: "redo rig edit", run: () => rig.redo() },
    { keys: ["Delete", "Backspace"], text: "delete the selected joint", run: () => rig.remove() },
    { keys: ["Ctrl+s"], text: "save a picture", run: () => void exports.picture() },
  ];
  return list;
}

async function begin(): Promise<void> {
  const lack = missingFeature();
  const simulation = lack ? null : new Simulation();
  // The worker loads the body while the canvas is set up.
  const named = namedFile();
  const embedded = named ? null : simulation?.request("embedded", { name: "male" });
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
  const panel = new Panel([view, new TissuePage(app), rig, exports]);
  const { open } = listenForFiles(app);
  app.onRigged = () => panel.openByName("View");
  app.onOpened.push(() => {
    const { description } = app;
    if (!description) return;
    const { name, vertices } = description.info;
    byId("title").textContent = `${name} · ${vertices.toLocaleString("en")} vertices · ${description.joints.length} joints`;
    if (description.bare) {
      panel.openByName("Rig");
      showMessage("This mesh has no skeleton. Fit a humanoid, or click the body to place joints.");
    }
  });
  listen(shortcuts({ app, transport, view, rig, panel, exports, open }));
  // For tests and debugging.
  Object.assign(window, { supple: app });
  try {
    if (embedded) await app.show(await embedded, "male");
    else if (named) await openNamed(app, named);
  } catch (error) {
    showMessage((error as Error).message, "bad");
    await app.openEmbedded("male");
  }
}

begin().catch((error: unknown) => fatal("Supple could not start", (error as Error).message));
