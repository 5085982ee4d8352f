// The parts of a character: click one and choose what it is made of.
import type { App } from "./app";
import { button, choiceRow, heading, make } from "./dom";
import type { Settings, ShellEntry, ShellKind } from "./protocol";

const KINDS = [["automatic", "Automatic"], ["flesh", "Flesh"], ["cloth", "Cloth"], ["rigid", "Rigid"], ["hair", "Hair"], ["skinned", "Own weights"]] as const;
const NAMES: Record<ShellKind, string> = { flesh: "flesh", cloth: "cloth", rigid: "rigid", hair: "hair", skinned: "own weights" };
type KindChoice = (typeof KINDS)[number][0];

export class PartsBlock {
  readonly element = make("div", { hidden: true });
  private shells: ShellEntry[] = [];
  private ofVertices = new Uint32Array(0);
  private selected: number | null = null;
  private open = false;
  private list = make("ul", { className: "joints" });
  private reason = make("p");
  private kind = choiceRow("Made of", KINDS, (kind) => this.use(kind), "Flesh is simulated, cloth follows the flesh below it, hair its joints, rigid parts keep their shape");

  constructor(
    private app: App,
    /** Changes the settings and builds the tissue again. */
    private rebuild: (edit: (settings: Settings) => void) => void,
  ) {
    this.element.append(heading("Parts"), make("p", { textContent: "Click a part of the body, or choose it here." }), this.list, this.kind.row, this.reason);
    app.onBuilt.push(() => void this.refresh());
    app.onOpened.push(() => this.forget());
    app.tools.onClick.push(({ vertex }) => {
      const shell = this.ofVertices[vertex];
      if (this.open && shell !== undefined && shell < this.shells.length) this.select(shell);
    });
  }

  /** The selected part is coloured while the page is open. */
  visit(open: boolean): void {
    this.open = open;
    this.show();
  }

  private forget(): void {
    this.shells = [];
    this.ofVertices = new Uint32Array(0);
    this.selected = null;
    this.show();
  }

  private async refresh(): Promise<void> {
    const answer = await this.app.simulation.request("shells", {}).catch(() => null);
    if (!answer) return;
    this.shells = answer.shells;
    this.ofVertices = answer.ofVertices as Uint32Array<ArrayBuffer>;
    if (this.selected !== null && this.selected >= this.shells.length) this.selected = null;
    this.show();
  }

  private select(shell: number): void {
    this.selected = shell;
    this.show();
    this.list.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private use(kind: KindChoice): void {
    const shell = this.selected === null ? undefined : this.shells[this.selected];
    if (!shell) return;
    this.rebuild((settings) => {
      if (kind === "automatic") delete settings.shells[shell.key];
      else settings.shells[shell.key] = kind;
    });
  }

  private show(): void {
    this.element.hidden = this.shells.length === 0;
    this.list.replaceChildren(
      ...this.shells.map((shell, index) => {
        const item = button("", () => this.select(index), shell.reason);
        item.append(make("span", { textContent: shell.key }), make("small", { textContent: NAMES[shell.kind] }));
        item.setAttribute("aria-pressed", String(index === this.selected));
        return make("li", {}, item);
      }),
    );
    const shell = this.selected === null ? undefined : this.shells[this.selected];
    this.kind.row.hidden = this.reason.hidden = !shell;
    if (shell) {
      const given = this.app.settings?.shells[shell.key];
      this.kind.set((given ?? "automatic") as KindChoice, given);
      this.reason.textContent = `${shell.vertices.toLocaleString("en")} vertices, ${NAMES[shell.kind]}: ${shell.reason}`;
    }
    this.colour();
  }

  private colour(): void {
    const { open, selected, ofVertices } = this;
    for (const body of this.app.bodies) {
      const marked: number[] = [];
      const { corners } = body;
      for (let k = 0; open && selected !== null && k + 2 < corners.length; k += 3) {
        if (ofVertices[corners[k] ?? 0] === selected) marked.push(corners[k] ?? 0, corners[k + 1] ?? 0, corners[k + 2] ?? 0);
      }
      body.highlight(marked);
    }
  }
}
