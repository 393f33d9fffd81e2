// The layout of this window: its arrangement of panels, which can be undone, and its name on the server.

import type { Layout } from "../protocol/kairos/lab/v1/layouts_pb";
import { calls } from "./calls";
import { groups, placed, standard, usable, withPanel, without, type Dock, type PanelName, type Side } from "./docks";
import { attempt, notify } from "./state.svelte";

const KEPT = "layout";
/** Whether this window has one panel only: it has no arrangement of its own. */
const isSingle = ["panel", "run"].some((name) => new URLSearchParams(location.search).has(name));
const STEPS = 100;

interface Kept {
  name: string;
  version: number;
  dock: Dock;
}

function kept(): Kept {
  try {
    const { name, version, dock } = JSON.parse(localStorage.getItem(KEPT) ?? "") as Partial<Kept>;
    return { name: typeof name === "string" ? name : "", version: Number(version) || 0, dock: usable(dock) };
  } catch {
    return { name: "", version: 0, dock: standard() };
  }
}

class LayoutState {
  private readonly first = kept();
  dock = $state.raw<Dock>(this.first.dock);
  name = $state(this.first.name);
  /** The version on the server that this is, or has come from. */
  version = $state(this.first.version);
  /** What is on the server, as text. */
  saved = $state("");
  /** On a telephone: the view in sight. */
  view = $state<PanelName | undefined>();
  private before = $state.raw<Dock[]>([]);
  private after = $state.raw<Dock[]>([]);

  get canUndo(): boolean {
    return this.before.length > 0;
  }
  get canRedo(): boolean {
    return this.after.length > 0;
  }
  get isChanged(): boolean {
    return this.name !== "" && this.saved !== "" && JSON.stringify(this.dock) !== this.saved;
  }

  /** Takes a new arrangement. `quietly`: it is no step that is undone, as the choice of a tab. */
  set(dock: Dock, quietly = false): void {
    if (!quietly && dock !== this.dock) {
      this.before = [...this.before, this.dock].slice(-STEPS);
      this.after = [];
    }
    this.dock = dock;
    this.keep();
  }

  move(panel: PanelName, next: PanelName, place: Side): void {
    this.set(placed(this.dock, panel, next, place));
  }

  close(panel: PanelName): void {
    const rest = without(this.dock, panel);
    if (rest) this.set(rest);
    else notify("the last panel stays", true);
  }

  /** Brings a panel into sight. */
  show(panel: PanelName): void {
    const known = groups(this.dock).some((each) => each.panels.includes(panel));
    this.set(withPanel(this.dock, panel), known);
    this.view = panel;
  }

  undo(): void {
    const last = this.before.at(-1);
    if (!last) return;
    this.after = [...this.after, this.dock];
    this.before = this.before.slice(0, -1);
    this.set(last, true);
  }

  redo(): void {
    const next = this.after.at(-1);
    if (!next) return;
    this.before = [...this.before, this.dock];
    this.after = this.after.slice(0, -1);
    this.set(next, true);
  }

  /** Saves it on the server; false if somebody else has saved it meanwhile, or it is not possible. */
  async save(name: string): Promise<boolean> {
    const content = JSON.stringify(this.dock);
    const version = name === this.name ? this.version : 0;
    const done = await attempt(() => calls.layouts.save({ name, content, version }), (made) => `layout ${name} is saved (version ${made.version})`);
    if (done) this.adopt({ name, version: done.version, content });
    return done !== undefined;
  }

  /** Number of the newest question for a layout: answers may overtake each other. */
  private asked = 0;

  async open(name: string, version = 0): Promise<boolean> {
    const mine = ++this.asked;
    const found = await attempt(() => calls.layouts.get({ name, version }));
    if (!found?.layout || mine !== this.asked) return false;
    const { layout } = found;
    this.set(parsed(layout.content));
    this.adopt(layout);
    return true;
  }

  /** Goes back to a version on the server: as it was, but to be saved after the newest one. */
  async restore(name: string, version: number, newest: number): Promise<void> {
    if (await this.open(name, version)) {
      this.version = newest;
      this.saved = " ";
      this.keep();
    }
  }

  reset(): void {
    this.set(standard());
    [this.name, this.version, this.saved] = ["", 0, ""];
    this.keep();
  }

  private adopt({ name, version, content }: Pick<Layout, "name" | "version" | "content">): void {
    [this.name, this.version, this.saved] = [name, version, JSON.stringify(parsed(content))];
    this.keep();
  }

  private keep(): void {
    if (isSingle) return;
    localStorage.setItem(KEPT, JSON.stringify({ name: this.name, version: this.version, dock: this.dock }));
  }
}

function parsed(content: string): Dock {
  try {
    return usable(JSON.parse(content));
  } catch {
    return standard();
  }
}

export const layout = new LayoutState();

/** Opens a panel in a window of its own; it comes back when that is closed. */
export function tearOff(panel: PanelName): void {
  const opened = window.open(`/?panel=${panel}`, `kairos-${panel}`, "popup,width=1000,height=700");
  if (!opened) {
    notify("the browser does not allow another window: allow pop-ups for this page", true);
    return;
  }
  const next = groups(layout.dock).find((each) => each.panels.includes(panel))?.panels.find((name) => name !== panel);
  layout.close(panel);
  const timer = setInterval(() => {
    if (!opened.closed) return;
    clearInterval(timer);
    const known = groups(layout.dock).flatMap((each) => each.panels);
    if (known.includes(panel)) return;
    if (next && known.includes(next)) layout.move(panel, next, "tab");
    else layout.show(panel);
  }, 500);
}
