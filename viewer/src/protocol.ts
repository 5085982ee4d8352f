// Messages between page and worker.

/** Skinning methods; the numbers are those of crates/wasm. */
export const METHODS = { tissue: 0, lbs: 1, dqs: 2 } as const;
export type Method = keyof typeof METHODS;

export interface PartRange {
  name: string;
  first_vertex: number;
  vertices: number;
  first_index: number;
  indices: number;
  material: number | null;
}

export interface ClipEntry {
  name: string;
  seconds: number;
  origin: "file" | "embedded" | "dropped";
}

export interface JointEntry {
  name: string;
  parent: number | null;
  bone: boolean;
}

export interface MaterialEntry {
  name: string;
  color: [number, number, number, number];
  image: boolean;
  double_sided: boolean;
}

export interface Problem {
  severity: "note" | "warning";
  place: string;
  text: string;
}

export interface Info {
  name: string;
  height_m: number;
  vertices: number;
  triangles: number;
  bones: number;
  problems: Problem[];
}

export interface Description {
  info: Info;
  parts: PartRange[];
  joints: JointEntry[];
  clips: ClipEntry[];
  clip: number | null;
  materials: MaterialEntry[];
  bounds: [[number, number, number], [number, number, number]];
  humanoid: boolean;
  /** Whether the character has no skeleton yet. */
  bare: boolean;
  /** Whether the file has no skeleton, so that it may be a scan. */
  scan: boolean;
  /** The layered person, in numbers. */
  person: PersonInfo | null;
  /** Whether some triangles face inwards, so that both sides must be drawn. */
  two_sided: boolean;
  /** Rotation of the character's facing from +Z about the vertical [rad]. */
  facing: number;
}

export type Sex = "male" | "female";

/** A number with its standard deviation, which is zero if it was given. */
export interface Estimate {
  value: number;
  error: number;
}

/** A person's place among the people of a study. */
export interface Percentile {
  population: string;
  quantity: "fat_percent" | "muscle_mass";
  /** Share of people of the same sex with less [%]. */
  percentile: number;
}

/** A layered person in numbers, metres and kilograms. */
export interface PersonInfo {
  name: string;
  sex: Sex;
  bones: number;
  muscles: number;
  measures: { height: number; waist: number } & Record<string, unknown>;
  composition: {
    height: number;
    weight: Estimate;
    body_mass_index: number;
    fat_mass: Estimate;
    fat_percent: Estimate;
    muscle_mass: Estimate;
    percentiles: Percentile[];
    notes: string[];
  };
  registration: {
    sex_confidence: number;
    confidence: number;
    distances: { rms: number; percentile_95: number };
    coverage: { whole: number };
    warnings: string[];
  };
  fit: { masses: { fat: number; muscle: number } & Record<string, unknown> } & Record<string, unknown>;
}

/** What the user knows of a person; the rest is estimated. */
export interface Known {
  sex: Sex | null;
  /** [years] */
  age: number | null;
  /** [m] */
  height: number | null;
  /** [kg] */
  weight: number | null;
  /** Share of the weight [%]. */
  fat_percent: number | null;
}
export const NOTHING_KNOWN: Known = { sex: null, age: null, height: null, weight: null, fat_percent: null };

/** A region that gains and loses; all of the body if it is empty. */
export type Region = "" | "legs" | "belly" | "chest" | "arms";

/** Fat and muscle to gain or lose in a region [kg]. */
export interface GrowthChange {
  region: Region;
  fat: number;
  muscle: number;
}

/** Shapes of a person that gained or lost in a region. */
export interface GrowthShapes {
  /** Fat of the first shapes, and muscle of the others [kg]. */
  fat: number[];
  muscle: number[];
  /** Displacements of the skin at rest, shape by shape [m]. */
  offsets: Float32Array;
}

/** A body space: what bodies of a sex look like. */
export interface BodySpace {
  sex: Sex;
  bytes: Uint8Array;
}

/** Tissue settings, in the structure of the TOML file. */
export interface Settings {
  tissue: { stiffness: number; mass: number; volume_stiffness: number; sliding: boolean; simulate_head: boolean } & Record<string, unknown>;
  solver: { iterations: number; steps_per_second: number; damping_half_life: number; gravity: number } & Record<string, unknown>;
  detail?: { resolution: string | number } & Record<string, unknown>;
  contact?: { mode: string; ground?: boolean | number } & Record<string, unknown>;
  bone_radii: Record<string, number>;
  joint_radii: Record<string, number>;
  shells: Record<string, string>;
  [other: string]: unknown;
}

