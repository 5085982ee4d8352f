// Export page: motion, pose, picture, video.
import type { App } from "./app";
import { button, buttons, choiceRow, heading, make } from "./dom";
import { showMessage } from "./messages";
import type { Page } from "./panel";
import { MOTION_FORMATS, STILL_FORMATS, type MotionFormat, type StillFormat } from "./protocol";
import { LoopVideo } from "./loop-video";
import { recorder, save } from "./save";

const RATES = [["24", "24"], ["30", "30"], ["60", "60"]] as const;
const BOUNDS = [["0.5", "0.5 mm"], ["1", "1 mm"], ["2", "2 mm"], ["5", "5 mm"]] as const;
const SIZES = [["window", "As the window"], ["1920x1080", "1920 × 1080"], ["2560x1440", "2560 × 1440"], ["3840x2160", "3840 × 2160"], ["2048x2048", "2048 × 2048"]] as const;
const MOTION_TITLES: Record<MotionFormat, string> = {
  glb: "The file's own skinning plus corrective morph targets, for any engine",
  pc2: "A point cache of every frame, for the mesh of the file: Blender, 3ds Max, Houdini",
  mdd: "A point cache of every frame, for the mesh of the file: Blender, Maya, LightWave",
};
const STILL_TYPES: Record<StillFormat, string> = { glb: "model/gltf-binary", obj: "text/plain", pc2: "application/octet-stream" };
const STILL_TITLES: Record<StillFormat, string> = {
  glb: "The character with its skeleton in this pose, and a corrective shape",
  obj: "The posed mesh, in the units and axes of the file",
  pc2: "A point cache of one frame, for the mesh of the file",
};

export class ExportPage implements Page {
  name = "Export";
  title = "Save motions, poses and pictures";
  element = make("div");
  private fps = 30;
  private bound = 1;
  private size: string = "window";
  private running: MediaRecorder | null = null;
  private record: HTMLButtonElement;
  private loop: LoopVideo;

  constructor(private app: App) {
    this.loop = new LoopVideo(app, (file, extension) => save(`${this.motionName}.${extension}`, file, file.type));
    const rate = choiceRow("Frames per second", RATES, (value) => (this.fps = Number(value)), "Frames per second of the exported motion");
    const bound = choiceRow("Largest error", BOUNDS, (value) => (this.bound = Number(value)), "How far the skin of a GLB may be from the simulated one; point caches are exact");
    const size = choiceRow("Resolution", SIZES, (value) => (this.size = value), "Size of saved pictures in pixels");
    rate.set("30");
    bound.set("1");
    size.set("window");
    this.record = button("Record video", () => this.toggleVideo(), "Record what the window shows");
    const motions = MOTION_FORMATS.map((format, index) => button(`Export ${format.toUpperCase()}`, () => void this.bake(format), MOTION_TITLES[format], index === 0));
    const stills = STILL_FORMATS.map((format) => button(format.toUpperCase(), () => void this.still(format), STILL_TITLES[format]));
    this.element.append(
      heading("Motion"),
      make("p", { textContent: "Simulates the clip and saves it: as a GLB that any engine can play, or as a point cache for the mesh." }),
      rate.row,
      bound.row,
      buttons(...motions),
      heading("Pose"),
      make("p", { textContent: "Saves the body as it is shown now." }),
      buttons(...stills),
      heading("Pictures"),
      size.row,
      buttons(
        button("Save PNG", () => void this.picture(), "Save a picture with a transparent background (Ctrl+S)"),
        this.record,
        button("Record one loop", () => void this.recordLoop(), "Record the clip once from its beginning to its end"),
      ),
    );
  }

  private get fileName(): string {
    return this.app.description?.info.name ?? "supple";
  }

  /** Name of a file of the current clip, without its extension. */
  private get motionName(): string {
    const { description } = this.app;
    return `${this.fileName}-${description?.clips[description.clip ?? -1]?.name ?? "motion"}`;
  }

  async bake(format: MotionFormat): Promise<void> {
    const note = showMessage("Simulating the clip…", "plain", null);
    this.app.simulation.onProgress = (share) => note.update(share < 0.8 ? "Simulating the clip…" : "Computing correctives…", share);
    try {
      const bytes = await this.app.simulation.request("bake", { format, fps: this.fps, boundMm: this.bound });
      const name = `${this.motionName}.${format}`;
      save(name, bytes as BlobPart, format === "glb" ? "model/gltf-binary" : "application/octet-stream");
      showMessage(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB`, "good");
    } catch (error) {
      showMessage((error as Error).message, "bad");
    } finally {
      note.close();
    }
  }

  async still(format: StillFormat): Promise<void> {
    try {
      const bytes = await this.app.simulation.request("still", { format });
      save(`${this.fileName}-pose.${format}`, bytes as BlobPart, STILL_TYPES[format]);
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  async picture(): Promise<void> {
    const [width, height] = this.size === "window" ? [] : this.size.split("x").map(Number);
    try {
      save(`${this.fileName}.png`, await this.app.picture(width, height), "image/png");
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  private async recordLoop(): Promise<void> {
    try {
      await this.loop.record();
    } catch (error) {
      showMessage((error as Error).message, "bad");
    }
  }

  toggleVideo(): void {
    const { app } = this;
    if (this.running) {
      this.running.stop();
      this.running = null;
      app.record(false);
      this.record.textContent = "Record video";
      return;
    }
    if (app.recording) return;
    const video = recorder(app.scene.canvas, (file, extension) => save(`${this.fileName}.${extension}`, file, file.type));
    if (!video) {
      showMessage("This browser cannot record video of the page.", "bad");
      return;
    }
    video.start(500);
    this.running = video;
    app.record(true);
    this.record.textContent = "Stop and save";
  }
}
