// Draws lanes on a canvas. However many entries a lane has, it takes a few steps for each column of pixels.

import { CLOCKING, FLOATING, clockAt, countBeforeFrom, countUntil, quantity } from "./lanes.js";

const HEIGHTS = { levels: 24, steps: 56, marks: 24, words: 24, group: 20 };
const INSET = 5;

// Over what is drawn: a time to a place and back.
class View {
  constructor(end, left = 0, right = 1) {
    this.end = Math.max(end, 1);
    this.left = left;
    this.right = right;
    this.fit();
  }

  fit() { const margin = 0.02 * this.end; this.start = -margin; this.span = this.end + 2 * margin; }

  x(time) { return this.left + (time - this.start) / this.span * (this.right - this.left); }

  time(x) { return this.start + (x - this.left) / (this.right - this.left) * this.span; }

  zoom(factor, x) {
    const fixed = this.time(x), span = Math.min(Math.max(this.span * factor, 10), 4 * this.end + 100);
    this.start = fixed - (fixed - this.start) * span / this.span;
    this.span = span;
    this.hold();
  }

  move(share) { this.start += share * this.span; this.hold(); }

  show(time) { this.start = time - this.span / 2; this.hold(); }

  over(from, to) {
    const room = Math.max(0.05 * (to - from), 5);
    this.start = from - room;
    this.span = to - from + 2 * room;
    this.hold();
  }

  // Some of the recording stays in sight.
  hold() { this.start = Math.min(Math.max(this.start, -0.9 * this.span), this.end - 0.1 * this.span); }
}

// Calls `one(index, x, next)` for an entry that has room, with the places of itself and of the next
// one, and `many(first, last, x, width)` for those that share the column at x, or, if `joined`,
// columns side by side. An entry before the view begins at its left edge.
function walk(view, times, one, many, joined = true) {
  let index = Math.max(countUntil(times, view.time(view.left)) - 1, 0), run = null;
  const flush = () => { if (run) many(run.first, run.last, run.x, run.width); run = null; };
  for (;;) {
    const x = index < times.length ? view.x(times[index]) : Infinity;
    if (x > view.right) return flush();
    const column = Math.floor(x), last = countBeforeFrom(times, view.time(column + 1), index);
    if (last - index > 1 && x >= view.left) {
      if (!run || !joined || run.x + run.width !== column) flush();
      run ??= { first: index, x: column, width: 0 };
      run.last = last;
      run.width++;
      index = last;
    } else {
      flush();
      const next = index + 1 < times.length ? view.x(times[index + 1]) : view.right;
      one(index, Math.max(x, view.left), Math.min(next, view.right));
      index++;
    }
  }
}

