// Files from the page: GLB, picture, film.
import type { App } from "./app";
import { button, buttons, choiceRow, heading, make } from "./dom";
import { say } from "./messages";
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
    const rate = choiceRow("Frames a second", [["24", "24"], ["30", "30"], ["60", "60"]] as const, (value) => (this.fps = Number(value)));
    const bound = choiceRow("Largest error", [["0.5", "0.5 mm"], ["1", "1 mm"], ["2", "2 mm"], ["5", "5 mm"]] as const, (value) => (this.bound = Number(value)));
    rate.set("30");
    bound.set("1");
    this.record = button("Record film", () => this.toggleFilm());
    this.element.append(
      heading("Motion"),
      make("p", { textContent: "The clip as simulated, baked into a GLB that any engine plays: the file's own skin, plus the morph targets that correct it." }),
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
    const note = say("Simulating the clip…", "plain", null);
    this.app.simulation.onProgress = (share) => note.update(share < 0.8 ? "Simulating the clip…" : "Finding correctives…", share);
    try {
      const bytes = await this.app.simulation.request("bake", { fps: this.fps, boundMm: this.bound });
      const { description } = this.app;
      const clip = description?.clips[description.clip ?? -1]?.name ?? "motion";
      save(`${this.title}-${clip}.glb`, bytes as BlobPart, "model/gltf-binary");
      say(`${this.title}-${clip}.glb: ${(bytes.length / 1e6).toFixed(1)} MB`, "good");
    } catch (error) {
      say((error as Error).message, "bad");
    } finally {
      note.close();
    }
  }

  async picture(): Promise<void> {
    save(`${this.title}.png`, await this.app.picture(), "image/png");
  }

  toggleFilm(): void {
    if (this.running) {
      this.running.stop();
      this.running = null;
      this.record.textContent = "Record film";
      return;
    }
    const film = recorder(this.app.scene.canvas, (file, ending) => save(`${this.title}.${ending}`, file, file.type));
    if (!film) {
      say("This browser cannot record a film of the page.", "bad");
      return;
    }
    film.start(500);
    this.running = film;
    this.record.textContent = "Stop and save";
  }
}
