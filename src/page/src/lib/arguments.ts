// Arguments of experiments: from their descriptions to the fields of a form, and back to values.

import type { Argument } from "../protocol/kairos/lab/v1/lab_pb";
import { readable, shown, unitName } from "./values";

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
  global_step?: number | null;
}

/** A value for people, in its unit. */
export function valueText(description: Description, value: unknown): string {
  return value === undefined ? "none" : readable(JSON.stringify(value), description.unit, description.scale || 1);
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

/** How many points a scan has. */
export function count(scan: Scan): number {
  switch (scan.ty) {
    case "NoScan":
      return Math.max(0, scan.repetitions ?? 1);
    case "RangeScan":
      return Math.max(0, scan.npoints ?? 0);
    case "CenterScan":
      return (scan.step ?? 0) > 0 ? 2 * Math.floor((scan.span ?? 0) / 2 / scan.step! + 1e-9) + 1 : 1;
    case "ExplicitScan":
      return scan.sequence?.length ?? 0;
  }
}

/** What the fields of a scan need. */
const PARTS: Record<Scan["ty"], (keyof Scan)[]> = {
  NoScan: ["value", "repetitions"],
  RangeScan: ["start", "stop", "npoints"],
  CenterScan: ["center", "span", "step"],
  ExplicitScan: [],
};
const WHOLE: (keyof Scan)[] = ["npoints", "repetitions"];

/** The points of a scan that are drawn, in natural order. */
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

/** A number in the base unit, in its unit for people. */
function quantity(number: number, { scale, unit = "" }: Description): string {
  return `${shown(unscaled(number, scale || 1), 12)}${unit && ` ${unitName(unit)}`}`;
}

/** The limits of an argument's numbers, for people: `0 … 5 mW`; empty if it has none. */
export function limits(description: Description): string {
  const low = description.min ?? description.global_min;
  const high = description.max ?? description.global_max;
  const [from, to] = [low, high].map((each) => (typeof each === "number" ? quantity(each, description) : undefined));
  if (from && to) return `${from} … ${to}`;
  if (from) return `at least ${from}`;
  return to ? `at most ${to}` : "";
}

/** A share of a limit by which a number may miss it: it has been multiplied by its scale. */
const ROUNDED = 1e-12;

function outOfRange(number: number, description: Description): string {
  const low = description.min ?? description.global_min;
  const high = description.max ?? description.global_max;
  if (typeof low === "number" && number < low - Math.abs(low) * ROUNDED) return `${quantity(number, description)} is below ${quantity(low, description)}`;
  if (typeof high === "number" && number > high + Math.abs(high) * ROUNDED) return `${quantity(number, description)} is above ${quantity(high, description)}`;
  return "";
}

/** Why a value cannot be that of an argument; empty if it can. */
export function wrong(description: Description, value: unknown): string {
  if (value === undefined || value === null || (typeof value === "number" && Number.isNaN(value))) return "needs a value";
  if (description.ty === "Scannable") {
    const scan = value as Scan;
    if (PARTS[scan.ty].some((part) => part in scan && !Number.isFinite(scan[part]))) return "needs a value in each field";
    if (scan.ty === "ExplicitScan" && scan.sequence?.some((each) => !Number.isFinite(each))) return "needs numbers only";
    if (WHOLE.some((part) => scan[part] !== undefined && !Number.isInteger(scan[part]))) return "needs a whole number of points";
    if (scan.ty === "CenterScan" && !((scan.step ?? 0) > 0)) return "needs a step above 0";
    const all = points(scan);
    if (!all.length) return "has no points";
    // A scan that is long may not be spread over arguments of a call.
    const [least, most] = all.reduce(([a, b], each) => [Math.min(a, each), Math.max(b, each)], [Infinity, -Infinity] as [number, number]);
    return outOfRange(least, description) || outOfRange(most, description);
  }
  if (description.ty !== "NumberValue") return "";
  if (isWhole(description) && !Number.isInteger(value)) return "must be an integer";
  return outOfRange(value as number, description);
}

const isWhole = (description: Description) => description.type === "int" || (description.type !== "float" && description.precision === 0 && description.scale === 1);

/** The arguments as JSON by name; an error says which one is missing or out of range. */
export function encoded(form: { name: string; description: Description }[], values: Record<string, unknown>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, description } of form) {
    const value = values[name];
    const problem = wrong(description, value);
    if (problem) throw new Error(`${name}${/^\W?\d/.test(problem) ? ":" : ""} ${problem}`);
    const whole = isWhole(description);
    found[name] = description.ty === "NumberValue" && !whole && Number.isInteger(value) ? `${JSON.stringify(value)}${Math.abs(Number(value)) < 1e15 ? ".0" : ""}` : JSON.stringify(value);
  }
  return found;
}
