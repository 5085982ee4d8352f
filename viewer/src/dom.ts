// Helpers for labelled, keyboard-accessible controls.

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

export function button(label: string, onclick: () => void, title = "", main = false): HTMLButtonElement {
  return make("button", { type: "button", textContent: label, onclick, title, className: main ? "main" : "" });
}

export function heading(text: string): HTMLHeadingElement {
  return make("h2", { textContent: text });
}

export function buttons(...children: HTMLButtonElement[]): HTMLDivElement {
  return make("div", { className: "buttons" }, ...children);
}

let nextId = 0;

export interface Slider {
  row: HTMLDivElement;
  set(value: number): void;
}

export interface SliderOptions {
  label: string;
  /** Tooltip. */
  title: string;
  min: number;
  max: number;
  step: number;
  /** Logarithmic scale. */
  logarithmic?: boolean;
  show: (value: number) => string;
  /** Called while the slider moves, and with `done` when it is released. */
  change: (value: number, done: boolean) => void;
}

export function slider(options: SliderOptions): Slider {
  const id = `control-${nextId++}`;
  const { logarithmic = false } = options;
  const to = (value: number): number => (logarithmic ? Math.log(value) : value);
  const from = (value: number): number => (logarithmic ? Math.exp(value) : value);
  const input = make("input", { type: "range", id });
  input.min = String(to(options.min));
  input.max = String(to(options.max));
  input.step = logarithmic ? "any" : String(options.step);
  const output = make("output");
  output.htmlFor.add(id);
  const showValue = (value: number): void => {
    output.textContent = options.show(value);
    input.setAttribute("aria-valuetext", options.show(value));
  };
  const read = (): number => {
    const value = from(Number(input.value));
    return Math.round(value / options.step) * options.step;
  };
  input.oninput = () => {
    showValue(read());
    options.change(read(), false);
  };
  input.onchange = () => options.change(read(), true);
  const label = make("label", { htmlFor: id, textContent: options.label });
  return {
    row: make("div", { className: "row", title: options.title }, label, input, output),
    set(value: number): void {
      input.value = String(to(Math.min(options.max, Math.max(options.min, value))));
      showValue(value);
    },
  };
}

export interface Choice<T extends string> {
  element: HTMLElement;
  set(value: T): void;
}

/** Radio buttons in a row; arrow keys move the selection. */
export function segmented<T extends string>(
  label: string,
  choices: readonly (readonly [T, string, string])[],
  change: (value: T) => void,
): Choice<T> {
  const element = make("div", { className: "segmented" });
  element.setAttribute("role", "radiogroup");
  element.setAttribute("aria-label", label);
  const items = choices.map(([value, text, title]) => {
    const item = button(text, () => choose(value), title);
    item.setAttribute("role", "radio");
    return [value, item] as const;
  });
  const set = (chosen: T): void => {
    for (const [value, item] of items) {
      item.setAttribute("aria-checked", String(value === chosen));
      item.tabIndex = value === chosen ? 0 : -1;
    }
  };
  const choose = (value: T): void => {
    set(value);
    change(value);
  };
  element.onkeydown = (event) => arrowKeys(event, items.map(([, item]) => item));
  element.append(...items.map(([, item]) => item));
  return { element, set };
}

export function arrowKeys(event: KeyboardEvent, items: HTMLElement[]): void {
  const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (move === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const next = items[(at + move + items.length) % items.length];
  next?.focus();
  next?.click();
}

export function choiceRow<T extends string>(
  label: string,
  choices: readonly (readonly [T, string])[],
  change: (value: T) => void,
  title = "",
): { row: HTMLDivElement; set(value: T, label?: string): void; enable(on: boolean, why: string): void } {
  const id = `control-${nextId++}`;
  const select = make("select", { id }, ...choices.map(([value, textContent]) => make("option", { value, textContent })));
  select.onchange = () => change(select.value as T);
  const row = make("div", { className: "row wide", title }, make("label", { htmlFor: id, textContent: label }), select);
  return {
    row,
    /** Where it cannot be changed, the tooltip says why. */
    enable(on, why) {
      select.disabled = !on;
      row.title = on ? title : why;
    },
    /** A value that is not in the list, as a settings file may have, is added to it. */
    set(value, label = value) {
      select.querySelector("option[data-added]")?.remove();
      if (!choices.some(([known]) => known === value)) {
        const added = make("option", { value, textContent: label });
        added.dataset["added"] = "";
        select.append(added);
      }
      select.value = value;
    },
  };
}

/** A field for a number that may stay empty; it then shows what is used instead. */
export function numberRow(
  label: string,
  unit: string,
  { min, max }: { min: number; max: number },
  change: (value: number | null) => void,
  title: string,
): { row: HTMLDivElement; set(value: number | null, instead: string): void } {
  const id = `control-${nextId++}`;
  const input = make("input", { type: "number", id, min: String(min), max: String(max), step: "any", inputMode: "decimal" });
  input.oninput = () => {
    const value = input.value.trim() === "" ? null : Number(input.value);
    const fits = value === null ? !input.validity.badInput : value >= min && value <= max;
    input.setCustomValidity(fits ? "" : `from ${min} to ${max} ${unit}`);
    if (fits) change(value);
    else input.reportValidity();
  };
  return {
    row: make("div", { className: "row", title }, make("label", { htmlFor: id, textContent: label }), input, make("output", { textContent: unit })),
    set(value, instead) {
      input.value = value === null ? "" : String(Number(value.toFixed(1)));
      input.placeholder = instead;
    },
  };
}

export function check(label: string, key: string, change: (on: boolean) => void, title = ""): { row: HTMLLabelElement; box: HTMLInputElement } {
  const box = make("input", { type: "checkbox" });
  box.onchange = () => change(box.checked);
  const row = make("label", { className: "check", title }, box, label);
  if (key) row.append(make("small", {}, make("kbd", { textContent: key })));
  return { row, box };
}
