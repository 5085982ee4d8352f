// The simulation thread: owns the WebAssembly module, steps it in real time, and sends frames when buffers are free.
import init, {
  Files,
  PageAnatomy,
  PageScan,
  PageShapes,
  PageStage,
  default_settings,
  grown_file,
  provide_space,
  refitted_person,
  settings_from_toml,
  settings_to_toml,
  type InitOutput,
} from "./wasm/supple.js";
import {
  ANATOMY_LAYERS,
  METHODS,
  type AnatomyArrays,
  type AnatomyDescription,
  type AnatomyLayer,
  type Description,
  type DroppedFile,
  type FromWorker,
  type Method,
  type Opened,
  type Order,
  type OverlayName,
  type Overlays,
  type Readout,
  type RequestName,
  type Requests,
  type Settings,
  type Sex,
  type SlotBuffers,
  type ToWorker,
} from "./protocol";
import address from "./wasm/supple_bg.wasm?url";

const STEP = 1 / 60;
/** Largest backlog on a slow machine [s]; beyond it, playback slows down. */
const MAX_BACKLOG = 2 * STEP;
/** Interval between volume measurements [steps]: one measurement costs a tenth of a step. */
const MEASURE_INTERVAL = 12;
/** Number of frame buffers: one shown and one waiting. More frames would be computed without being shown. */
const MAX_BUFFERS = 2;

let wasm: InitOutput;
let stage: PageStage | null = null;
let scan: PageScan | null = null;
let built = false;
let started = false;
let playing = true;
let speed = 1;
let repeat = true;
let unlimited = false;
let methods: { left: Method; right: Method | null } = { left: "tissue", right: null };
let overlays = new Set<OverlayName>();
let freshOverlays = new Set<OverlayName>();
let freeBuffers: SlotBuffers[][] = [];
let allocated = 0;
let last = 0;
let backlog = 0;
const readout: Readout = { steps: 0, solveMs: 0, skinMs: 0, volumeKept: 1, contacts: 0, inverted: 0 };

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

function described(stage: PageStage): Description {
  return JSON.parse(stage.describe()) as Description;
}

function openStage(next: PageStage): Opened {
  const description = described(next);
  stage?.free();
  stage = next;
  built = false;
  freeBuffers = [];
  allocated = 0;
  freshOverlays = new Set(overlays);
  return {
    description,
    triangles: next.triangles(),
    uvs: next.uvs(),
    images: description.materials.map((material, index) => (material.image ? next.image(index) : null)),
    settings: JSON.parse(settings_from_toml(default_settings())) as Settings,
  };
}

function fileSet(files: DroppedFile[]): Files {
  const set = new Files();
  for (const file of files) set.add(file.name, file.bytes);
  return set;
}

function readAnatomy(bytes: Uint8Array | null): Requests["anatomy"]["answer"] {
  const anatomy = bytes ? PageAnatomy.read(bytes) : current().anatomy();
  if (!anatomy) throw new Error("the character has no layers");
  const arrays = (layer: AnatomyLayer): AnatomyArrays => {
    anatomy.make(layer);
    return {
      positions: anatomy.positions(),
      normals: anatomy.normals(),
      triangles: anatomy.triangles(),
      joints: anatomy.joints(),
      weights: anatomy.weights(),
      parts: anatomy.parts(),
      tendon: anatomy.tendon(),
    };
  };
  const layers = Object.fromEntries(ANATOMY_LAYERS.map((layer) => [layer, arrays(layer)])) as Record<AnatomyLayer, AnatomyArrays>;
  const description = JSON.parse(anatomy.describe()) as AnatomyDescription;
  anatomy.free();
  return { description, arrays: layers };
}

function current(): PageStage {
  if (!stage) throw new Error("no character is loaded");
  return stage;
}

function reportProgress(share: number): void {
  post({ type: "progress", share });
}

