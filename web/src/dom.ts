// Builds elements. Strings from a run only ever become text nodes and attribute values, never markup.

export type Child = Node | string | null | undefined | false;
export type Attributes = Record<string, string | number | boolean | null | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** Buttons of which one is pressed. `set` shows a choice made elsewhere. */
export function choice<T extends string>(
  label: string, options: [T, string][], chosen: T, onChoose: (value: T) => void) {
  const buttons = options.map(([value, text]) => {
    const button = html("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      set(value);
      onChoose(value);
    });
    return [value, button] as const;
  });
  const set = (value: T) => {
    for (const [other, button] of buttons) button.setAttribute("aria-pressed", String(other === value));
  };
  set(chosen);
  const element = html("div", { class: "choice", role: "group", "aria-label": label }, ...buttons.map(([, b]) => b));
  return { element, set };
}

/** A labelled drop-down list whose options may change while it keeps its choice. */
export function dropDown(label: string, onChoose: (value: string) => void) {
  const select = html("select", { "aria-label": label });
  select.addEventListener("change", () => onChoose(select.value));
  const element = html("label", { class: "drop-down" }, html("span", {}, label), select);
  const set = (options: [string, string][], chosen: string) => {
    const same = options.length === select.options.length &&
      options.every(([value, text], i) => select.options[i]?.value === value && select.options[i]?.text === text);
    if (!same) select.replaceChildren(...options.map(([value, text]) => html("option", { value }, text)));
    select.value = chosen;
  };
  return { element, set };
}

/** A button that copies a text; where the browser forbids it, the text is selected instead. */
export function copyButton(what: string, source: HTMLElement): HTMLButtonElement {
  const button = html("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = window.getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    try {
      await navigator.clipboard.writeText(source.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}
