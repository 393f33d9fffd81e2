// The arrangement of panels: groups of tabs in rows and columns. Functions return a new arrangement.

export const PANELS = ["Experiments", "Plots", "Queue", "Runs", "Data", "Calibrations", "Devices", "Logbook", "Log"] as const;
export type PanelName = (typeof PANELS)[number];

/** What the views of a telephone are called, in their order. Plots are below the queue. */
export const VIEWS: Record<Exclude<PanelName, "Plots">, string> = {
  Experiments: "Start",
  Queue: "Now",
  Data: "Data",
  Calibrations: "Values",
  Runs: "Runs",
  Devices: "Devices",
  Logbook: "Logbook",
  Log: "Log",
};

export interface Group {
  kind: "tabs";
  panels: PanelName[];
  active: PanelName;
}

export interface Split {
  kind: "split";
  /** Whether its parts are next to each other, not below each other. */
  across: boolean;
  parts: Dock[];
  /** Shares of the parts. */
  sizes: number[];
}

export type Dock = Group | Split;
export type Side = "tab" | "left" | "right" | "above" | "below";

const DEPTH = 12;

const group = (...panels: [PanelName, ...PanelName[]]): Group => ({ kind: "tabs", panels, active: panels[0] });
const split = (across: boolean, sizes: number[], ...parts: Dock[]): Split => ({ kind: "split", across, parts, sizes });

export function standard(): Dock {
  const above = split(true, [0.68, 0.32], group("Plots"), group("Queue"));
  return split(true, [0.23, 0.77], group("Experiments"), split(false, [0.6, 0.4], above, group("Runs", "Data", "Calibrations", "Devices", "Logbook", "Log")));
}

/** All groups, from left to right and from above to below. */
export function groups(dock: Dock): Group[] {
  return dock.kind === "tabs" ? [dock] : dock.parts.flatMap(groups);
}

export const shownPanels = (dock: Dock): PanelName[] => groups(dock).flatMap((each) => each.panels);

function changed(dock: Dock, change: (group: Group) => Dock | undefined): Dock | undefined {
  if (dock.kind === "tabs") return change(dock);
  const kept: [Dock, number][] = [];
  dock.parts.forEach((part, at) => {
    const made = changed(part, change);
    if (made) kept.push([made, dock.sizes[at] ?? 1]);
  });
  if (kept.length < 2) return kept[0]?.[0];
  const parts: Dock[] = [];
  const sizes: number[] = [];
  for (const [part, size] of kept) {
    if (part.kind === "split" && part.across === dock.across) {
      // What has become a row within a row is one row.
      const whole = part.sizes.reduce((a, b) => a + b, 0) || 1;
      parts.push(...part.parts);
      sizes.push(...part.sizes.map((each) => (each * size) / whole));
    } else {
      parts.push(part);
      sizes.push(size);
    }
  }
  return { ...dock, parts, sizes };
}

/** Without a panel; undefined if it was the last one. */
export function without(dock: Dock, panel: PanelName): Dock | undefined {
  return changed(dock, (each) => {
    const panels = each.panels.filter((name) => name !== panel);
    if (!panels.length) return undefined;
    return { ...each, panels, active: panels.includes(each.active) ? each.active : panels[Math.min(panels.length - 1, each.panels.indexOf(each.active))]! };
  });
}

/** With a panel at a place of the group that has the panel `next`, from wherever it was. */
export function placed(dock: Dock, panel: PanelName, next: PanelName, place: Side): Dock {
  if (panel === next) {
    const own = groups(dock).find((each) => each.panels.includes(panel));
    const other = own?.panels.find((name) => name !== panel);
    if (!other || place === "tab") return dock;
    next = other;
  }
  const rest = without(dock, panel);
  if (!rest) return dock;
  return (
    changed(rest, (each) => {
      if (!each.panels.includes(next)) return each;
      if (place === "tab") return { ...each, panels: [...each.panels, panel], active: panel };
      const across = place === "left" || place === "right";
      const made = group(panel);
      return place === "left" || place === "above" ? split(across, [0.5, 0.5], made, each) : split(across, [0.5, 0.5], each, made);
    }) ?? dock
  );
}

/** With a panel in sight: it is added to the last group if it is not there. */
export function withPanel(dock: Dock, panel: PanelName): Dock {
  const all = groups(dock);
  if (!all.some((each) => each.panels.includes(panel))) return placed(dock, panel, all.at(-1)!.panels[0]!, "tab");
  return changed(dock, (each) => (each.panels.includes(panel) ? { ...each, active: panel } : each))!;
}

/** An arrangement from elsewhere, as far as it can be used: what is unknown is left out. */
export function usable(given: unknown): Dock {
  const seen = new Set<PanelName>();
  const read = (node: unknown, depth: number): Dock | undefined => {
    if (typeof node !== "object" || node === null || depth > DEPTH) return undefined;
    const { kind, panels, active, across, parts, sizes } = node as Record<string, unknown>;
    if (kind === "tabs" && Array.isArray(panels)) {
      const known = panels.filter((name): name is PanelName => PANELS.includes(name as PanelName) && !seen.has(name as PanelName) && !!seen.add(name as PanelName));
      return known.length ? { kind, panels: known, active: known.includes(active as PanelName) ? (active as PanelName) : known[0]! } : undefined;
    }
    if (kind !== "split" || !Array.isArray(parts)) return undefined;
    const shares = Array.isArray(sizes) ? sizes : [];
    const read_ = parts.map((part, at): [Dock | undefined, number] => {
      const share = Number(shares[at]);
      return [read(part, depth + 1), share > 0.01 && share < 100 ? share : 1];
    });
    const found = read_.filter((each): each is [Dock, number] => each[0] !== undefined);
    if (found.length < 2) return found[0]?.[0];
    return { kind, across: across === true, parts: found.map(([part]) => part), sizes: found.map(([, share]) => share) };
  };
  return read(given, 0) ?? standard();
}