const DRAW = {
  levels(context, lane, view, top, height, colour) {
    const low = top + height - INSET, high = top + INSET;
    const y = (level) => level === 1 ? high : low;
    context.strokeStyle = context.fillStyle = colour.level;
    const span = (level, x, next) => {
      if (level === FLOATING) {
        context.fillStyle = colour.line;
        context.fillRect(x, (low + high) / 2, next - x, 1);
      } else {
        context.fillStyle = colour.level;
        context.globalAlpha = 0.22;
        if (level === 1) context.fillRect(x, high, next - x, low - high);
        context.globalAlpha = 1;
        context.fillRect(x, y(level) - 0.5, Math.max(next - x, 1), 1.5);
      }
    };
    const edge = (x) => { context.fillStyle = colour.level; context.fillRect(Math.round(x - 0.5), high, 1, low - high); };
    const first = lane.t.length ? Math.min(view.x(lane.t[0]), view.right) : view.right;
    if (first > view.left) span(lane.initial, view.left, first);
    walk(view, lane.t, (index, x, next) => {
      if (view.x(lane.t[index]) >= view.left) edge(x);
      if (lane.v[index] === CLOCKING) drawClock(context, clockAt(lane, index), view, x, next, low, high, colour, span, edge);
      else span(lane.v[index], x, next);
    }, (from, to, x, width) => {
      context.fillStyle = colour.level;
      context.fillRect(x, high, width, low - high);
      x += width - 1;
      const level = lane.v[to - 1], next = to < lane.t.length ? Math.min(view.x(lane.t[to]), view.right) : view.right;
      if (level === CLOCKING) drawClock(context, clockAt(lane, to - 1), view, x, next, low, high, colour, span, edge);
      else span(level, x, next);
    });
  },

  steps(context, lane, view, top, height, colour) {
    const low = top + height - INSET, high = top + INSET + 10;
    const [least, greatest] = lane.extents.of(0, lane.v.length);
    if (least > greatest) return;
    const range = greatest - least;
    const y = (value) => range ? low - (value - least) / range * (low - high) : (low + high) / 2;
    context.fillStyle = colour.steps;
    walk(view, lane.t, (index, x, next) => {
      const value = lane.v[index];
      const from = index && view.x(lane.t[index]) >= view.left ? lane.v[index - 1] : NaN;
      if (!Number.isNaN(value)) context.fillRect(x, y(value) - 0.75, Math.max(next - x, 1), 1.5);
      if (!Number.isNaN(value) && !Number.isNaN(from)) {
        context.fillRect(x - 0.5, Math.min(y(from), y(value)), 1, Math.abs(y(from) - y(value)));
      }
    }, (from, to, x) => {
      // With the value that there was until then.
      const [least, greatest] = lane.extents.of(Math.max(from - 1, 0), to);
      if (least <= greatest) context.fillRect(x, y(greatest), 1, Math.max(y(least) - y(greatest), 1.5));
      const last = lane.v[to - 1], next = to < lane.t.length ? view.x(lane.t[to]) : view.right;
      if (!Number.isNaN(last) && next > x + 1) context.fillRect(x, y(last) - 0.75, Math.min(next, view.right) - x, 1.5);
    }, false);
    context.fillStyle = colour.faint;
    const texts = range ? [[greatest, high - 3], [least, low + 1]] : [[least, high - 3]];
    texts.forEach(([value, at]) => context.fillText(quantity(value, lane.unit), view.left + 4, at));
  },

  marks(context, lane, view, top, height, colour) {
    walk(view, lane.t, (index, x, next) => {
      if (view.x(lane.t[index]) < view.left) return;
      context.fillStyle = colour.marks;
      context.fillRect(Math.round(x) - 1, top + 4, 2, height - 8);
      label(context, lane.texts[lane.v[index]], x + 4, next - 2, top, height, colour.text);
    }, (from, to, x, width) => drawDense(context, colour.marks, x, top + 4, width, height - 8));
  },

  words(context, lane, view, top, height, colour) {
    walk(view, lane.t, (index, x) => {
      const end = Math.min(view.x(lane.ends[index]), view.right);
      if (end < view.left) return;
      context.fillStyle = colour.words;
      context.globalAlpha = 0.22;
      context.fillRect(x, top + 3, Math.max(end - x, 1), height - 6);
      context.globalAlpha = 1;
      context.fillRect(x, top + 3, 1, height - 6);
      context.fillRect(x, top + 3, Math.max(end - x, 1), 1);
      context.fillRect(x, top + height - 4, Math.max(end - x, 1), 1);
      label(context, lane.texts[lane.v[index]], x + 4, end - 2, top, height, colour.text);
    }, (from, to, x, width) => drawDense(context, colour.words, x, top + 3, width, height - 6));
  },
};

// Entries that cannot be told apart.
function drawDense(context, colour, x, top, width, height) {
  context.fillStyle = colour;
  context.globalAlpha = 0.6;
  context.fillRect(x, top, width, height);
  context.globalAlpha = 1;
}

// A clock between two places: its edges if they can be told apart, else a band.
function drawClock(context, clock, view, x, next, low, high, colour, span, edge) {
  let count = clock.countUntil(view.time(x));
  const last = Math.min(clock.countUntil(view.time(next)), clock.changes);
  if (last - count > (next - x) / 3) {
    context.fillStyle = colour.clock;
    context.globalAlpha = 0.5;
    context.fillRect(x, high, next - x, low - high);
    context.globalAlpha = 1;
    label(context, quantity(clock.hertz, "Hz"), x + 4, next - 2, high, low - high, colour.text);
    return;
  }
  for (; count <= last; count++) {
    const end = count < last ? view.x(clock.timeOf(count)) : next;
    span(clock.levelAfter(count), x, end);
    if (count < last) edge(end);
    x = end;
  }
}

// A name, or as much of it as fits into so many pixels: without its middle, since names differ at their ends.
function fitted(context, text, width) {
  const whole = context.measureText(text).width;
  if (whole <= width) return text;
  const cut = (length) => `${text.slice(0, Math.floor(length / 2))}…${text.slice(text.length - Math.ceil(length / 2))}`;
  let length = Math.ceil((text.length * width) / whole);
  while (length > 1 && context.measureText(cut(length)).width > width) length--;
  return cut(length);
}

// A text between two places, if a good part of it fits.
function label(context, text, from, to, top, height, colour) {
  if (!text || to - from < 24) return;
  const room = Math.floor((to - from) / 6.2);
  context.fillStyle = colour;
  context.fillText(text.length > room ? `${text.slice(0, Math.max(room - 1, 1))}…` : text, from, top + height / 2 + 4);
}

// Times for the ruler: round, at least 110 pixels apart.
function ticks(view) {
  const least = view.span / (view.right - view.left) * 110;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
  const found = [];
  for (let time = Math.ceil(view.start / step) * step; time < view.start + view.span; time += step) found.push(time);
  return found;
}

export { DRAW, HEIGHTS, View, fitted, ticks };
