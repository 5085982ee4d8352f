// The transport bar: play, clip, time, speed.
import type { App } from "./app";
import { byId, make } from "./dom";
import { icons } from "./icons";
import { showMessage } from "./messages";

/** Value of the list's entry for the pose made by hand. */
const POSE = "pose";

export class Transport {
  private play = byId<HTMLButtonElement>("play");
  private clip = byId<HTMLSelectElement>("clip");
  private scrub = byId<HTMLInputElement>("scrub");
  private time = byId<HTMLOutputElement>("time");
  private speed = byId<HTMLSelectElement>("speed");
  private repeat = byId<HTMLButtonElement>("repeat");
  private scrubbing = false;
  /** Whether a rig is edited, over which no clip plays. */
  private locked = false;

  constructor(private app: App) {
    this.play.onclick = () => this.toggle();
    this.repeat.innerHTML = icons.repeat;
    this.repeat.onclick = () => this.toggleRepeat();
    this.clip.onchange = () => void this.choose(this.clip.value);
    this.scrub.oninput = () => this.seek(Number(this.scrub.value));
    this.scrub.onpointerdown = () => (this.scrubbing = true);
    this.scrub.onpointerup = this.scrub.onpointercancel = () => (this.scrubbing = false);
    this.speed.onchange = () => {
      app.speed = Number(this.speed.value);
      app.applyPlay();
    };
    app.onClips.push(() => this.list());
    app.tools.pose.onChange.push(() => this.list());
    app.onFrame.push(() => this.follow());
    app.onPlay.push(() => this.show());
    app.tools.onChoose.push(() => this.holdForPose());
    this.show();
  }

  private get seconds(): number {
    const { description } = this.app;
    return description?.clips[description.clip ?? -1]?.seconds ?? 0;
  }

  private get isPosed(): boolean {
    return this.app.tools.pose.history.isPosed;
  }

  private list(): void {
    const { description } = this.app;
    if (!description) return;
    const option = (label: string, value: string): HTMLOptionElement => make("option", { value, textContent: label });
    const named = description.clips.map((clip, index) => option(clip.name.replaceAll("_", " "), String(index)));
    this.clip.replaceChildren(...named, option("rest pose", String(description.clips.length)));
    if (this.isPosed) this.clip.append(option("your pose", POSE));
    this.clip.value = this.isPosed ? POSE : String(description.clip ?? description.clips.length);
  }

  private async choose(value: string): Promise<void> {
    if (value === POSE) return;
    try {
      await this.app.chooseClip(Number(value));
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
    this.list();
  }

  toggle(): void {
    this.app.pausedForPose = false;
    this.setPlaying(!this.app.playing);
  }

  private setPlaying(on: boolean): void {
    this.app.playing = on;
    this.app.applyPlay();
  }

  /** The pose tool pauses the clip, and another tool goes on with it. */
  private holdForPose(): void {
    const { app } = this;
    const posing = app.tools.current === "pose";
    if (posing === app.pausedForPose || (posing && !app.playing)) return;
    app.pausedForPose = posing;
    this.setPlaying(!posing);
  }

  toggleRepeat(): void {
    this.app.repeat = !this.app.repeat;
    this.app.applyPlay();
  }

  seek(time: number): void {
    this.app.simulation.order({ type: "seek", time: Math.max(0, Math.min(this.seconds, time)) });
  }

  /** Moves by a number of frames. */
  nudge(frames: number): void {
    this.seek(this.app.time + frames / 30);
  }

  /** Stops clips while a rig is edited. */
  lock(on: boolean): void {
    this.locked = on;
    this.app.simulation.order({ type: "rest", on });
    for (const control of [this.play, this.clip, this.speed, this.repeat]) control.disabled = on;
    byId("bar").title = on ? "Clips do not play while the skeleton is edited" : "";
  }

  /** Shows what is in force. */
  show(): void {
    const { playing, repeat, speed } = this.app;
    this.play.innerHTML = playing ? icons.pause : icons.play;
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.repeat.setAttribute("aria-pressed", String(repeat));
    this.speed.value = String(speed);
  }

  private follow(): void {
    const { time } = this.app;
    this.scrub.max = String(this.seconds || 1);
    this.scrub.disabled = this.seconds === 0 || this.isPosed || this.locked;
    if (!this.scrubbing) this.scrub.value = String(time);
    const text = `${time.toFixed(1)} / ${this.seconds.toFixed(1)} s`;
    if (this.time.textContent !== text) this.time.textContent = text;
  }
}
