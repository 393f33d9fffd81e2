// Moving and zooming a plot along x: by wheel, by dragging with Shift, and by keyboard.

import uPlot from "uplot";

/** Share of what is in sight by which a key moves, and by which a notch of the wheel does. */
const [KEY, NOTCH] = [0.1, 0.05];
const ZOOM = 1.25;

function limits(plot: uPlot): [number, number] | undefined {
  const { min, max } = plot.scales.x!;
  return typeof min === "number" && typeof max === "number" && max > min ? [min, max] : undefined;
}

/** Moves what is in sight by a share of it. */
function pan(plot: uPlot, share: number): void {
  const found = limits(plot);
  if (!found) return;
  const shift = share * (found[1] - found[0]);
  plot.setScale("x", { min: found[0] + shift, max: found[1] + shift });
}

/** Makes what is in sight `factor` times as long, around a place. */
function zoom(plot: uPlot, factor: number, around?: number): void {
  const found = limits(plot);
  if (!found) return;
  const at = around ?? (found[0] + found[1]) / 2;
  plot.setScale("x", { min: at - factor * (at - found[0]), max: at + factor * (found[1] - at) });
}

/** What a key does in a plot; false if nothing. `whole`: shows everything again. */
export function moveByKey(plot: uPlot, key: string, whole: () => void): boolean {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => pan(plot, -KEY),
    ArrowRight: () => pan(plot, KEY),
    "+": () => zoom(plot, 1 / ZOOM),
    "-": () => zoom(plot, ZOOM),
    "0": whole,
  };
  actions[key]?.();
  return key in actions;
}

/** Shift and wheel, or a wheel that turns sideways, moves; Ctrl and wheel zooms; the wheel alone scrolls the page. */
function byWheel(plot: uPlot, event: WheelEvent): void {
  const sideways = event.deltaX || (event.shiftKey ? event.deltaY : 0);
  if (!event.ctrlKey && !sideways) return;
  event.preventDefault();
  if (event.ctrlKey) zoom(plot, event.deltaY > 0 ? ZOOM : 1 / ZOOM, plot.posToVal(event.offsetX, "x"));
  else pan(plot, Math.sign(sideways) * NOTCH);
}

function byDragging(plot: uPlot, event: PointerEvent): void {
  if (!event.shiftKey) return;
  let last = event.clientX;
  const move = (now: PointerEvent) => {
    pan(plot, (last - now.clientX) / plot.over.clientWidth);
    last = now.clientX;
  };
  const end = () => removeEventListener("pointermove", move);
  addEventListener("pointermove", move);
  addEventListener("pointerup", end, { once: true });
}

export function moving(): uPlot.Plugin {
  return {
    hooks: {
      ready: (plot) => {
        plot.over.addEventListener("wheel", (event) => byWheel(plot, event), { passive: false });
        plot.over.addEventListener("pointerdown", (event) => byDragging(plot, event));
      },
    },
  };
}

/** For uPlot's cursor: dragging with Shift chooses nothing. */
export const unlessShift: uPlot.Cursor.Bind["mousedown"] = (_plot, _target, handler) => (event) => {
  if (!event.shiftKey) handler(event);
  return null;
};
