// What scans of ndscan leave below `ndscan.rid_N.`: which axes and channels there are, as JSON.

export interface Quantity {
  key: string;
  label: string;
  unit: string;
  scale: number;
}

export interface NdScan {
  prefix: string;
  title: string;
  axes: Quantity[];
  channels: (Quantity & { error?: string })[];
  completed: boolean;
}

/** A place or a curve that an analysis has found, in base units. */
export interface Annotation {
  kind: "location" | "curve";
  channel: string;
  x: number[];
  y: number[];
}

const PREFIX = /^(ndscan\.rid_\d+\.)/;

const record = (given: unknown): Record<string, unknown> => (typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {});
const text = (given: unknown, otherwise = "") => (typeof given === "string" ? given : otherwise);

/** JSON in a dataset, which is a text in PYON: a string in quotes. */
function json(given: string | undefined): unknown {
  try {
    const read: unknown = JSON.parse(given ?? "null");
    return typeof read === "string" ? JSON.parse(read) : read;
  } catch {
    return undefined;
  }
}

/** A text in a dataset. */
function word(given: string | undefined): string {
  try {
    const read: unknown = JSON.parse(given ?? "null");
    return typeof read === "string" ? read : "";
  } catch {
    return given ?? "";
  }
}

function quantity(key: string, label: string, spec: Record<string, unknown>): Quantity {
  const scale = Number(spec.scale);
  return { key, label: label || key, unit: text(spec.unit), scale: scale > 0 && Number.isFinite(scale) ? scale : 1 };
}

/** Prefixes of the scans among the names of datasets. */
export function prefixes(keys: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const key of keys) {
    const [, prefix] = PREFIX.exec(key) ?? [];
    if (prefix && (key === `${prefix}axes` || key === `${prefix}channels`)) found.add(prefix);
  }
  return [...found];
}

/** The scan below a prefix; undefined if it does not describe itself. `read`: the text of a dataset. */
export function described(prefix: string, read: (key: string) => string | undefined): NdScan | undefined {
  const [axes, channels] = [json(read(`${prefix}axes`)), json(read(`${prefix}channels`))];
  if (!Array.isArray(axes) || typeof channels !== "object" || channels === null) return undefined;
  const all = Object.entries(channels).map(([name, given]) => {
    const channel = record(given);
    const made = quantity(`${prefix}${axes.length ? "points.channel_" : "point."}${name}`, text(channel.description, name), channel);
    return { ...made, name, path: text(channel.path), hints: record(channel.display_hints) };
  });
  const number = (prefix.match(/\d+/) ?? [""])[0];
  return {
    prefix,
    title: `${word(read(`${prefix}fragment_fqn`)).split(".").at(-1) || "scan"}, run ${number}`,
    axes: axes.map((given, at) => {
      const parameter = record(record(given).param);
      return quantity(`${prefix}points.axis_${at}`, text(parameter.description, text(parameter.fqn, text(record(given).path))), record(parameter.spec));
    }),
    channels: all
      .filter((each) => each.hints.error_bar_for === undefined && Number(each.hints.priority ?? 0) >= 0)
      .map(({ key, label, unit, scale, path, name }) => {
        const error = all.find((other) => other.hints.error_bar_for !== undefined && (other.hints.error_bar_for === path || other.hints.error_bar_for === name));
        return { key, label, unit, scale, ...(error ? { error: error.key } : {}) };
      }),
    completed: /true/i.test(read(`${prefix}completed`) ?? ""),
  };
}

function numbers(given: unknown, read: (key: string) => number | undefined): number[] {
  const { kind, value, result_key: key } = record(given);
  if (kind === "fixed") return (Array.isArray(value) ? value : [value]).filter((each): each is number => typeof each === "number" && Number.isFinite(each));
  const found = typeof key === "string" ? read(key) : undefined;
  return found === undefined ? [] : [found];
}

/** The annotations of a scan with one axis. `result`: the value of an analysis result. */
export function annotations(prefix: string, given: string | undefined, result: (key: string) => number | undefined): Annotation[] {
  const all = json(given);
  if (!Array.isArray(all)) return [];
  const found: Annotation[] = [];
  for (const each of all.map(record)) {
    const coordinates = record(each.coordinates);
    const name = Object.keys(coordinates).find((key) => key.startsWith("channel_")) ?? "";
    const [x, y] = [numbers(coordinates.axis_0, result), name ? numbers(coordinates[name], result) : []];
    if (each.kind === "location" && x.length) found.push({ kind: "location", channel: "", x, y: [] });
    else if (each.kind === "curve" && x.length > 1 && x.length === y.length) found.push({ kind: "curve", channel: `${prefix}points.${name}`, x, y });
  }
  return found;
}
