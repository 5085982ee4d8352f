// Export page: GLB, picture, video.
import type { App } from "./app";
import { button, buttons, choiceRow, heading, make } from "./dom";
import { showMessage } from "./messages";
import type { Page } from "./panel";
import { recorder, save } from "./save";

export class ExportPage implements Page {
  name = "Export";
  element = make("div");
  private fps = 30;
  private bound = 1;
  private running: MediaRecorder | null = null;
  private record: HTMLButtonElement;

  constructor(private app: App) {
    const rate = choiceRow("Frames per second", [["24", "24"], ["30", "30"], ["60", "60"]] as const, (value) => (this.fps = Number(value)));
    const bound = choiceRow("Largest error", [["0.5", "0.5 mm"], ["1", "1 mm"], ["2", "2 mm"], ["5", "5 mm"]] as const, (value) => (this.bound = Number(value)));
    rate.set("30");
    bound.set("1");
    this.record = button("Record video", () => this.toggleVideo());
    this.element.append(
      heading("Motion"),
      make("p", { textContent: "Bakes the simulated clip into a GLB that any engine can play: the file's own skinning plus corrective morph targets." }),
      rate.row,
      bound.row,
      buttons(button("Export GLB", () => void this.bake(), true)),
      heading("Pictures"),
      buttons(
        button("Save PNG", () => void this.picture()),
        this.record,
      ),
    );
  }

  private get title(): string {
    return this.app.description?.info.name ?? "supple";
  }

  async bake(): Promise<void> {
    const note = showMessage("Simulating the clip…", "plain", null);
    this.app.simulation.onProgress = (share) => note.update(share < 0.8 ? "Simulating the clip…" : "Computing correctives…", share);
    try {
      const bytes = await this.app.simulation.request("bake", { fps: this.fps, boundMm: this.bound });
      const { description } = this.app;
      const clip = description?.clips[description.clip ?? -1]?.name ?? "motion";
      save(`${this.title}-${clip}.glb`, bytes as BlobPart, "model/gltf-binary");
      showMessage(`${this.title}-${clip}.glb: ${(bytes.length / 1e6).toFixed(1)} MB`, "good");
    } catch (error) {
      showMessage((error as Error).message, "bad");
    } finally {
      note.close();
    }
  }

  async picture(): Promise<void> {
    save(`${this.title}.png`, await this.app.picture(), "image/png");
  }

  toggleVideo(): void {
    if (this.running) {
      this.running.stop();
      this.running = null;
      this.record.textContent = "Record video";
      return;
    }
    const video = recorder(this.app.scene.canvas, (file, extension) => save(`${this.title}.${extension}`, file, file.type));
    if (!video) {
      showMessage("This browser cannot record video of the page.", "bad");
      return;
    }
    video.start(500);
    this.running = video;
    this.record.textContent = "Stop and save";
  }
}
