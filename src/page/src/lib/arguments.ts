// Arguments of experiments: from their descriptions to the fields of a form, and back to values.

import type { Argument } from "../protocol/kairos/lab/v1/lab_pb";

/** A scan as ARTIQ describes it. Numbers are in the base unit. */
export interface Scan {
  ty: "NoScan" | "RangeScan" | "CenterScan" | "ExplicitScan";
  value?: number;
  repetitions?: number;
  start?: number;
  stop?: number;
  npoints?: number;
  randomize?: boolean;
  center?: number;
  span?: number;
  step?: number;
  sequence?: number[];
  seed?: number | null;
}

export interface Description {
  ty: string;
  default?: unknown;
  unit?: string;
  scale?: number;
  step?: number;
  precision?: number;
  min?: number | null;
  max?: number | null;
  type?: string;
  choices?: string[];
  global_min?: number | null;
  global_max?: number | null;
}

export function describe(argument: Argument): Description {
  return JSON.parse(argument.description) as Description;
}

export function initial(description: Description): unknown {
  const given = description.default;
  if (description.ty === "Scannable") {
    const first = Array.isArray(given) ? given[0] : given;
    return structuredClone(first) ?? { ty: "RangeScan", start: 0, stop: description.scale ?? 1, npoints: 10, randomize: false, seed: null };
  }
  if (given !== undefined && given !== null) return given;
  if (description.ty === "BooleanValue") return false;
  if (description.ty === "EnumerationValue") return description.choices?.[0];
  return description.ty === "NumberValue" ? undefined : "";
}

/** The points of a scan, in natural order. */
export function points(scan: Scan): number[] {
  switch (scan.ty) {
    case "NoScan":
      return Array<number>(Math.max(0, Math.min(scan.repetitions ?? 1, 10_000))).fill(scan.value ?? 0);
    case "RangeScan": {
      const count = Math.max(0, Math.min(scan.npoints ?? 0, 10_000));
      const { start = 0, stop = 0 } = scan;
      return Array.from({ length: count }, (_, at) => (count > 1 ? start + ((stop - start) * at) / (count - 1) : start));
    }
    case "CenterScan": {
      const { center = 0, span = 0, step = 0 } = scan;
      if (!(step > 0)) return [center];
      const half = Math.min(Math.floor(span / 2 / step + 1e-9), 5_000);
      return Array.from({ length: 2 * half + 1 }, (_, at) => center + (at - half) * step);
    }
    case "ExplicitScan":
      return scan.sequence ?? [];
  }
}

/** A number in the base unit from one in its unit, without the rounding errors that a product has. */
export function scaled(number: number, scale: number): number {
  return Number((number * scale).toPrecision(15));
}

export function unscaled(number: number, scale: number): number {
  return Number((number / scale).toPrecision(15));
}

/** The arguments as JSON by name; an error says which one is missing. */
export function encoded(form: { name: string; description: Description }[], values: Record<string, unknown>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, description } of form) {
    const value = values[name];
    if (value === undefined || value === null || (typeof value === "number" && Number.isNaN(value))) throw new Error(`${name} needs a value`);
    const whole = description.type === "int" || (description.type !== "float" && description.precision === 0 && description.scale === 1);
    if (description.ty === "NumberValue" && whole && !Number.isInteger(value)) throw new Error(`${name} must be an integer`);
    found[name] = description.ty === "NumberValue" && !whole && Number.isInteger(value) ? `${JSON.stringify(value)}${Math.abs(Number(value)) < 1e15 ? ".0" : ""}` : JSON.stringify(value);
  }
  return found;
}
