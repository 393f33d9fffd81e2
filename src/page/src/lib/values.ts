// Values of datasets: typed bytes become numbers, text stays text.

import type { Dataset, Value } from "../protocol/kairos/lab/v1/datasets_pb";
import { time } from "./clock";

export interface Decoded {
  /** The elements in C order, if they are numbers. */
  numbers?: Float64Array;
  shape: number[];
  /** Text, if it is no number. */
  text?: string;
}

type Reader = (view: DataView, at: number) => number;

const READERS: Record<string, [number, Reader]> = {
  f8: [8, (view, at) => view.getFloat64(at, true)],
  f4: [4, (view, at) => view.getFloat32(at, true)],
  i8: [8, (view, at) => Number(view.getBigInt64(at, true))],
  i4: [4, (view, at) => view.getInt32(at, true)],
  i2: [2, (view, at) => view.getInt16(at, true)],
  i1: [1, (view, at) => view.getInt8(at)],
  u8: [8, (view, at) => Number(view.getBigUint64(at, true))],
  u4: [4, (view, at) => view.getUint32(at, true)],
  u2: [2, (view, at) => view.getUint16(at, true)],
  u1: [1, (view, at) => view.getUint8(at)],
  b1: [1, (view, at) => view.getUint8(at)],
};

/** A number in PYON. */
const NUMBER = /^(-?\d[\d.eE+-]*|-?Infinity|NaN)$/;

/** What a record has of a name that a user has given. Each object has some itself, such as `constructor`. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The entries of a message's map in the order of their names: on its way it has none. */
export function named<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => a.localeCompare(b));
}

export function decode(value: Value | undefined): Decoded {
  if (!value) return { shape: [] };
  const shape = value.shape.map(Number);
  if (value.kind === "pyon" || value.kind === "repr") {
    const text = new TextDecoder().decode(value.data);
    if (NUMBER.test(text)) return { numbers: Float64Array.of(Number(text)), shape, text };
    return { ...listed(text), text };
  }
  const numbers = elements(value.dtype, value.data);
  return numbers ? { numbers, shape } : { text: `${value.dtype} ${shape.join(" × ")}`, shape };
}

/** The numbers that bytes of a type are; undefined for what are none. */
function elements(dtype: string, bytes: Uint8Array): Float64Array | undefined {
  const reader = dtype.startsWith(">") ? undefined : own(READERS, dtype.slice(1));
  if (!reader) return undefined;
  const [size, read] = reader;
  const { buffer, byteOffset, byteLength } = bytes;
  const count = byteLength / size;
  if (dtype === "<f8" && byteOffset % 8 === 0) return new Float64Array(buffer as ArrayBuffer, byteOffset, count).slice();
  const view = new DataView(buffer as ArrayBuffer, byteOffset, byteLength);
  const numbers = new Float64Array(count);
  for (let at = 0; at < count; at++) numbers[at] = read(view, at * size);
  return numbers;
}

/** Texts, and numbers that JSON does not have. */
const BEYOND_JSON = /"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/g;

/** The numbers in a list of PYON whose elements differ in type, such as `[0, 0.5, null]`, or are lists themselves; none if
 * it has anything else, or rows of different lengths. */
function listed(text: string): { numbers?: Float64Array; shape: number[] } {
  if (!text.startsWith("[")) return { shape: [] };
  const found: number[] = [];
  try {
    const shape = flatten(JSON.parse(text.replace(BEYOND_JSON, (each) => (each === "NaN" ? "null" : each.replace(/^(-?)Infinity$/, "$11e999")))), found);
    return shape ? { numbers: Float64Array.from(found), shape } : { shape: [] };
  } catch {
    return { shape: [] };
  }
}

/** Appends the numbers of a value in C order; returns its shape, undefined if it has something else. */
function flatten(value: unknown, found: number[]): number[] | undefined {
  if (value === null || typeof value === "number" || typeof value === "boolean") {
    found.push(value === null ? Number.NaN : Number(value));
    return [];
  }
  if (Array.isArray(value)) {
    let inner: number[] | undefined;
    for (const each of value) {
      const shape = flatten(each, found);
      if (!shape || (inner && inner.join() !== shape.join())) return undefined;
      inner = shape;
    }
    return [value.length, ...(inner ?? [])];
  }
  const [kind, given] = ((value as { __jsonclass__?: [string, unknown[]] }).__jsonclass__ ?? []) as [string?, unknown[]?];
  if (kind !== "npscalar" && kind !== "nparray") return undefined;
  const [dtype, data] = given!.slice(-2) as [string, string];
  const numbers = elements(dtype, Uint8Array.from(atob(data), (each) => each.charCodeAt(0)));
  for (const each of numbers ?? []) found.push(each);
  return numbers && (kind === "npscalar" ? [] : (given![0] as number[]));
}

/** Numbers that grow; appending many times costs as much as appending once. */
export class Series {
  private kept = new Float64Array(64);
  length = 0;
  /** Lengths of the dimensions after the first. */
  inner: number[] = [];
  /** Whether it still has numbers only, in rows of one length. */
  private isNumeric = true;

  get numbers(): Float64Array {
    return this.kept.subarray(0, this.length);
  }

  set(decoded: Decoded): void {
    this.length = 0;
    this.inner = decoded.shape.slice(1);
    this.isNumeric = decoded.numbers !== undefined;
    if (decoded.numbers) this.extend(decoded.numbers);
  }

