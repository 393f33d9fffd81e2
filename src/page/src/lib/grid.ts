// Points of a scan with two axes as an image.

export interface Grid {
  /** Rows of the second axis, from below; NaN where there is no point yet. */
  numbers: Float64Array;
  width: number;
  /** Places of the first and the last column, and of the first and the last row. */
  across: [number, number];
  up: [number, number];
}

/** Cells along an axis. */
const MOST = 512;

interface Cells {
  first: number;
  step: number;
  count: number;
}

/** Equal cells in which each place has its own, as far as there are not too many. */
function cells(places: Float64Array, length: number): Cells | undefined {
  const sorted = places.slice(0, length).filter(Number.isFinite).sort();
  if (!sorted.length) return undefined;
  const [first, span] = [sorted[0]!, sorted.at(-1)! - sorted[0]!];
  let step = span;
  for (let at = 1; at < sorted.length; at++) {
    const next = sorted[at]! - sorted[at - 1]!;
    if (next > 1e-6 * span && next < step) step = next;
  }
  if (!(step > 0)) return { first, step: 1, count: 1 };
  const count = Math.min(MOST, Math.round(span / step) + 1);
  return { first, step: span / (count - 1), count };
}

/** The image of points at places of two axes; of those in one cell the newest one counts. undefined without points. */
export function gridded(x: Float64Array, y: Float64Array, values: Float64Array): Grid | undefined {
  const length = Math.min(x.length, y.length, values.length);
  const [columns, rows] = [cells(x, length), cells(y, length)];
  if (!columns || !rows) return undefined;
  const numbers = new Float64Array(columns.count * rows.count).fill(Number.NaN);
  for (let at = 0; at < length; at++) {
    const [column, row] = [Math.round((x[at]! - columns.first) / columns.step), Math.round((y[at]! - rows.first) / rows.step)];
    if (Number.isFinite(column) && Number.isFinite(row)) numbers[row * columns.count + column] = values[at]!;
  }
  const ends = ({ first, step, count }: Cells): [number, number] => [first, first + step * (count - 1)];
  return { numbers, width: columns.count, across: ends(columns), up: ends(rows) };
}
