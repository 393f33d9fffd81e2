// Rows of lanes over one axis of time, and what mouse, keys and fingers do. The parts of the page are the elements with
// the attribute `data-part`: view (with a canvas), tip, and as far as there are any search, found, cursors, fit, in, out,
// which, help, keys.

import { DRAW, HEIGHTS, View, fitted, ticks } from "./draw.js";
import { changeFrom, countBefore, countUntil, duration, lanesFrom, numberAt, quantity, search, sourceAt, valueAt } from "./lanes.js";

const NAMES = 240, RULER = 22, OVERVIEW = 34, BAR = 12, BAR_LEAST = 28;
// How far, in pixels, a mouse or a finger moves during a click.
const STILL = { mouse: 3, touch: 12 };

class Scope {
  // `root`: the element that has the parts; `keys`: the one whose keys it takes.
  constructor(content, buffer, root, keys = root) {
    this.root = root;
    this.lanes = lanesFrom(content, buffer);
    this.view = new View(content.end);
    this.closed = new Set(this.lanes.filter(({ group }) => group.at(-1) === "pads").map(({ group }) => group.join("/")));
    this.cursors = { a: null, b: null };
    // The cursor that a click sets.
    this.chosen = "a";
    this.scroll = 0;
    this.main = this.part("view");
    this.canvas = this.main.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.arrange();
    this.listen(keys);
    this.frames = 0;
    this.sized = new ResizeObserver(() => this.resize());
    this.sized.observe(this.main);
    this.resize();
  }

  part(name) { return this.root.querySelector(`[data-part="${name}"]`); }

  // Rows from top to bottom: a head for each group, below it its lanes unless it is closed.
  arrange() {
    this.rows = [];
    let path = [], top = 0;
    const add = (row, height) => { this.rows.push({ ...row, top, height }); top += height; };
    for (const lane of this.lanes) {
      let common = 0;
      while (common < path.length && path[common] === lane.group[common]) common++;
      path = lane.group;
      for (let depth = common; depth < path.length; depth++) {
        const key = path.slice(0, depth + 1).join("/");
        if (!this.isHidden(path.slice(0, depth))) add({ group: key, name: path[depth], depth }, HEIGHTS.group);
      }
      if (!this.isHidden(path)) add({ lane, depth: path.length }, HEIGHTS[lane.kind]);
    }
    this.height = top;
  }

