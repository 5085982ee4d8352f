// Records one loop of the clip as a video.
import type { App } from "./app";
import { showMessage } from "./messages";
import { recorder } from "./save";

/** Time that is played before the loop, so that the tissue swings as it does in every later loop [s]. */
const RUN_UP = 1.5;

export class LoopVideo {
  private running = false;
  /** What is called with every frame that is drawn. */
  private onFrame: (() => void) | null = null;

  constructor(
    private app: App,
    private done: (file: Blob, extension: string) => void,
  ) {
    app.onFrame.push(() => this.onFrame?.());
  }

  /** Plays the end of the clip, records it from its beginning to its end, and sets everything as it was. */
  async record(): Promise<void> {
    const { app } = this;
    const { description } = app;
    const clip = description?.clips[description.clip ?? -1];
    if (this.running || app.recording) return;
    if (app.tools.pose.history.isPosed) throw new Error("A pose is shown, which does not move: reset it to record the clip.");
    if (!clip || clip.seconds === 0) throw new Error("Choose a clip first: one loop of it is recorded.");
    let cancelled = false;
    let keep = true;
    const video = recorder(app.scene.canvas, (file, extension) => {
      if (keep) this.done(file, extension);
    });
    if (!video) throw new Error("This browser cannot record video of the page.");
    const { playing, repeat } = app;
    const note = showMessage("Recording one loop…", "plain", null, { label: "Cancel", run: () => (cancelled = true) });
    note.update("Recording one loop…", 0);
    this.running = true;
    app.record(true);
    app.scene.framing.whole = true;
    app.playing = app.repeat = true;
    app.applyPlay();
    app.simulation.order({ type: "seek", time: Math.max(0, clip.seconds - RUN_UP) });
    try {
      const stopped = (): boolean => cancelled || app.description !== description || !app.playing;
      await this.wrap(stopped, () => {});
      if (!stopped()) {
        video.start();
        await this.wrap(stopped, (time) => note.update("Recording one loop…", time / clip.seconds));
      }
      keep = !stopped();
      if (video.state !== "inactive") video.stop();
    } finally {
      note.close();
      this.running = app.scene.framing.whole = false;
      app.record(false);
      Object.assign(app, { playing, repeat });
      app.applyPlay();
    }
  }

  /** Waits until the clip begins anew, or until it is stopped. */
  private wrap(stopped: () => boolean, tell: (time: number) => void): Promise<void> {
    let last = -1;
    return new Promise((resolve) => {
      this.onFrame = () => {
        const { time } = this.app;
        tell(time);
        if (stopped() || time < last - 1e-6) {
          this.onFrame = null;
          resolve();
        }
        last = time;
      };
    });
  }
}
