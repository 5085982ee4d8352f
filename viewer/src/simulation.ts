// The page's connection to the workers: orders, requests with answers, and the newest frame.
//
// Building tissue takes seconds. A second worker builds it from the same files while the first keeps animating the body, and
// then replaces it, so the page never freezes.
import type { BuildReport, DroppedFile, Frame, FromWorker, Opened, Order, Overlays, RequestName, Requests, Settings, SlotBuffers } from "./protocol";

interface Pending {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** A worker and its pending requests. */
class WorkerConnection {
  private worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private pending = new Map<number, Pending>();
  private nextId = 1;

  constructor(
    private onMessage: (connection: WorkerConnection, message: FromWorker) => void,
    private onError: (connection: WorkerConnection, message: string) => void,
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === "answer") this.takePending(data.id)?.resolve(data.value as never);
      else if (data.type === "refused") this.takePending(data.id)?.reject(new Error(data.message));
      else this.onMessage(this, data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message || "the simulation stopped");
      this.onError(this, event.message || "the simulation stopped");
    };
  }

  private takePending(id: number): Pending | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    return pending;
  }

  order(order: Order, transfer: Transferable[] = []): void {
    this.worker.postMessage(order, transfer);
  }

  request<K extends RequestName>(name: K, ask: Requests[K]["ask"]): Promise<Requests[K]["answer"]> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (value: never) => void, reject });
      this.worker.postMessage({ type: "request", id, name, ask });
    });
  }

  end(reason: string | Error): void {
    const error = typeof reason === "string" ? new Error(reason) : reason;
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
    this.worker.terminate();
  }
}

/** Everything that must be repeated to bring a new worker to the same state. */
interface ReplayState {
  /** Requests that loaded the character: one or two, the second being a rig on the first. */
  opening: ({ name: "embedded"; ask: { name: string } } | { name: "open"; ask: Requests["open"]["ask"] } | { name: "rig"; ask: Requests["rig"]["ask"] })[];
  motions: DroppedFile[];
  clip: number | null;
  orders: Map<Order["type"], Order>;
}

const PERSISTENT_ORDERS: Order["type"][] = ["play", "pace", "methods", "overlays", "gravity", "contact", "ground", "pose", "shape", "rest"];
const SUPERSEDED = "another build took over";

/** The user cancelled a task, or another one took its place. */
export class Cancelled extends Error {}

/** Longest wait for the worker's script [ms]. */
const MAX_STARTUP_WAIT = 250;

export class Simulation {
  /** Resolves when the worker's script runs. Loading it needs this thread, which must stay free until then. */
  readonly ready: Promise<void>;
  private markReady: () => void = () => {};
  onProgress: (share: number) => void = () => {};
  onError: (message: string) => void = () => {};
  private connection = this.connect();
  private building: WorkerConnection | null = null;
  private opening: WorkerConnection | null = null;
  private buildProgress: (share: number) => void = () => {};
  private task: WorkerConnection | null = null;
  private taskProgress: (share: number) => void = () => {};
  private replay: ReplayState = { opening: [], motions: [], clip: null, orders: new Map() };
  private newest: Frame | null = null;
  private shown: { connection: WorkerConnection; slots: SlotBuffers[] } | null = null;
  private time = 0;
  private stepsBefore = 0;

  constructor() {
    this.ready = new Promise((resolve) => {
      this.markReady = resolve;
      setTimeout(resolve, MAX_STARTUP_WAIT);
    });
  }

  private connect(): WorkerConnection {
    return new WorkerConnection(
      (connection, message) => this.receive(connection, message),
      (connection, message) => {
        if (connection === this.connection) this.recover(message);
      },
    );
  }

  order(order: Order): void {
    if (PERSISTENT_ORDERS.includes(order.type)) this.replay.orders.set(order.type, order);
    this.connection.order(order);
  }

  async request<K extends RequestName>(name: K, ask: Requests[K]["ask"]): Promise<Requests[K]["answer"]> {
    const answer = await this.connection.request(name, ask);
    this.remember(name, ask);
    return answer;
  }

  /** Reads a character in a new worker: the one on the page keeps moving, and stays if this fails or is cancelled. */
  async open(ask: Requests["open"]["ask"]): Promise<Opened> {
    this.cancelOpening();
    const connection = this.connect();
    this.opening = connection;
    try {
      const opened = await connection.request("open", ask);
      this.opening = null;
      this.remember("open", ask);
      this.use(connection);
      return opened;
    } catch (error) {
      if (this.opening === connection) this.opening = null;
      connection.end("the file could not be read");
      throw error;
    }
  }

  cancelOpening(): void {
    const { opening } = this;
    this.opening = null;
    opening?.end(new Cancelled("cancelled"));
  }

  /** Runs a task of several requests in a worker of its own; the page keeps moving. A new task takes the place of the last one. */
  async background<T>(work: (ask: WorkerConnection["request"]) => Promise<T>, progress: (share: number) => void): Promise<T> {
    this.cancelTask();
    const connection = this.connect();
    this.task = connection;
    this.taskProgress = progress;
    try {
      const request: WorkerConnection["request"] = (name, ask) => {
        if (this.task !== connection) throw new Cancelled("cancelled");
        return connection.request(name, ask);
      };
      return await work(request);
    } finally {
      if (this.task === connection) this.task = null;
      connection.end(new Cancelled("cancelled"));
    }
  }

