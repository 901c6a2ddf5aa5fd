// Charts are drawn for the width they have; this says when it changes, and what it is on paper.

const redraws: (() => void)[] = [];

export function onWidth(element: HTMLElement, redraw: () => void): void {
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth);
    if (width === drawn) return;
    drawn = width;
    redraw();
  }).observe(element);
  redraws.push(redraw);
}

/** Redraws every chart at once: before printing there is no time to wait for an observer. */
export function redrawAll(): void {
  for (const redraw of redraws) redraw();
}
