// Live statistics, and two of them plotted over time.
import { byId } from "./dom";
import type { Readout } from "./protocol";

const SAMPLES = 200;

export class ReadoutView {
  private plot = byId<HTMLCanvasElement>("plot");
  private volumes: number[] = [];
  private times: number[] = [];
  private frames = 0;
  private since = performance.now();
  private firstSteps = 0;
  fps = 0;
  stepsPerSecond = 0;
  drawMs = 0;
  newest: Readout | null = null;

  update(readout: Readout | null, drawMs: number): void {
    this.frames += 1;
    this.drawMs += 0.1 * (drawMs - this.drawMs);
    if (readout) this.newest = readout;
    const now = performance.now();
    const seconds = (now - this.since) / 1000;
    if (seconds < 0.5) return;
    this.fps = this.frames / seconds;
    const steps = this.newest?.steps ?? 0;
    this.stepsPerSecond = (steps - this.firstSteps) / seconds;
    this.firstSteps = steps;
    this.frames = 0;
    this.since = now;
    this.write();
  }

  private write(): void {
    const { newest } = this;
    const set = (id: string, text: string): void => {
      byId(id).textContent = text;
    };
    set("r-fps", this.fps.toFixed(0));
    set("r-draw", `${this.drawMs.toFixed(1)} ms`);
    if (!newest) return;
    set("r-steps", this.stepsPerSecond.toFixed(0));
    set("r-solve", `${newest.solveMs.toFixed(1)} ms`);
    set("r-skin", `${newest.skinMs.toFixed(1)} ms`);
    set("r-volume", `${(100 * newest.volumeKept).toFixed(1)} %`);
    set("r-contacts", String(newest.contacts));
    push(this.volumes, newest.volumeKept);
    push(this.times, newest.solveMs);
    this.draw();
  }

  private draw(): void {
    const context = this.plot.getContext("2d");
    if (!context) return;
    const { width, height } = this.plot;
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, width, height);
    context.lineWidth = 3;
    context.strokeStyle = style.getPropertyValue("--faint");
    line(context, this.times, (value) => height - 4 - (height - 8) * Math.min(1, value / 33));
    context.strokeStyle = style.getPropertyValue("--accent");
    line(context, this.volumes, (value) => height / 2 - (value - 1) * height * 4);
  }
}

function push(values: number[], value: number): void {
  values.push(value);
  if (values.length > SAMPLES / 10) values.shift();
}

function line(context: CanvasRenderingContext2D, values: number[], at: (value: number) => number): void {
  context.beginPath();
  values.forEach((value, index) => {
    const x = (index / (SAMPLES / 10 - 1)) * context.canvas.width;
    const y = Math.max(2, Math.min(context.canvas.height - 2, at(value)));
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.stroke();
}
