// The kernel at cursor A, in a run that was repeated: source, functions that had not returned, variables, and what
// chips, ions and pins had. A step is a call of the device's firmware.

import { countUntil, duration, valueAt } from "./lanes.js";

// The steps of a page. `content.steps`: `t`, the times; `at`, where each begins in `words`; `on`, the number of its
// board in `boards`; `files` (`name`, `own`, `text`). A step in `words`: number of functions; for each, innermost first,
// number of its file, line, number of its
// name, number of variables, and of each the numbers of name and value.
class Kernel {
  constructor(content, buffer) {
    const { t, at, words, files, boards, on } = content.steps;
    this.t = new Float64Array(buffer, ...t);
    this.at = new Uint32Array(buffer, ...at);
    this.words = new Uint32Array(buffer, ...words);
    this.on = new Uint32Array(buffer, ...on);
    this.boards = boards;
    this.board = null;
    this.texts = content.texts;
    this.files = files;
  }

  // Whether a step is one of those that are shown: of the chosen board, or of any.
  shown(step) { return this.board === null || this.on[step] === this.board; }

  // The number of the step that the processor had made last at a time; -1: none.
  stepAt(time) {
    let step = countUntil(this.t, time) - 1;
    while (step >= 0 && !this.shown(step)) step--;
    return step;
  }

  // The step before one on the same board; -1: none.
  before(step) {
    let at = step - 1;
    while (at >= 0 && this.on[at] !== this.on[step]) at--;
    return at;
  }

  // The functions of a step, innermost first.
  functions(step) {
    const found = [];
    let at = this.at[step];
    const next = () => this.words[at++];
    for (let count = next(); count > 0; count--) {
      const [file, line, name] = [next(), next(), next()], variables = [];
      for (let left = next(); left > 0; left--) variables.push([this.texts[next()], this.texts[next()]]);
      found.push({ file, line, name: this.texts[name], variables });
    }
    return found;
  }

  // The innermost function of the user's own files, else the innermost one: its number among the functions.
  ownOf(functions) { return Math.max(functions.findIndex(({ file }) => this.files[file].own), 0); }

  // The next step (or the one before) from `step` on for which `wanted(functions)`; null if there is none.
  find(step, forwards, wanted) {
    for (let at = step + (forwards ? 1 : -1); at >= 0 && at < this.t.length; at += forwards ? 1 : -1) {
      if (this.shown(at) && wanted(this.functions(at), at)) return at;
    }
    return null;
  }

  // The next step (or the one before) on another line of the user's own files, or with another depth there.
  line(step, forwards) {
    const place = (functions, at) => {
      const own = functions[this.ownOf(functions)];
      return own && `${this.on[at]}:${own.file}:${own.line}:${functions.length}`;
    };
    const here = step < 0 ? null : place(this.functions(step), step);
    return this.find(step, forwards, (functions, at) => place(functions, at) !== here);
  }

  // The next step (or the one before) at a line.
  reach(step, forwards, file, line) {
    return this.find(step, forwards, (functions) => functions.some((one) => one.file === file && one.line === line));
  }
}

// The panel beside the lanes.
class Debugger {
  constructor(scope, content, buffer) {
    this.scope = scope;
    this.kernel = new Kernel(content, buffer);
    this.step = null;
    this.root = document.getElementById("debugger");
    this.root.hidden = false;
    this.moves = {
      first: () => this.kernel.find(-1, true, () => true), back: () => this.kernel.line(this.now(), false),
      less: () => this.kernel.find(this.now(), false, () => true), more: () => this.kernel.find(this.now(), true, () => true),
      next: () => this.kernel.line(this.now(), true),
      last: () => this.kernel.find(this.kernel.t.length, false, () => true),
    };
    this.chooses();
    for (const name of Object.keys(this.moves)) this.part(name).addEventListener("click", () => this.move(name));
    this.part("source").addEventListener("click", (event) => {
      const line = event.target.closest("[data-line]");
      if (line) this.go(this.kernel.reach(this.now(), !event.shiftKey, this.file, Number(line.dataset.line)));
    });
    this.part("calls").addEventListener("click", (event) => {
      const call = event.target.closest("[data-call]");
      if (call) { this.call = Number(call.dataset.call); this.show(); }
    });
    this.go(0);
  }