const answers: { [K in RequestName]: (ask: Requests[K]["ask"]) => Requests[K]["answer"] } = {
  embedded: ({ name }) => openStage(PageStage.embedded(name)),
  open: ({ files, options }) => openStage(PageStage.from_files(fileSet(files), JSON.stringify(options))),
  rig: ({ placed }) => openStage(current().rigged(JSON.stringify(placed))),
  build: ({ settings }) => {
    const report = JSON.parse(current().build(JSON.stringify(settings), reportProgress));
    built = report !== null;
    freshOverlays = new Set(overlays);
    last = performance.now();
    return report;
  },
  clip: ({ index }) => {
    current().choose_clip(index);
    return null;
  },
  motion: ({ file }) => {
    current().add_motion(fileSet([file]));
    return described(current());
  },
  settingsFromToml: ({ text }) => JSON.parse(settings_from_toml(text)) as Settings,
  settingsToToml: ({ settings }) => settings_to_toml(JSON.stringify(settings)),
  automaticSettings: () => JSON.parse(current().automatic_settings()) as Settings,
  middle: ({ origin, direction }) => {
    const middle = current().middle(new Float32Array(origin), new Float32Array(direction));
    return middle ? [middle[0]!, middle[1]!, middle[2]!] : null;
  },
  placed: () => JSON.parse(current().placed()),
  fitted: ({ markers }) => JSON.parse(current().fitted(JSON.stringify(markers))),
  markers: () => JSON.parse(current().markers()),
  template: ({ kind }) => JSON.parse(current().template(kind)),
  shells: () => ({ shells: JSON.parse(current().shells()), ofVertices: current().shell_of_vertices() }),
  skel: () => current().skel(),
  glb: () => current().glb(),
  bake: ({ format, fps, boundMm }) => current().bake(format, fps, boundMm, reportProgress),
  pose: () => current().kept_pose(),
  still: ({ format }) => current().still(format),
  findBody: ({ file, known, spaces, rig }) => {
    for (const { sex, bytes } of spaces) provide_space(sex, bytes, rig);
    scan?.free();
    scan = null;
    scan = PageScan.find(file.name, file.bytes, JSON.stringify(known), reportProgress);
    return { sex: scan.sex() as Sex };
  },
  makePerson: ({ template, known }) => {
    if (!scan) throw new Error("no body was found yet");
    return scan.person(template, JSON.stringify(known), reportProgress);
  },
  refitPerson: ({ person, template, known }) => refitted_person(person, template, JSON.stringify(known), reportProgress),
  growthShapes: ({ person, region }) => {
    const shapes = PageShapes.make(person, region, reportProgress);
    const made = { fat: [...shapes.fat()], muscle: [...shapes.muscle()], offsets: shapes.offsets() };
    shapes.free();
    return made;
  },
  restSkin: () => current().rest_skin(),
  wholeSkin: () => current().whole_skin(),
  growPerson: ({ person, changes }) => grown_file(person, JSON.stringify(changes), reportProgress),
  anatomy: ({ bytes }) => readAnatomy(bytes),
  memory: () => ({ bytes: wasm.memory.buffer.byteLength }),
  benchmark: ({ steps }) => {
    const begin = performance.now();
    for (let k = 0; k < steps; k += 1) current().advance(STEP, STEP, true);
    return { stepMs: (performance.now() - begin) / steps };
  },
};

