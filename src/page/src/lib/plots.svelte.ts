// The plots of this browser: those that experiments ask for, and those that a user adds.

export interface PlotView {
  id: string;
  title: string;
  kind: "xy" | "number" | "histogram" | "image" | "progress";
  y: string;
  x?: string;
  /** Of an image of single points: the places of the second axis, `x` being those of the first. */
  up?: string;
  error?: string;
  /** Whether `x` is one of several axes, whose others are not drawn: a point has no place in a curve then. */
  isSection?: boolean;
  fit?: string;
  /** Digits of a number; 6. */
  digits?: number;
  /** What is nothing and what is everything, of a progress; 0 and 100. */
  limits?: [number, number];
  /** Labels and units of its datasets, if they do not say them themselves. */
  quantities?: Record<string, { label: string; unit: string; scale: number }>;
  /** A curve that is drawn with it, in base units. */
  curve?: { x: readonly number[]; y: readonly number[] };
  /** Places in x that are marked, in the base unit. */
  marks?: readonly number[];
  /** Name of the function by which it is fitted; "" if by none, though an experiment asks for it. */
  shape?: string;
}

/** The words of a command, in which quotes may be. */
function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((found) => found[1] ?? found[2] ?? found[3] ?? "");
}

/** The plot that an applet's command describes; undefined if it cannot be drawn here. Applets of different groups may have
 * one name. */
export function fromCommand(name: string, command: string, groups: readonly string[] = []): PlotView | undefined {
  const [program = "", ...rest] = words(command.replace("${artiq_applet}", ""));
  const kind = ({ plot_xy: "xy", big_number: "number", plot_hist: "histogram", image: "image", progress_bar: "progress" } as const)[program.replace(/^.*applets\./, "") as "plot_xy"];
  if (!kind) return undefined;
  const places: string[] = [];
  const named: Record<string, string> = {};
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (!word.startsWith("--")) {
      places.push(word);
      continue;
    }
    const [key = "", value] = word.slice(2).split("=", 2);
    named[key] = value ?? rest[++at] ?? "";
  }
  const y = places[0];
  if (!y) return undefined;
  return { id: `applet ${groups.length ? JSON.stringify([...groups, name]) : name}`, title: named.title || name, kind, y, x: named.x, error: named.error, fit: named.fit, digits: Math.max(1, Math.min(17, given(named.digit_count ?? named["digit-count"], 6))), limits: [given(named.min, 0), given(named.max, 100)] };
}

/** A number in a command, or what it is without one. */
function given(text: string | undefined, otherwise: number): number {
  const number = Number.parseFloat(text ?? "");
  return Number.isFinite(number) ? number : otherwise;
}

/** How a dataset can be drawn, by what it is: what is usual comes first. */
export function kinds(shape: readonly unknown[]): PlotView["kind"][] {
  if (shape.length === 0) return ["number", "progress"];
  return shape.length === 1 ? ["xy", "histogram", "number", "progress"] : ["image"];
}

const KEPT = "plots";

function kept(): PlotView[] {
  try {
    const views = JSON.parse(localStorage.getItem(KEPT) ?? "[]") as PlotView[];
    return views.filter((each, at) => views.findIndex((other) => other.id === each.id) === at);
  } catch {
    return [];
  }
}

class Views {
  own = $state<PlotView[]>(kept());
  closed = $state<string[]>([]);

  add(view: Omit<PlotView, "id">): void {
    // Two may be added at the same moment.
    let number = Date.now();
    while (this.own.some((each) => each.id === `own ${number}`)) number++;
    this.own = [{ ...view, id: `own ${number}` }, ...this.own];
    this.keep();
  }

  /** Shapes that were chosen for the plots of experiments, by name. */
  shapes = $state<Record<string, string>>({});

  fit(view: PlotView, shape: string): void {
    const own = this.own.find((each) => each.id === view.id);
    if (own) own.shape = shape;
    else this.shapes[view.id] = shape;
    this.keep();
  }

  close(id: string): void {
    this.own = this.own.filter((view) => view.id !== id);
    if (id.startsWith("applet ")) this.closed.push(id);
    this.keep();
  }

  private keep(): void {
    localStorage.setItem(KEPT, JSON.stringify(this.own));
  }
}

export const views = new Views();
