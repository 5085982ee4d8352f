// The transport bar: play, clip, time, speed.
import type { App } from "./app";
import { byId, make } from "./dom";
import { icons } from "./icons";
import { showMessage } from "./messages";

export class Transport {
  private play = byId<HTMLButtonElement>("play");
  private clip = byId<HTMLSelectElement>("clip");
  private scrub = byId<HTMLInputElement>("scrub");
  private time = byId<HTMLOutputElement>("time");
  private repeat = byId<HTMLButtonElement>("repeat");
  private scrubbing = false;

  constructor(private app: App) {
    this.play.onclick = () => this.toggle();
    this.repeat.innerHTML = icons.repeat;
    this.repeat.onclick = () => this.toggleRepeat();
    this.clip.onchange = () => void this.choose(Number(this.clip.value));
    this.scrub.oninput = () => this.seek(Number(this.scrub.value));
    this.scrub.onpointerdown = () => (this.scrubbing = true);
    this.scrub.onpointerup = this.scrub.onpointercancel = () => (this.scrubbing = false);
    const speed = byId<HTMLSelectElement>("speed");
    speed.onchange = () => {
      app.speed = Number(speed.value);
      app.applyPlay();
    };
    app.onOpened.push(() => this.list());
    app.onFrame.push(() => this.follow());
    this.show();
  }

  private get seconds(): number {
    const { description } = this.app;
    return description?.clips[description.clip ?? -1]?.seconds ?? 0;
  }

  private list(): void {
    const { description } = this.app;
    if (!description) return;
    const option = (label: string, value: number): HTMLOptionElement => make("option", { value: String(value), textContent: label });
    const named = description.clips.map((clip, index) => option(clip.name.replaceAll("_", " "), index));
    this.clip.replaceChildren(...named, option("rest pose", description.clips.length));
    this.clip.value = String(description.clip ?? description.clips.length);
  }

  async choose(index: number): Promise<void> {
    try {
      await this.app.chooseClip(index);
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
    this.clip.value = String(this.app.description?.clip ?? "");
  }

  toggle(): void {
    this.app.playing = !this.app.playing;
    this.app.applyPlay();
    this.show();
  }

  toggleRepeat(): void {
    this.app.repeat = !this.app.repeat;
    this.repeat.setAttribute("aria-pressed", String(this.app.repeat));
    this.app.applyPlay();
  }

  seek(time: number): void {
    this.app.simulation.order({ type: "seek", time: Math.max(0, Math.min(this.seconds, time)) });
  }

  /** Moves by a number of frames. */
  nudge(frames: number): void {
    this.seek(this.app.time + frames / 30);
  }

  private show(): void {
    const { playing } = this.app;
    this.play.innerHTML = playing ? icons.pause : icons.play;
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  private follow(): void {
    const { time } = this.app;
    this.scrub.max = String(this.seconds || 1);
    this.scrub.disabled = this.seconds === 0;
    if (!this.scrubbing) this.scrub.value = String(time);
    const text = `${time.toFixed(1)} / ${this.seconds.toFixed(1)} s`;
    if (this.time.textContent !== text) this.time.textContent = text;
  }
}