export interface BuildReport {
  vertices: number;
  tets: number;
  free: number;
  bones: number;
  mass: number;
}

export interface Placed {
  name: string;
  parent: number | null;
  position: [number, number, number];
}

/** Positions of markers by name [m]: chin, groin, wrist.L, … */
export type MarkerPlaces = Record<string, [number, number, number]>;
export type TemplateName = "humanoid" | "quadruped";

/** A connected piece of the character. */
export interface ShellEntry {
  /** Its key under `shells` in the settings. */
  key: string;
  kind: ShellKind;
  /** Why it has this kind. */
  reason: string;
  vertices: number;
  area: number;
}
export type ShellKind = "flesh" | "cloth" | "rigid" | "hair" | "skinned";

export interface DroppedFile {
  name: string;
  bytes: Uint8Array;
}

/** Import options, with the values of the command line; empty: as declared by the file, or guessed. */
export interface ImportOptions {
  up: "" | "y" | "z";
  unit: "" | "m" | "cm" | "mm" | "in" | "ft";
  auto_weights: boolean;
}
export const DEFAULT_OPTIONS: ImportOptions = { up: "", unit: "", auto_weights: false };

export type OverlayName = "skeleton" | "volumes" | "boneSurface" | "tets" | "contacts" | "strain" | "wireframe" | "anatomy";
/** What of a layered body is drawn together; the skin is not among them. */
export type AnatomyLayer = "muscleSurface" | "skeletonSurface" | "muscles" | "bones";
export const ANATOMY_LAYERS: readonly AnatomyLayer[] = ["muscleSurface", "skeletonSurface", "muscles", "bones"];

/** A bone or a muscle. */
export interface AnatomyPart {
  name: string;
  /** "bone", or the muscle's group. */
  group: string;
  volume_ml: number;
}

export interface AnatomyDescription {
  name: string;
  joints: string[];
  /** Bones, then muscles. */
  parts: AnatomyPart[];
  bones: number;
  provenance: string;
}

export interface AnatomyArrays {
  positions: Float32Array;
  normals: Float32Array;
  triangles: Uint32Array;
  /** Four joints and weights a vertex. */
  joints: Uint16Array;
  weights: Float32Array;
  /** Number of each vertex' part. */
  parts: Uint16Array;
  /** How much of each vertex is tendon, 0 to 255. */
  tendon: Uint8Array;
}

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number];
export const STILL_FORMATS = ["glb", "obj", "pc2"] as const;
export type StillFormat = (typeof STILL_FORMATS)[number];
export const MOTION_FORMATS = ["glb", "pc2", "mdd"] as const;
export type MotionFormat = (typeof MOTION_FORMATS)[number];

/** Messages without an answer. */
export type Order =
  | { type: "play"; playing: boolean; speed: number; repeat: boolean }
  | { type: "pace"; unlimited: boolean }
  | { type: "seek"; time: number }
  | { type: "methods"; left: Method; right: Method | null }
  | { type: "overlays"; names: OverlayName[] }
  | { type: "tune"; settings: Settings }
  | { type: "gravity"; to: Vector }
  /** Drags a joint; its limb bends. The pose is kept. */
  | { type: "grab"; joint: number; to: Vector }
  /** Turns a joint, relative to the beginning of the drag. The pose is kept. */
  | { type: "turn"; joint: number; rotation: Quaternion }
  /** Keeps a pose; an empty one gives up the kept one. */
  | { type: "pose"; numbers: Float32Array }
  /** Shows the skin with other positions at rest; an empty list shows it as it is. */
  | { type: "shape"; skin: Float32Array }
  /** Shows the rest pose, on which joints are placed. */
  | { type: "rest"; on: boolean }
  | { type: "release" }
  | { type: "pull"; from: Vector | null; to: Vector }
  | { type: "contact"; mode: string }
  | { type: "ground"; height: number | null }
  | { type: "poke"; centre: Vector; radius: number }
  | { type: "shake"; amplitude: Vector }
  /** A stage is paused until it starts, so that it can be built in the background. */
  | { type: "start" }
  | { type: "stop" }
  | { type: "returnBuffers"; slots: SlotBuffers[] };

