// The tabs of the control panel.
import { arrowKeys, byId, make } from "./dom";

export interface Page {
  name: string;
  /** Tooltip of its tab. */
  title: string;
  element: HTMLElement;
  /** Called when the page is shown or hidden. */
  visit?: (open: boolean) => void;
}

export class Panel {
  private tabs: HTMLButtonElement[] = [];
  private current = -1;

  constructor(private pages: Page[]) {
    const list = byId("tabs");
    for (const [index, page] of pages.entries()) {
      const id = page.name.toLowerCase();
      const tab = make("button", { type: "button", textContent: page.name, id: `tab-${id}`, onclick: () => this.show(index), title: page.title });
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", `page-${id}`);
      page.element.id = `page-${id}`;
      page.element.setAttribute("role", "tabpanel");
      page.element.setAttribute("aria-labelledby", tab.id);
      this.tabs.push(tab);
      list.append(tab);
      byId("pages").append(page.element);
    }
    list.onkeydown = (event) => arrowKeys(event, this.tabs);
    byId("more").onclick = () => this.toggle();
    this.show(0);
  }

  /** Name of the open page. */
  get name(): string {
    return this.pages[this.current]?.name ?? "";
  }

  /** Opens a page by its name. */
  open(name: string): void {
    const index = this.pages.findIndex((page) => page.name === name);
    if (index >= 0) this.show(index);
  }

  private show(index: number): void {
    if (this.current !== index) this.pages[this.current]?.visit?.(false);
    for (const [k, tab] of this.tabs.entries()) {
      tab.setAttribute("aria-selected", String(k === index));
      tab.tabIndex = k === index ? 0 : -1;
    }
    for (const [k, page] of this.pages.entries()) page.element.hidden = k !== index;
    const changed = this.current !== index;
    this.current = index;
    if (changed) this.pages[index]?.visit?.(true);
  }

  /** Opens a page, and the panel where it is folded away. */
  openByName(name: string): void {
    this.open(name);
    this.toggle(true);
  }

  toggle(open?: boolean): void {
    const panel = byId("panel");
    panel.classList.toggle("open", open);
    byId("more").setAttribute("aria-expanded", String(panel.classList.contains("open")));
  }
}
