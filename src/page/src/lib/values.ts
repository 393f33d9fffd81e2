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

export function decode(value: Value | undefined): Decoded {
  if (!value) return { shape: [] };
  const shape = value.shape.map(Number);
  if (value.kind === "pyon" || value.kind === "repr") {
    const text = new TextDecoder().decode(value.data);
    if (text === "[]") return { numbers: new Float64Array(), shape: [0] };
    return NUMBER.test(text) ? { numbers: Float64Array.of(Number(text)), shape, text } : { text, shape };
  }
  const reader = value.dtype.startsWith(">") ? undefined : READERS[value.dtype.slice(1)];
  if (!reader) return { text: `${value.dtype} ${shape.join(" × ")}`, shape };
  const [size, read] = reader;
  const { buffer, byteOffset, byteLength } = value.data;
  const count = byteLength / size;
  if (value.dtype === "<f8" && byteOffset % 8 === 0) return { numbers: new Float64Array(buffer as ArrayBuffer, byteOffset, count).slice(), shape };
  const view = new DataView(buffer as ArrayBuffer, byteOffset, byteLength);
  const numbers = new Float64Array(count);
  for (let at = 0; at < count; at++) numbers[at] = read(view, at * size);
  return { numbers, shape };
}

/** Numbers that grow; appending many times costs as much as appending once. */
export class Series {
  private kept = new Float64Array(64);
  length = 0;
  /** Lengths of the dimensions after the first. */
  inner: number[] = [];

  get numbers(): Float64Array {
    return this.kept.subarray(0, this.length);
  }

  set(decoded: Decoded): void {
    this.length = 0;
    this.inner = decoded.shape.slice(1);
    this.append(decoded.numbers ?? new Float64Array());
  }

  append(more: Float64Array): void {
    const length = this.length + more.length;
    if (length > this.kept.length) {
      const larger = new Float64Array(Math.max(length, 2 * this.kept.length));
      larger.set(this.numbers);
      this.kept = larger;
    }
    this.kept.set(more, this.length);
    this.length = length;
  }

  assign(indices: readonly bigint[], elements: Float64Array): void {
    const size = indices.length ? elements.length / indices.length : 0;
    indices.forEach((index, at) => this.kept.set(elements.subarray(at * size, (at + 1) * size), Number(index) * size));
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
  return UNITS[unit] ?? unit;
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

/** The text of a dataset, in its unit if it is a number. */
export function scaledText(dataset: Dataset): string {
  const decoded = decode(dataset.value);
  const number = decoded.numbers?.[0];
  if (number === undefined || decoded.shape.length || Number.isNaN(number)) return dataset.text;
  const scaled = number / (dataset.scale || 1);
  return dataset.precision >= 0 && Number.isFinite(scaled) ? scaled.toFixed(dataset.precision).replace("-", "−") : shown(scaled);
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
