// What every part of the page is made of: a heading, a sentence that says how to read it, controls, and pictures.
import { html, type Child } from "../dom";

export function part(id: string, title: string, explanation: string, ...children: Child[]): HTMLElement {
  return html("section", { id, "aria-labelledby": `${id}-title` },
    html("h2", { id: `${id}-title` }, title),
    explanation !== "" && html("p", { class: "explanation" }, explanation),
    ...children);
}

/** A picture with its name and a note below the name; `aside` stands to the right of the name. */
export function figure(title: string, note: string, picture: Element, aside?: Child): HTMLElement {
  return html("figure", {},
    html("figcaption", {}, html("div", {}, html("h3", {}, title), note !== "" && html("p", {}, note)), aside),
    picture);
}
