// The page's side of the workers: orders, requests with answers, the newest frame.
//
// Tissue takes seconds to grow. A second worker grows it from the same files while the first goes on moving the body, and
// then takes over: nothing on the page stands still meanwhile.
import type { BuildReport, DroppedFile, Frame, FromWorker, Order, Overlays, RequestName, Requests, Settings, SlotBuffers } from "./protocol";

interface Waiting {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** A worker, and what it was asked. */
class Line {
  private worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private waiting = new Map<number, Waiting>();
  private nextId = 1;

  constructor(
    private onMessage: (line: Line, message: FromWorker) => void,
    private onTrouble: (line: Line, message: string) => void,
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === "answer") this.settle(data.id)?.resolve(data.value as never);
      else if (data.type === "refused") this.settle(data.id)?.reject(new Error(data.message));
      else this.onMessage(this, data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message || "the simulation stopped");
      this.onTrouble(this, event.message || "the simulation stopped");
    };
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }

  order(order: Order, transfer: Transferable[] = []): void {
    this.worker.postMessage(order, transfer);
  }

  request<K extends RequestName>(name: K, ask: Requests[K]["ask"]): Promise<Requests[K]["answer"]> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      this.worker.postMessage({ type: "request", id, name, ask });
    });
  }

  end(reason: string): void {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    this.worker.terminate();
  }
}

/** What has to be said again to another worker, so that it shows the same. */
interface Story {
  /** How the character came: one or two requests, the second a rig on the first. */
  opening: ({ name: "embedded"; ask: { name: string } } | { name: "open"; ask: Requests["open"]["ask"] } | { name: "rig"; ask: Requests["rig"]["ask"] })[];
  motions: DroppedFile[];
  clip: number | null;
  orders: Map<Order["type"], Order>;
}

const LASTING: Order["type"][] = ["play", "pace", "methods", "overlays", "gravity", "contact", "ground"];
const SUPERSEDED = "another build took over";

/** Longest wait for the worker's script [ms]. */
const WAKING = 250;

export class Simulation {
  /** Settled when the worker runs by itself: until then it needs this thread, which shall not be kept busy. */
  readonly awake: Promise<void>;
  private wake: () => void = () => {};
  onProgress: (share: number) => void = () => {};
  onTrouble: (message: string) => void = () => {};
  private line = this.newLine();
  private growing: Line | null = null;
  private story: Story = { opening: [], motions: [], clip: null, orders: new Map() };
  private newest: Frame | null = null;
  private shown: { line: Line; slots: SlotBuffers[] } | null = null;
  private time = 0;
  private stepsBefore = 0;

  constructor() {
    this.awake = new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, WAKING);
    });
  }

  private newLine(): Line {
    return new Line(
      (line, message) => this.hear(line, message),
      (line, message) => {
        if (line === this.line) this.recover(message);
      },
    );
  }

  order(order: Order): void {
    if (LASTING.includes(order.type)) this.story.orders.set(order.type, order);
    this.line.order(order);
  }

  async request<K extends RequestName>(name: K, ask: Requests[K]["ask"]): Promise<Requests[K]["answer"]> {
    const answer = await this.line.request(name, ask);
    this.remember(name, ask);
    return answer;
  }

  private remember(name: RequestName, ask: unknown): void {
    const { story } = this;
    if (name === "embedded" || name === "open" || name === "rig") {
      this.growing?.end(SUPERSEDED);
      this.growing = null;
      const opening = { name, ask } as Story["opening"][number];
      // Meshes are rigged from the file they came in, however often that is done.
      story.opening = name === "rig" ? [...story.opening.filter((step) => step.name !== "rig"), opening] : [opening];
      story.motions = [];
      story.clip = null;
    } else if (name === "motion") {
      story.motions.push((ask as Requests["motion"]["ask"]).file);
      story.clip = null;
    } else if (name === "clip") {
      story.clip = (ask as Requests["clip"]["ask"]).index;
    }
  }

  /** Grows tissue beside what is shown and changes over; null where a newer wish came in between. */
  async build(settings: Settings): Promise<BuildReport | null> {
    this.growing?.end(SUPERSEDED);
    const line = this.newLine();
    this.growing = line;
    try {
      for (const { name, ask } of this.story.opening) await line.request(name, ask);
      for (const file of this.story.motions) await line.request("motion", { file });
      if (this.story.clip !== null) await line.request("clip", { index: this.story.clip });
      line.order({ type: "seek", time: this.time });
      const report = await line.request("build", { settings });
      if (this.growing !== line) return null;
      this.changeOver(line);
      return report;
    } catch (error) {
      if (this.growing !== line) return null;
      this.growing = null;
      line.end("the build failed");
      throw error;
    }
  }

  private changeOver(line: Line): void {
    this.growing = null;
    this.line.end("another simulation took over");
    this.stepsBefore += this.newestSteps;
    this.newestSteps = 0;
    this.line = line;
    for (const order of this.story.orders.values()) line.order(order);
    // What happened on the old stage while the new one was built.
    if (this.story.clip !== null) void line.request("clip", { index: this.story.clip });
    line.order({ type: "seek", time: this.time });
    line.order({ type: "start" });
  }

  private newestSteps = 0;

  /** A worker that died is replaced by one that shows the same, without its tissue. */
  private recover(message: string): void {
    this.onTrouble(message);
    this.line = this.newLine();
    const { opening } = this.story;
    void (async () => {
      for (const { name, ask } of opening) await this.line.request(name, ask);
      for (const order of this.story.orders.values()) this.line.order(order);
      this.line.order({ type: "start" });
    })().catch(() => this.onTrouble("The simulation could not be started again: reload the page."));
  }

  /** The newest frame, once; buffers of the one before go back to their worker. */
  take(): Frame | null {
    const frame = this.newest;
    this.newest = null;
    if (frame) {
      if (this.shown) giveBack(this.shown.line, this.shown.slots);
      this.shown = { line: this.line, slots: frame.slots };
      this.time = frame.time;
    }
    return frame;
  }

  /** Before another character comes: buffers of this one are of no more use. */
  forget(): void {
    this.newest = null;
    this.shown = null;
  }

  private hear(line: Line, message: FromWorker): void {
    if (message.type === "frame") {
      if (line !== this.line) return;
      if (this.newest) {
        keepTopology(this.newest.overlays, message.overlays);
        giveBack(line, this.newest.slots);
      }
      this.newestSteps = message.readout.steps;
      message.readout.steps += this.stepsBefore;
      this.newest = message;
    } else if (message.type === "awake") {
      this.wake();
    } else if (message.type === "progress") {
      this.onProgress(message.share);
    } else if (message.type === "trouble" && line === this.line) {
      this.onTrouble(message.message);
    }
  }
}

/** What is sent once must not be lost with a frame that is never shown. */
function keepTopology(skipped: Overlays, next: Overlays): void {
  if (next.tets) next.tets.edges ??= skipped.tets?.edges ?? null;
  if (next.boneSurface) next.boneSurface.triangles ??= skipped.boneSurface?.triangles ?? null;
}

function giveBack(line: Line, slots: SlotBuffers[]): void {
  const arrays = slots.flatMap((slot) => [slot.positions, slot.normals, slot.strains]);
  const transfer = arrays.flatMap((array) => (array ? [array.buffer as ArrayBuffer] : []));
  line.order({ type: "give", slots }, transfer);
}
