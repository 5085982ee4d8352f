// The page: checks the browser, shows the embedded body, wires the controls.
import { App } from "./app";
import { byId } from "./dom";
import { ExportPage } from "./export-page";
import { FeelPage } from "./feel-page";
import { LookPage, OVERLAYS } from "./look-page";
import { fatal, say } from "./messages";
import { openDrawing } from "./drawing";
import { missing, NO_WEBGL } from "./needs";
import { listenForFiles, namedFile, openNamed } from "./opening";
import { Panel } from "./panel";
import { RigPage } from "./rig-page";
import { help, listen, type Shortcut } from "./shortcuts";
import { Simulation } from "./simulation";
import { Transport } from "./transport";

function shortcuts(parts: {
  app: App;
  transport: Transport;
  look: LookPage;
  rig: RigPage;
  panel: Panel;
  films: ExportPage;
  open: () => void;
}): Shortcut[] {
  const { app, transport, look, rig, panel, films, open } = parts;
  const list: Shortcut[] = [
    { keys: ["?"], text: "these keys", run: () => help(list) },
    { keys: [" "], text: "play or pause", run: () => transport.toggle() },
    { keys: ["ArrowLeft", "ArrowRight"], text: "a frame back or forth", run: ({ key }) => transport.nudge(key === "ArrowLeft" ? -1 : 1) },
    { keys: ["l"], text: "repeat", run: () => transport.toggleRepeat() },
    { keys: ["1"], text: "pull the flesh", run: () => app.tools.choose("pull") },
    { keys: ["2"], text: "drag a joint", run: () => app.tools.choose("pose") },
    { keys: ["3"], text: "poke with a ball", run: () => app.tools.choose("poke") },
    { keys: ["4"], text: "only look around", run: () => app.tools.choose("look") },
    { keys: ["s"], text: "shake", run: () => app.tools.shake() },
    { keys: ["q"], text: "tissue", run: () => look.useMethod("tissue") },
    { keys: ["e"], text: "dual quaternions", run: () => look.useMethod("dqs") },
    { keys: ["r"], text: "linear blend", run: () => look.useMethod("lbs") },
    { keys: ["d"], text: "one, divider, side by side", run: () => look.nextCompare() },
    ...OVERLAYS.map(([name, label, key]) => ({ keys: [key], text: label.toLowerCase(), run: () => look.toggleOverlay(name) })),
    { keys: ["o"], text: "open a file", run: open },
    { keys: ["p"], text: "show or hide the controls on small screens", run: () => panel.toggle() },
    { keys: ["f"], text: "stand before the character", run: () => app.frame() },
    { keys: ["Ctrl+z"], text: "undo in the rig", run: () => rig.undo() },
    { keys: ["Ctrl+Shift+z", "Ctrl+y"], text: "redo in the rig", run: () => rig.redo() },
    { keys: ["Delete", "Backspace"], text: "delete the selected joint", run: () => rig.remove() },
    { keys: ["Ctrl+s"], text: "save a picture", run: () => void films.picture() },
  ];
  return list;
}

async function begin(): Promise<void> {
  const lack = missing();
  const simulation = lack ? null : new Simulation();
  // The body is made while the canvas gets ready.
  const named = namedFile();
  const embedded = named ? null : simulation?.request("embedded", { name: "male" });
  await simulation?.awake;
  const drawing = simulation && openDrawing(byId<HTMLCanvasElement>("view"));
  if (!simulation || !drawing) {
    fatal("Supple cannot run here", lack ?? NO_WEBGL);
    return;
  }
  const app = new App(simulation, drawing);
  const transport = new Transport(app);
  const look = new LookPage(app);
  const rig = new RigPage(app);
  const films = new ExportPage(app);
  const panel = new Panel([look, new FeelPage(app), rig, films]);
  const { open } = listenForFiles(app);
  app.onRigged = () => panel.openByName("Look");
  app.onOpened.push(() => {
    const { description } = app;
    if (!description) return;
    const { name, vertices } = description.info;
    byId("title").textContent = `${name} · ${vertices.toLocaleString("en")} vertices · ${description.joints.length} joints`;
    if (description.bare) {
      panel.openByName("Rig");
      say("This mesh has no skeleton yet. Fit a humanoid, or click the body to place joints.");
    }
  });
  listen(shortcuts({ app, transport, look, rig, panel, films, open }));
  // For tests and the curious.
  Object.assign(window, { supple: app });
  try {
    if (embedded) await app.show(await embedded, "male");
    else if (named) await openNamed(app, named);
  } catch (error) {
    say((error as Error).message, "bad");
    await app.openEmbedded("male");
  }
}

begin().catch((error: unknown) => fatal("Supple could not start", (error as Error).message));
