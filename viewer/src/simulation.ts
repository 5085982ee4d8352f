// The page's side of the worker: orders, requests with answers, and the newest frame.
import type { Frame, FromWorker, Order, RequestName, Requests, SlotBuffers } from "./protocol";

interface Waiting {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

export class Simulation {
  onProgress: (share: number) => void = () => {};
  onTrouble: (message: string) => void = () => {};
  readonly ready: Promise<void>;
  private worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private waiting = new Map<number, Waiting>();
  private nextId = 1;
  private newest: Frame | null = null;
  private shown: SlotBuffers[] | null = null;
  private becomeReady: () => void = () => {};

  constructor() {
    this.ready = new Promise((resolve) => (this.becomeReady = resolve));
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.hear(data);
    this.worker.onerror = (event) => this.fail(event.message || "the simulation stopped");
  }

  order(order: Order): void {
    this.worker.postMessage(order);
  }

  request<K extends RequestName>(name: K, ask: Requests[K]["ask"]): Promise<Requests[K]["answer"]> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      this.worker.postMessage({ type: "request", id, name, ask });
    });
  }

  /** The newest frame, once; buffers of the one before go back to the worker. */
  take(): Frame | null {
    const frame = this.newest;
    this.newest = null;
    if (frame) {
      if (this.shown) this.giveBack(this.shown);
      this.shown = frame.slots;
    }
    return frame;
  }

  /** Before another character comes: buffers of this one are of no more use. */
  forget(): void {
    this.newest = null;
    this.shown = null;
  }

  private giveBack(slots: SlotBuffers[]): void {
    const arrays = slots.flatMap((slot) => [slot.positions, slot.normals, slot.strains]);
    const transfer = arrays.flatMap((array) => (array ? [array.buffer as ArrayBuffer] : []));
    this.worker.postMessage({ type: "give", slots } satisfies Order, transfer);
  }

  private hear(message: FromWorker): void {
    switch (message.type) {
      case "frame":
        if (this.newest) this.giveBack(this.newest.slots);
        this.newest = message;
        break;
      case "ready":
        this.becomeReady();
        break;
      case "answer":
        this.waiting.get(message.id)?.resolve(message.value as never);
        this.waiting.delete(message.id);
        break;
      case "refused":
        this.waiting.get(message.id)?.reject(new Error(message.message));
        this.waiting.delete(message.id);
        break;
      case "progress":
        this.onProgress(message.share);
        break;
      case "trouble":
        this.onTrouble(message.message);
        break;
    }
  }

  private fail(message: string): void {
    for (const { reject } of this.waiting.values()) reject(new Error(message));
    this.waiting.clear();
    this.onTrouble(message);
  }
}
