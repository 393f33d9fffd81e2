// A long curve as the laboratory sends it: the points of each column of pixels that matter. What is told is the range in
// sight, with some more on either side, so that a curve that is moved is there before the answer.

import type { CurveColumns } from "../protocol/kairos/lab/v1/datasets_pb";
import type { Points } from "./decimate";

/** The part of the x axis for which columns are asked, in base units, and their number; without a range everything. */
export interface Sight {
  low?: number;
  high?: number;
  columns: number;
}

export class Screen {
  private readonly columns = new Map<number, Points>();
  private drawn: Points | undefined;
  /** Number of points of the curve. */
  length = 0;
  /** Lowest and highest place of any of its points. */
  extent: [number, number] | undefined;

  take(found: CurveColumns): void {
    if (found.init) this.columns.clear();
    const [x, y] = [numbers(found.x), numbers(found.y)];
    let at = 0;
    found.columns.forEach((number, index) => {
      const size = found.sizes[index] ?? 0;
      if (size) this.columns.set(number, { x: x.subarray(at, at + size), y: y.subarray(at, at + size) });
      else this.columns.delete(number);
      at += size;
    });
    this.length = Number(found.length);
    const [low, high] = found.extent;
    this.extent = low === undefined || high === undefined ? undefined : [low, high];
    this.drawn = undefined;
  }

  /** What is drawn, in the order of x; a value that is no number is a gap. */
  get points(): Points {
    if (this.drawn) return this.drawn;
    const order = Float64Array.from(this.columns.keys()).sort();
    let length = 0;
    for (const column of this.columns.values()) length += column.x.length;
    const found = { x: new Float64Array(length), y: new Float64Array(length) };
    let at = 0;
    for (const number of order) {
      const column = this.columns.get(number)!;
      found.x.set(column.x, at);
      found.y.set(column.y, at);
      at += column.x.length;
    }
    return (this.drawn = found);
  }
}

function numbers(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.slice().buffer);
}

/** Milliseconds between two questions. */
const PAUSE = 100;
/** Share of what is in sight that is asked for on either side. */
const MARGIN = 0.5;

/** Asks for what is in sight, when what was asked for last does not do any more. */
export class Asking {
  private asked: { low: number; high: number; span: number } | undefined;
  private last: number;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private next: (() => void) | undefined;

  constructor(private readonly ask: (sight: Sight) => void) {
    this.last = Number.NEGATIVE_INFINITY;
  }

  /** `range`: what is in sight, in base units; undefined: everything. `width`: in pixels. */
  show(range: readonly [number, number] | undefined, width: number): void {
    const columns = Math.max(1, Math.round(width));
    if (!range) {
      if (this.asked || this.waiting) this.later(undefined, { columns });
      return;
    }
    const [low, high] = range;
    const span = high - low;
    if (!(span > 0) || !Number.isFinite(span)) return;
    const { asked } = this;
    const near = MARGIN * span / 4;
    if (asked && Math.abs(asked.span - span) < 1e-6 * span && low - near >= asked.low && high + near <= asked.high) return;
    const sight = { low: low - MARGIN * span, high: high + MARGIN * span, columns: Math.round((1 + 2 * MARGIN) * columns) };
    this.later({ low: sight.low, high: sight.high, span }, sight);
  }

  end(): void {
    clearTimeout(this.waiting);
  }

  private later(asked: typeof this.asked, sight: Sight): void {
    this.next = () => {
      this.last = performance.now();
      this.asked = asked;
      this.ask(sight);
    };
    if (this.waiting) return;
    const wait = this.last + PAUSE - performance.now();
    if (wait <= 0) this.next();
    else {
      this.waiting = setTimeout(() => {
        this.waiting = undefined;
        this.next?.();
      }, wait);
    }
  }
}