  isHidden(group) {
    return group.some((_, depth) => this.closed.has(group.slice(0, depth + 1).join("/")));
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.main, ratio = devicePixelRatio;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.context.scale(ratio, ratio);
    this.size = { width, height };
    this.view.left = Math.min(NAMES, width / 3);
    this.view.right = width;
    this.redraw();
  }

  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); this.frames++; });
  }

  colours() {
    const style = getComputedStyle(this.main);
    return Object.fromEntries(["ground", "panel", "line", "text", "faint", "level", "clock", "steps", "marks", "words", "a", "b"]
      .map((name) => [name, style.getPropertyValue(`--${name}`)]));
  }

  draw() {
    const { context, view, size } = this, colour = this.colours();
    this.scroll = Math.max(0, Math.min(this.scroll, this.height - (size.height - RULER - OVERVIEW)));
    context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    context.fillStyle = colour.ground;
    context.fillRect(0, 0, size.width, size.height);
    const times = ticks(view);
    context.fillStyle = colour.line;
    times.forEach((time) => context.fillRect(view.x(time), RULER, 0.5, size.height));
    for (const row of this.rows) this.drawRow(row, RULER + row.top - this.scroll, colour);
    context.fillStyle = colour.panel;
    context.fillRect(0, 0, size.width, RULER);
    context.fillStyle = colour.text;
    times.forEach((time) => context.fillText(duration(time), view.x(time) + 3, 15));
    this.drawCursors(colour);
    this.drawOverview(colour);
    this.drawBar(colour);
  }

  drawRow(row, top, colour) {
    const { context, view, size } = this;
    if (top + row.height < RULER || top > size.height - OVERVIEW) return;
    if (row.lane) {
      context.save();
      context.beginPath();
      context.rect(view.left, top, view.right - view.left, row.height);
      context.clip();
      DRAW[row.lane.kind](context, row.lane, view, top, row.height, colour);
      context.restore();
    }
    context.fillStyle = colour.panel;
    context.fillRect(0, top, row.lane ? view.left : size.width, row.height);
    context.fillStyle = colour.line;
    context.fillRect(0, top + row.height - 0.5, size.width, 0.5);
    context.fillStyle = row.lane ? colour.text : colour.faint;
    const sign = row.lane ? "" : this.closed.has(row.group) ? "▸ " : "▾ ";
    const left = 8 + 10 * row.depth, taken = row.lane ? this.drawReadings(row, top, colour) : 0;
    context.fillStyle = row.lane ? colour.text : colour.faint;
    const text = fitted(context, sign + (row.lane?.name ?? row.name), view.left - 4 - left - taken);
    context.fillText(text, left, top + row.height / 2 + 4);
  }

  // What a lane says at the cursors, of a quantity the difference as well: pairs of a colour and a text.
  readings(lane) {
    const found = Object.entries(this.cursors).filter(([, time]) => time !== null && ["levels", "steps"].includes(lane.kind))
      .map(([name, time]) => [name, valueAt(lane, time) ?? "–"]);
    const difference = found.length === 2 && lane.kind === "steps" ? numberAt(lane, this.cursors.b) - numberAt(lane, this.cursors.a) : NaN;
    return Number.isNaN(difference) ? found : [...found, ["faint", `Δ ${quantity(difference, lane.unit)}`]];
  }

  // They stand behind the name, those of a quantity below each other. Returns the width that they take.
  drawReadings(row, top, colour) {
    const { context, view } = this, readings = this.readings(row.lane), below = row.lane.kind === "steps";
    let right = view.left - 6, widest = 0;
    for (let number = readings.length - 1; number >= 0; number--) {
      const [name, text] = readings[number], shown = fitted(context, text, 120), width = context.measureText(shown).width;
      const y = top + row.height / 2 + 4 + (below ? 15 * (number - (readings.length - 1) / 2) : 0);
      context.fillStyle = colour[name];
      context.fillText(shown, right - width, y);
      widest = Math.max(widest, view.left - right + width);
      if (!below) right -= width + 10;
    }
    return widest;
  }

  drawCursors(colour) {
    const { context, view, size } = this;
    for (const [name, time] of Object.entries(this.cursors)) {
      if (time === null || view.x(time) < view.left) continue;
      context.fillStyle = colour[name];
      const x = Math.round(view.x(time));
      context.fillRect(x, 0, 1, size.height - OVERVIEW);
      context.fillRect(x - 7, RULER - 15, 15, 15);
      context.fillStyle = colour.ground;
      context.fillText(name.toUpperCase(), x - 3, RULER - 3);
    }
  }

  // The bar at the right, if not all rows can be seen: where it is, and by how much the rows move for each of its pixels.
  bar() {
    const room = this.size.height - RULER - OVERVIEW, hidden = this.height - room;
    if (hidden <= 0 || room <= BAR_LEAST) return null;
    const length = Math.max(room * room / this.height, BAR_LEAST), rate = hidden / (room - length);
    return { top: RULER + this.scroll / rate, length, rate };
  }

  drawBar(colour) {
    const { context, size } = this, bar = this.bar();
    if (!bar) return;
    context.fillStyle = colour.line;
    context.fillRect(size.width - BAR, RULER, BAR, size.height - RULER - OVERVIEW);
    context.fillStyle = colour.faint;
    context.fillRect(size.width - BAR + 2, bar.top, BAR - 4, bar.length);
  }

  // Takes the bar at a place; one beside it brings its middle there.
  takeBar(y) {
    const { top, length, rate } = this.bar();
    if (y < top || y > top + length) this.scroll += (y - top - length / 2) * rate;
    this.redraw();
  }

  // The whole recording below, with the part that is shown.
  drawOverview(colour) {
    const { context, view, size } = this, top = size.height - OVERVIEW;
    context.fillStyle = colour.panel;
    context.fillRect(0, top, size.width, OVERVIEW);
    const whole = this.whole = new View(view.end, view.left, view.right);
    const width = Math.ceil(view.right - view.left);
    if (this.busy?.width !== width || this.busy.colour !== colour.faint) this.busy = this.pictureOf(whole, width, colour.faint);
    context.drawImage(this.busy.picture, view.left, top + OVERVIEW - 28);
    context.strokeStyle = colour.a;
    const from = Math.max(whole.x(view.start), view.left), to = Math.min(whole.x(view.start + view.span), view.right);
    context.strokeRect(from, top + 2, Math.max(to - from, 2), OVERVIEW - 4);
  }

  // The columns of the overview, drawn once: they are the same for every place and magnification.
  pictureOf(whole, width, colour) {
    const picture = new OffscreenCanvas(Math.max(width, 1), 24), context = picture.getContext("2d");
    context.fillStyle = colour;
    this.columns(whole).forEach((share, column) => context.fillRect(column, 24 - 24 * share, 1, 24 * share));
    return { picture, width, colour };
  }

  // How much happens in each column of the overview, 0 to 1.
  columns(whole) {
    const counts = [];
    for (let x = whole.left; x < whole.right; x++) {
      let count = 0;
      for (const { t } of this.lanes) count += countBefore(t, whole.time(x + 1)) - countBefore(t, whole.time(x));
      counts.push(Math.log1p(count));
    }
    const most = Math.max(...counts, 1e-9);
    return counts.map((count) => count / most);
  }

  laneAt(y) {
    const at = y - RULER + this.scroll;
    return this.rows.find(({ top, height }) => top <= at && at < top + height);
  }

  // The time at a place: that of an edge of the lane there, if one is near.
  timeNear(x, y) {
    const time = this.view.time(x), lane = this.laneAt(y)?.lane;
    if (!lane) return time;
    const near = [changeFrom(lane, time, true), changeFrom(lane, time, false)].filter((found) => found !== null);
    const best = near.sort((one, other) => Math.abs(one - time) - Math.abs(other - time))[0];
    return best !== undefined && Math.abs(this.view.x(best) - x) < 8 ? best : time;
  }

  showCursors() {
    const { a, b } = this.cursors, parts = [];
    if (a !== null) parts.push(`A ${duration(a)}`);
    if (b !== null) parts.push(`B ${duration(b)}`);
    if (a !== null && b !== null) parts.push(`B − A ${duration(b - a)}`);
    if (a !== null && b !== null && a !== b) parts.push(quantity(1e9 / Math.abs(b - a), "Hz"));
    this.part("cursors").textContent = parts.join("   ");
    this.debugger?.moved(a);
    this.redraw();
  }

  tip(event) {
    const tip = this.part("tip"), row = this.laneAt(event.offsetY);
    const time = this.view.time(event.offsetX);
    const named = row?.lane && event.offsetX <= this.view.left;
    const value = row?.lane && !named ? this.valueNear(row.lane, event.offsetX, time) : null;
    tip.hidden = value === null && !named;
    if (tip.hidden) return;
    const source = named ? null : sourceAt(this.lanes, row.lane, time);
    tip.textContent = named ? row.lane.name : `${row.lane.name}: ${value}\n${duration(time)}${source ? `\n${source}` : ""}`;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  }

  valueNear(lane, x, time) {
    if (lane.kind !== "marks") return valueAt(lane, time);
    const index = countUntil(lane.t, this.view.time(x + 4)) - 1;
    return index >= 0 && this.view.x(lane.t[index]) > x - 4 ? lane.texts[lane.v[index]] || duration(lane.t[index]) : null;
  }

  find(forwards) {
    const text = this.part("search").value, output = this.part("found");
    if (!text) return;
    const from = this.cursors.a ?? (forwards ? -1 : Infinity);
    const found = search(this.lanes, text, from, forwards);
    output.textContent = found ? `${found[0].name} at ${duration(found[1])}` : `no ${text} ${forwards ? "behind" : "before"} it`;
    if (found) this.point(found[0], found[1]);
  }

  // Cursor A goes to a time, and the view with it, to where a lane can be seen.
  point(lane, time) {
    this.cursors.a = time;
    if (time < this.view.start || time > this.view.start + this.view.span) this.view.show(time);
    if (lane) {
      lane.group.forEach((_, depth) => this.closed.delete(lane.group.slice(0, depth + 1).join("/")));
      this.arrange();
      const row = this.rows.find((row) => row.lane === lane), room = this.size.height - RULER - OVERVIEW;
      if (row.top < this.scroll || row.top + row.height > this.scroll + room) this.scroll = row.top - room / 2;
    }
    this.showCursors();
  }

  listen(keys) {
    const { main, view } = this;
    const change = (action) => { action(); this.redraw(); };
    main.addEventListener("wheel", (event) => {
      event.preventDefault();
      change(() => {
        if (event.shiftKey || event.offsetX < view.left) this.scroll += event.deltaY || event.deltaX;
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(event.deltaX / (view.right - view.left));
        else view.zoom(1.002 ** event.deltaY, event.offsetX);
      });
    }, { passive: false });
    this.listenToPointers();
    this.part("search").addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.find(!event.shiftKey);
    });
    const middle = () => (view.left + view.right) / 2;
    const actions = {
      f: () => view.fit(), z: () => this.zoomToCursors(), "+": () => view.zoom(0.5, middle()), "-": () => view.zoom(2, middle()),
      ArrowLeft: () => view.move(-0.2), ArrowRight: () => view.move(0.2),
      Escape: () => { this.cursors = { a: null, b: null }; this.showCursors(); },
      n: () => this.step(true), p: () => this.step(false),
      ...Object.fromEntries([[",", "less"], [".", "more"], ["<", "back"], [">", "next"]]
        .map(([key, move]) => [key, () => this.debugger?.move(move)])),
    };
    keys.addEventListener("keydown", (event) => {
      const action = actions[event.key] ?? actions[event.key.toLowerCase()];
      if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
      // Nothing else scrolls with it.
      event.preventDefault();
      change(action);
    });
    for (const [name, key] of [["fit", "f"], ["in", "+"], ["out", "-"]]) {
      this.part(name).addEventListener("click", () => change(actions[key]));
    }
    const which = this.part("which");
    which.addEventListener("click", () => {
      this.chosen = this.chosen === "a" ? "b" : "a";
      which.textContent = this.chosen.toUpperCase();
      which.dataset.cursor = this.chosen;
    });
    this.part("help").addEventListener("click", () => this.part("keys").showModal());
  }

  // Mouse and fingers: one moves the view, two zoom it as well. A click sets a cursor, two fingers set both.
  listenToPointers() {
    const { main, view } = this, pressed = new Map();
    let gesture = null;
    const places = () => [...pressed.values()].slice(0, 2);
    // The middle between the pointers, and their distance; 0 of one.
    const middle = ([one, other = one]) => (
      { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.hypot(one.x - other.x, one.y - other.y) }
    );
    main.addEventListener("pointerdown", (event) => {
      main.setPointerCapture(event.pointerId);
      pressed.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      const overview = event.offsetY > this.size.height - OVERVIEW;
      const bar = !overview && event.offsetX > this.size.width - BAR && this.bar() !== null;
      gesture ??= { moved: 0, overview, bar };
      gesture.places = places();
      if (gesture.overview) this.showOverview(event);
      else if (gesture.bar) this.takeBar(event.offsetY);
    });
    main.addEventListener("pointermove", (event) => {
      this.mouse = event;
      const last = pressed.get(event.pointerId);
      if (!last) return this.tip(event);
      const before = middle(places());
      gesture.moved += Math.abs(event.offsetX - last.x) + Math.abs(event.offsetY - last.y);
      [last.x, last.y] = [event.offsetX, event.offsetY];
      const now = middle(places());
      if (gesture.overview) this.showOverview(event);
      else if (gesture.bar) {
        this.scroll += (now.y - before.y) * (this.bar()?.rate ?? 0);
        this.redraw();
      } else if (gesture.moved > (STILL[event.pointerType] ?? STILL.mouse)) {
        this.part("tip").hidden = true;
        if (before.apart && now.apart) view.zoom(before.apart / now.apart, before.x);
        view.move((before.x - now.x) / (view.right - view.left));
        this.scroll += before.y - now.y;
        this.redraw();
      }
    });
    main.addEventListener("pointerup", (event) => {
      pressed.delete(event.pointerId);
      if (!gesture || pressed.size) return;
      const { moved, overview, bar, places: [one, other] } = gesture;
      gesture = null;
      this.mouse = event;
      if (overview || bar || moved > (STILL[event.pointerType] ?? STILL.mouse)) return;
      if (other) this.setCursors([one, other].sort((left, right) => left.x - right.x));
      else this.click(event);
      if (event.pointerType === "touch") this.tip(event);
    });
    main.addEventListener("pointercancel", (event) => {
      pressed.delete(event.pointerId);
      if (!pressed.size) gesture = null;
    });
    main.addEventListener("pointerleave", (event) => {
      // A finger leaves when it is lifted; what it has found stays.
      if (event.pointerType !== "touch") this.part("tip").hidden = true;
    });
  }

  showOverview(event) {
    this.view.show(this.whole.time(event.offsetX));
    this.redraw();
  }

  // Cursor A to the first place, cursor B to the second one.
  setCursors([one, other]) {
    this.cursors = { a: this.timeNear(one.x, one.y), b: this.timeNear(other.x, other.y) };
    this.showCursors();
  }

  click(event) {
    const row = this.laneAt(event.offsetY);
    if (row?.group) {
      if (!this.closed.delete(row.group)) this.closed.add(row.group);
      this.arrange();
      this.redraw();
    } else if (event.offsetX > this.view.left) {
      this.cursors[event.shiftKey ? "b" : this.chosen] = this.timeNear(event.offsetX, event.offsetY);
      this.showCursors();
    }
  }

  // The view from one cursor to the other one, with some room beside them.
  zoomToCursors() {
    const { a, b } = this.cursors;
    if (a !== null && b !== null && a !== b) this.view.over(Math.min(a, b), Math.max(a, b));
  }

  // Cursor A to the next change of the lane under the mouse.
  step(forwards) {
    const lane = this.mouse && this.laneAt(this.mouse.offsetY)?.lane;
    if (!lane) return;
    const found = changeFrom(lane, this.cursors.a ?? this.view.time(this.mouse.offsetX), forwards);
    if (found !== null) this.point(null, found);
  }
}

export { Scope };