  // The choice of a board, if there are several.
  chooses() {
    const { boards } = this.kernel, choice = this.part("board");
    choice.hidden = boards.length < 2;
    choice.append(...["all boards", ...boards].map((text, number) => element("option", { value: number - 1, text })));
    choice.addEventListener("change", () => {
      this.kernel.board = choice.value === "-1" ? null : Number(choice.value);
      const { a } = this.scope.cursors;
      this.step = a === null ? -1 : this.kernel.stepAt(a);
      this.call = null;
      if (this.step < 0) this.move("first"); else this.show();
    });
  }

  part(name) { return this.root.querySelector(`[data-part="${name}"]`); }

  now() { return this.step ?? -1; }

  move(name) { this.go(this.moves[name]()); }

  // Cursor A goes to a step.
  go(step) {
    if (step === null || step < 0 || step >= this.kernel.t.length) return;
    this.step = step;
    this.call = null;
    this.scope.point(null, this.kernel.t[step]);
    this.show();
  }

  // Cursor A has moved.
  moved(time) {
    // Several steps may have one time.
    if (time === null || this.step !== null && this.kernel.t[this.step] === time) return this.values(time);
    const step = this.kernel.stepAt(time);
    if (step !== this.step) { this.step = step; this.call = null; }
    this.show();
  }

  show() {
    const { kernel, step } = this, functions = step < 0 ? [] : kernel.functions(step);
    const own = this.call ?? kernel.ownOf(functions), shown = functions[own];
    this.part("place").textContent = step < 0 ? "before the first kernel"
      : `call ${step + 1} of ${kernel.t.length}${this.onBoard(step)} at ${duration(kernel.t[step])}`;
    this.part("calls").replaceChildren(...functions.map(({ file, line, name }, number) => element("button", {
      "data-call": number, class: number === own ? "chosen" : kernel.files[file].own ? "" : "driver",
      text: `${name} · ${kernel.files[file].name}:${line}`,
    })));
    this.source(shown);
    const before = new Map(this.variablesBefore(step, functions, own));
    this.part("variables").replaceChildren(...(shown?.variables ?? []).map(([name, value]) => element("tr", {
      class: before.has(name) && before.get(name) !== value ? "changed" : "",
    }, element("td", { text: name }), element("td", { text: value }))));
    this.part("none").hidden = Boolean(shown?.variables.length);
    this.values(this.scope.cursors.a);
  }

  // The board of a step, as part of a text, if there are several.
  onBoard(step) { return this.kernel.boards.length < 2 ? "" : ` on ${this.kernel.boards[this.kernel.on[step]]}`; }

  // The variables of the same function in the step before; empty if that was in another one.
  variablesBefore(step, functions, own) {
    const earlier = this.kernel.before(step);
    if (earlier < 0) return [];
    const before = this.kernel.functions(earlier), from = functions.length - own;
    const same = before[before.length - from];
    return same && same.name === functions[own]?.name ? same.variables : [];
  }

  source(shown) {
    const part = this.part("source");
    if (!shown) return part.replaceChildren();
    if (this.file !== shown.file || !part.childElementCount) {
      this.file = shown.file;
      const lines = this.kernel.files[shown.file].text.split("\n");
      part.replaceChildren(...lines.map((line, index) => element("div", { "data-line": index + 1, text: line || " " })));
    }
    part.querySelector(".chosen")?.classList.remove("chosen");
    const line = part.querySelector(`[data-line="${shown.line}"]`);
    line?.classList.add("chosen");
    line?.scrollIntoView({ block: "nearest" });
  }

  // What chips, ions and pins have at a time, by the groups of the lanes.
  values(time) {
    const rows = [];
    let group = null;
    for (const lane of this.scope.lanes) {
      if (!["levels", "steps", "words"].includes(lane.kind) || lane.group.at(-1) === "pads") continue;
      const value = time === null ? null : lane.kind === "words" ? lastWord(lane, time) : valueAt(lane, time);
      if (value === null) continue;
      const name = lane.group.join(" / ");
      if (name !== group) rows.push(element("tr", {}, element("th", { colspan: 2, text: group = name })));
      rows.push(element("tr", {}, element("td", { text: lane.name }), element("td", { text: value })));
    }
    this.part("values").replaceChildren(...rows);
  }
}

// The last message on a bus that has ended at a time.
function lastWord(lane, time) {
  let index = countUntil(lane.t, time) - 1;
  if (index >= 0 && lane.ends[index] > time) index--;
  return index < 0 ? null : lane.texts[lane.v[index]];
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") made.textContent = value; else if (value !== "") made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export { Debugger };