function answer(id: number, name: RequestName, ask: unknown): void {
  try {
    const value = (answers[name] as (ask: unknown) => unknown)(ask);
    post({ type: "answer", id, value });
  } catch (error) {
    post({ type: "refused", id, message: errorText(error) });
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function applyOrder(order: Order): void {
  switch (order.type) {
    case "play":
      ({ playing, speed, repeat } = order);
      break;
    case "pace":
      unlimited = order.unlimited;
      break;
    case "seek":
      stage?.seek(order.time);
      break;
    case "methods":
      methods = order;
      break;
    case "overlays":
      for (const name of order.names) if (!overlays.has(name)) freshOverlays.add(name);
      overlays = new Set(order.names);
      break;
    case "tune":
      stage?.tune(JSON.stringify(order.settings));
      break;
    case "gravity":
      stage?.set_gravity(...order.to);
      break;
    case "contact":
      stage?.set_contact(order.mode);
      break;
    case "ground":
      stage?.set_ground(order.height ?? undefined);
      break;
    case "grab":
      stage?.grab(order.joint, new Float32Array(order.to));
      break;
    case "turn":
      stage?.turn(order.joint, new Float32Array(order.rotation));
      break;
    case "pose":
      stage?.set_kept_pose(order.numbers);
      break;
    case "shape":
      stage?.set_shape(order.skin);
      break;
    case "rest":
      stage?.rest(order.on);
      break;
    case "release":
      stage?.release();
      break;
    case "pull":
      stage?.pull(order.from ? new Float32Array(order.from) : undefined, new Float32Array(order.to));
      break;
    case "poke":
      stage?.poke(new Float32Array(order.centre), order.radius);
      break;
    case "shake":
      stage?.shake(new Float32Array(order.amplitude));
      break;
    case "start":
      started = true;
      last = performance.now();
      break;
    case "stop":
      started = false;
      break;
    case "returnBuffers":
      if (order.slots[0]?.positions.length === 3 * (stage?.vertex_count() ?? -1)) freeBuffers.push(order.slots);
      break;
  }
}

function step(): void {
  if (!stage) return;
  const begin = performance.now();
  stage.advance(STEP * (playing ? speed : 1), playing ? STEP * speed : 0, repeat);
  readout.solveMs += 0.1 * (performance.now() - begin - readout.solveMs);
  readout.steps += 1;
  if (built && readout.steps % MEASURE_INTERVAL === 0) {
    const [kept = 1, , inverted = 0] = stage.quality();
    readout.volumeKept = kept;
    readout.inverted = inverted;
    readout.contacts = stage.contacts().length / 6;
  }
}

/** Buffers for a frame; null while the page holds all of them. */
function buffers(count: number): SlotBuffers[] | null {
  if (!stage) return null;
  let slots = freeBuffers.pop();
  if (!slots) {
    if (allocated >= MAX_BUFFERS) return null;
    allocated += 1;
    slots = [];
  }
  const vertices = stage.vertex_count();
  const array = (size: number): Float32Array => new Float32Array(size * vertices);
  while (slots.length < count) slots.push({ positions: array(3), normals: array(3), strains: null });
  return slots;
}

function fill(slots: SlotBuffers[]): void {
  if (!stage) return;
  const strained = overlays.has("strain");
  const shown = methods.right ? [methods.left, methods.right] : [methods.left];
  shown.forEach((method, slot) => {
    const buffer = slots[slot];
    if (!stage || !buffer) return;
    stage.show(slot, METHODS[method], strained);
    const { buffer: memory } = wasm.memory;
    const size = 3 * stage.vertex_count();
    buffer.positions.set(new Float32Array(memory, stage.positions(slot), size));
    buffer.normals.set(new Float32Array(memory, stage.normals(slot), size));
    if (strained) {
      buffer.strains ??= new Float32Array(size / 3);
      buffer.strains.set(new Float32Array(memory, stage.strains(slot), size / 3));
    }
  });
}

/** The first three of every six numbers. */
function contactPositions(contacts: Float32Array): Float32Array {
  return contacts.filter((_, index) => index % 6 < 3);
}

function collectOverlays(): Overlays {
  const show = current();
  const has = (name: OverlayName): boolean => overlays.has(name) && built;
  const fresh = (name: OverlayName): boolean => freshOverlays.delete(name);
  return {
    joints: show.joints(),
    capsules: has("volumes") ? show.capsules() : null,
    spheres: has("volumes") ? show.spheres() : null,
    boneSurface: has("boneSurface")
      ? { positions: show.bone_surface(), triangles: fresh("boneSurface") ? show.bone_surface_triangles() : null }
      : null,
    tets: has("tets") ? { positions: show.tet_vertices(), edges: fresh("tets") ? show.tet_edges() : null } : null,
    contacts: has("contacts") ? contactPositions(show.contacts()) : null,
    matrices: overlays.has("anatomy") ? show.joint_matrices() : null,
  };
}

function send(): void {
  const slots = stage && buffers(methods.right ? 2 : 1);
  if (!stage || !slots) return;
  const begin = performance.now();
  fill(slots);
  readout.skinMs += 0.1 * (performance.now() - begin - readout.skinMs);
  const transfer = slots.flatMap((slot) =>
    [slot.positions, slot.normals, slot.strains].flatMap((array) => (array ? [array.buffer as ArrayBuffer] : [])),
  );
  post(
    { type: "frame", slots, overlays: collectOverlays(), time: stage.time(), readout: { ...readout } },
    transfer,
  );
}

function tick(): void {
  const now = performance.now();
  backlog = Math.min(backlog + (now - last) / 1000, MAX_BACKLOG);
  last = now;
  try {
    if (stage && started && (unlimited || backlog >= STEP)) {
      backlog = Math.max(0, backlog - STEP);
      step();
      send();
    }
  } catch (error) {
    post({ type: "error", message: errorText(error) });
  }
  const wait = unlimited || backlog >= STEP ? 0 : 1000 * (STEP - backlog);
  if (wait > 1) setTimeout(tick, wait - 1);
  else channel.port2.postMessage(null);
}

// A MessageChannel fires immediately, while timers in a worker wait at least 4 ms.
const channel = new MessageChannel();
channel.port1.onmessage = tick;

function receive(message: ToWorker): void {
  if (message.type === "request") {
    answer(message.id, message.name, message.ask);
    return;
  }
  try {
    applyOrder(message);
  } catch (error) {
    post({ type: "error", message: errorText(error) });
  }
}

post({ type: "ready" });

// Messages that arrive before the WebAssembly module is ready are queued.
const queue: ToWorker[] = [];
self.onmessage = ({ data }: MessageEvent<ToWorker>): void => {
  queue.push(data);
};

init({ module_or_path: address }).then(
  (output) => {
    wasm = output;
    last = performance.now();
    self.onmessage = ({ data }: MessageEvent<ToWorker>): void => receive(data);
    queue.forEach(receive);
    tick();
  },
  (error: unknown) => post({ type: "error", message: `WebAssembly could not start: ${String(error)}` }),
);