  append(more: Decoded): void {
    if (more.numbers?.length === 0) return;
    const inner = more.shape.slice(1);
    if (this.isNumeric && !this.length) this.inner = inner;
    if (!more.numbers || inner.join() !== this.inner.join()) this.giveUp();
    if (this.isNumeric) this.extend(more.numbers!);
  }

  /** What is no number at one place would move all others. */
  private giveUp(): void {
    this.isNumeric = false;
    this.length = 0;
    this.inner = [];
  }

  private extend(more: Float64Array): void {
    const length = this.length + more.length;
    if (length > this.kept.length) {
      const larger = new Float64Array(Math.max(length, 2 * this.kept.length));
      larger.set(this.numbers);
      this.kept = larger;
    }
    this.kept.set(more, this.length);
    this.length = length;
  }

  assign(indices: readonly bigint[], given: Decoded): void {
    const size = this.inner.reduce((product, each) => product * each, 1);
    const { numbers } = given;
    if (numbers?.length !== indices.length * size) this.giveUp();
    if (!this.isNumeric) return;
    indices.forEach((index, at) => {
      const place = Number(index) * size;
      if (place + size <= this.length) this.kept.set(numbers!.subarray(at * size, (at + 1) * size), place);
    });
  }
}

/** A number as people write it. */
export function shown(number: number, digits = 6): string {
  if (Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  return String(Number(number.toPrecision(digits))).replace("-", "−");
}

const UNITS: Record<string, string> = { us: "µs", uV: "µV", uA: "µA", uW: "µW" };

/** A unit as people write it. */
export function unitName(unit: string): string {
  return own(UNITS, unit) ?? unit;
}

/** A text without the marks of a text in PYON; anything else in PYON as it is. */
export function unquoted(pyon: string): string {
  if (!pyon.startsWith('"')) return pyon;
  try {
    return String(JSON.parse(pyon));
  } catch {
    return pyon;
  }
}

/** PYON, which is JSON with additions, as people read it: in `unit` if it is a number. */
export function readable(pyon: string, unit = "", scale = 1): string {
  try {
    return plain(JSON.parse(pyon), unit, scale);
  } catch {
    return pyon;
  }
}

function plain(value: unknown, unit: string, scale: number): string {
  if (typeof value === "number") return `${shown(value / scale)}${unit && ` ${unitName(unit)}`}`;
  if (typeof value === "string") return value || "“”";
  if (Array.isArray(value)) return `[${value.map((each) => plain(each, "", scale)).join(", ")}]${unit && ` ${unitName(unit)}`}`;
  if (value && typeof value === "object") {
    const scan = value as Record<string, unknown>;
    if (scan.ty === "RangeScan") return `${plain(scan.start, "", scale)} … ${plain(scan.stop, unit, scale)} (${plain(scan.npoints, "", 1)} points)`;
    if (scan.ty === "NoScan") return plain(scan.value, unit, scale);
    return JSON.stringify(value);
  }
  return String(value);
}

const TIME = new Intl.DateTimeFormat("sv-SE", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
/** A day as ISO 8601 has it, in the time zone of the browser. */
const day = (date: Date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

/** A time, with its day unless that is today, and its year unless it is this one. */
export function when(seconds: number): string {
  if (!seconds) return "";
  const [today, then] = [time(), seconds].map((each) => day(new Date(each * 1000))) as [string, string];
  const at = TIME.format(new Date(seconds * 1000));
  if (then === today) return at;
  return `${then.slice(0, 5) === today.slice(0, 5) ? then.slice(5) : then} ${at}`;
}

/** A length of time with three digits, in the unit that fits. */
export function brief(seconds: number): string {
  const [size, unit] = ([[1, "s"], [1e-3, "ms"], [1e-6, "µs"]] as const).find(([each]) => Math.abs(seconds) >= each) ?? [1e-9, "ns"];
  return `${shown(seconds / size, 3)} ${unit}`;
}

/** A length of time as people say it. */
export function duration(seconds: number): string {
  for (const [size, unit] of [[86400, "days"], [3600, "h"], [60, "min"]] as const) {
    if (seconds >= 2 * size) return `${shown(seconds / size, seconds / size < 10 ? 2 : 3)} ${unit}`;
  }
  return `${Math.max(0, Math.round(seconds))} s`;
}

/** A number of a dataset in its unit, with the digits after the point that the dataset asks for, or else so many in all. */
export function scaledNumber(number: number, dataset: { scale: number; precision?: number } | undefined, digits = 6): string {
  const scaled = number / (dataset?.scale || 1);
  const places = dataset?.precision ?? -1;
  return places >= 0 && Number.isFinite(scaled) ? scaled.toFixed(places).replace("-", "−") : shown(scaled, digits);
}

/** The text of a dataset, in its unit if it is a number. */
export function scaledText(dataset: Dataset): string {
  const decoded = decode(dataset.value);
  const number = decoded.numbers?.[0];
  return number === undefined || decoded.shape.length || Number.isNaN(number) ? dataset.text : scaledNumber(number, dataset);
}

/** Whether the letters of a search occur in a text in this order. */
export function matchesLetters(text: string, search: string): boolean {
  const lower = text.toLowerCase();
  let at = 0;
  for (const letter of search.toLowerCase().replaceAll(" ", "")) {
    at = lower.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