/** Messages with an answer, by name. */
export interface Requests {
  embedded: { ask: { name: string }; answer: Opened };
  open: { ask: { files: DroppedFile[]; options: ImportOptions }; answer: Opened };
  rig: { ask: { placed: Placed[] }; answer: Opened };
  build: { ask: { settings: Settings }; answer: BuildReport | null };
  clip: { ask: { index: number }; answer: null };
  motion: { ask: { file: DroppedFile }; answer: Description };
  settingsFromToml: { ask: { text: string }; answer: Settings };
  settingsToToml: { ask: { settings: Settings }; answer: string };
  automaticSettings: { ask: object; answer: Settings };
  middle: { ask: { origin: Vector; direction: Vector }; answer: Vector | null };
  placed: { ask: object; answer: Placed[] };
  /** A humanoid skeleton that is fitted into the body, with the help of markers. */
  fitted: { ask: { markers: MarkerPlaces }; answer: Placed[] };
  /** All markers and where to show them first. */
  markers: { ask: object; answer: MarkerPlaces };
  template: { ask: { kind: TemplateName }; answer: Placed[] };
  /** The shells of the built character, and the number of every vertex' shell. */
  shells: { ask: object; answer: { shells: ShellEntry[]; ofVertices: Uint32Array } };
  skel: { ask: object; answer: string };
  glb: { ask: object; answer: Uint8Array };
  /** The motion of the current clip; the bound is for GLB. */
  bake: { ask: { format: MotionFormat; fps: number; boundMm: number }; answer: Uint8Array };
  /** The kept pose as numbers; empty if a clip is shown. */
  pose: { ask: object; answer: Float32Array };
  /** The body as it is shown. */
  still: { ask: { format: StillFormat }; answer: Uint8Array };
  /** Finds the body in a scan; the worker keeps it for `makePerson`. */
  findBody: { ask: { file: DroppedFile; known: Known; spaces: BodySpace[]; rig: Uint8Array }; answer: { sex: Sex } };
  /** A person file of the body that was found, with the template of its sex. */
  makePerson: { ask: { template: Uint8Array; known: Known }; answer: Uint8Array };
  /** A person file again with other numbers given. */
  refitPerson: { ask: { person: Uint8Array; template: Uint8Array; known: Known }; answer: Uint8Array };
  /** Shapes for sliders. */
  growthShapes: { ask: { person: Uint8Array; region: Region }; answer: GrowthShapes };
  /** The skin of the person on the page at rest. */
  restSkin: { ask: object; answer: Float32Array };
  /** The skin of all parts at rest. */
  wholeSkin: { ask: object; answer: Float32Array };
  /** A person file after changes. */
  growPerson: { ask: { person: Uint8Array; changes: GrowthChange[] }; answer: Uint8Array };
  /** A layered template from the bytes of its file, or (without) the anatomy of the person on the page. */
  anatomy: { ask: { bytes: Uint8Array | null }; answer: { description: AnatomyDescription; arrays: Record<AnatomyLayer, AnatomyArrays> } };
  memory: { ask: object; answer: { bytes: number } };
  benchmark: { ask: { steps: number }; answer: { stepMs: number } };
}
export type RequestName = keyof Requests;

export interface Opened {
  description: Description;
  triangles: Uint32Array;
  uvs: Float32Array;
  images: (Uint8Array | null)[];
  settings: Settings;
}

export interface SlotBuffers {
  positions: Float32Array;
  normals: Float32Array;
  strains: Float32Array | null;
}

export interface Overlays {
  joints: Float32Array;
  capsules: Float32Array | null;
  spheres: Float32Array | null;
  boneSurface: { positions: Float32Array; triangles: Uint32Array | null } | null;
  tets: { positions: Float32Array; edges: Uint32Array | null } | null;
  contacts: Float32Array | null;
  /** Transform of every joint from rest to now, 16 numbers each. */
  matrices: Float32Array | null;
}

export interface Readout {
  /** Simulation steps since the worker started. */
  steps: number;
  solveMs: number;
  skinMs: number;
  volumeKept: number;
  contacts: number;
  inverted: number;
}

export interface Frame {
  type: "frame";
  slots: SlotBuffers[];
  overlays: Overlays;
  time: number;
  readout: Readout;
}

export type FromWorker =
  | Frame
  | { type: "answer"; id: number; value: unknown }
  | { type: "refused"; id: number; message: string }
  | { type: "ready" }
  | { type: "progress"; share: number }
  | { type: "error"; message: string };

export type ToWorker = Order | { type: "request"; id: number; name: RequestName; ask: unknown };