  /** Runs requests in a worker of their own, which only the signal ends. */
  async apart<T>(work: (ask: WorkerConnection["request"]) => Promise<T>, signal: AbortSignal): Promise<T> {
    const connection = this.connect();
    signal.addEventListener("abort", () => connection.end(new Cancelled("cancelled")));
    try {
      return await work((name, ask) => connection.request(name, ask));
    } finally {
      connection.end(new Cancelled("cancelled"));
    }
  }

  cancelTask(): void {
    const { task } = this;
    this.task = null;
    task?.end(new Cancelled("cancelled"));
  }

  cancelBuilding(): void {
    this.building?.end(new Cancelled("cancelled"));
  }

  private remember(name: RequestName, ask: unknown): void {
    const { replay } = this;
    if (name === "embedded" || name === "open" || name === "rig") {
      this.building?.end(SUPERSEDED);
      this.building = null;
      replay.orders.delete("pose");
      replay.orders.delete("shape");
      const opening = { name, ask } as ReplayState["opening"][number];
      // A rig always starts from the original file, so only the last one is kept.
      replay.opening = name === "rig" ? [...replay.opening.filter((step) => step.name !== "rig"), opening] : [opening];
      replay.motions = [];
      replay.clip = null;
    } else if (name === "motion") {
      replay.motions.push((ask as Requests["motion"]["ask"]).file);
      replay.clip = null;
    } else if (name === "clip") {
      replay.clip = (ask as Requests["clip"]["ask"]).index;
    }
  }

  /** Builds tissue in a second worker and switches to it; null if a newer build superseded it. */
  async build(settings: Settings, progress: (share: number) => void = () => {}): Promise<BuildReport | null> {
    this.building?.end(SUPERSEDED);
    const connection = this.connect();
    this.building = connection;
    this.buildProgress = progress;
    try {
      for (const { name, ask } of this.replay.opening) await connection.request(name, ask);
      for (const file of this.replay.motions) await connection.request("motion", { file });
      if (this.replay.clip !== null) await connection.request("clip", { index: this.replay.clip });
      connection.order({ type: "seek", time: this.time });
      const report = await connection.request("build", { settings });
      if (this.building !== connection) return null;
      this.switchTo(connection);
      return report;
    } catch (error) {
      if (this.building !== connection) return null;
      this.building = null;
      connection.end("the build failed");
      throw error;
    }
  }

  /** Ends the current worker and gives another one the same orders. */
  private use(connection: WorkerConnection): void {
    this.connection.end("another simulation took over");
    this.stepsBefore += this.newestSteps;
    this.newestSteps = 0;
    this.connection = connection;
    for (const order of this.replay.orders.values()) connection.order(order);
  }

  private switchTo(connection: WorkerConnection): void {
    this.building = null;
    this.use(connection);
    // Repeat what happened on the old stage during the build.
    if (this.replay.clip !== null) void connection.request("clip", { index: this.replay.clip });
    connection.order({ type: "seek", time: this.time });
    connection.order({ type: "start" });
  }

  private newestSteps = 0;

  /** Replaces a crashed worker by one in the same state, without tissue. */
  private recover(message: string): void {
    this.onError(message);
    this.connection = this.connect();
    const { opening } = this.replay;
    void (async () => {
      for (const { name, ask } of opening) await this.connection.request(name, ask);
      for (const order of this.replay.orders.values()) this.connection.order(order);
      this.connection.order({ type: "start" });
    })().catch(() => this.onError("The simulation could not be started again: reload the page."));
  }

  /** Returns each new frame once; the buffers of the previous one go back to their worker. */
  take(): Frame | null {
    const frame = this.newest;
    this.newest = null;
    if (frame) {
      if (this.shown) returnBuffers(this.shown.connection, this.shown.slots);
      this.shown = { connection: this.connection, slots: frame.slots };
      this.time = frame.time;
    }
    return frame;
  }

  /** Drops the buffers of the current character before another one is loaded. */
  forget(): void {
    this.newest = null;
    this.shown = null;
  }

  private receive(connection: WorkerConnection, message: FromWorker): void {
    if (message.type === "frame") {
      if (connection !== this.connection) return;
      if (this.newest) {
        keepTopology(this.newest.overlays, message.overlays);
        returnBuffers(connection, this.newest.slots);
      }
      this.newestSteps = message.readout.steps;
      message.readout.steps += this.stepsBefore;
      this.newest = message;
    } else if (message.type === "ready") {
      this.markReady();
    } else if (message.type === "progress") {
      if (connection === this.building) this.buildProgress(message.share);
      else if (connection === this.task) this.taskProgress(message.share);
      else if (connection === this.connection) this.onProgress(message.share);
    } else if (message.type === "error" && connection === this.connection) {
      this.onError(message.message);
    }
  }
}

/** Topology is sent only once, so it is carried over from a skipped frame to the next. */
function keepTopology(skipped: Overlays, next: Overlays): void {
  if (next.tets) next.tets.edges ??= skipped.tets?.edges ?? null;
  if (next.boneSurface) next.boneSurface.triangles ??= skipped.boneSurface?.triangles ?? null;
}

function returnBuffers(connection: WorkerConnection, slots: SlotBuffers[]): void {
  const arrays = slots.flatMap((slot) => [slot.positions, slot.normals, slot.strains]);
  const transfer = arrays.flatMap((array) => (array ? [array.buffer as ArrayBuffer] : []));
  connection.order({ type: "returnBuffers", slots }, transfer);
}
