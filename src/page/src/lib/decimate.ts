// Long curves for the screen: of all points in a column of pixels, those by which it looks as with all of them.

export interface Points {
  x: Float64Array;
  y: Float64Array;
}

/** More points than this are decimated. */
export const MANY = 20_000;

/** The points from `low` to `high` in x: at most four for each of `columns` columns, which are the leftmost, the lowest, the
 * highest and the rightmost; with the nearest one on either side. They are in the order of x, whatever that of the points is.
 * Without `x`, they are numbered from 0. A value that is not finite is a gap: it is kept, as NaN, before the leftmost and
 * after the rightmost point of its column. */
export function decimated(x: Float64Array | undefined, y: Float64Array, low: number, high: number, columns: number): Points {
  const length = Math.min(y.length, x?.length ?? Number.POSITIVE_INFINITY);
  const count = Math.max(1, Math.floor(columns));
  const scale = high > low ? count / (high - low) : 0;
  // By column, the first and the last being what is not in sight: indices of these points and of the first and last gap; -1: none.
  const kept = new Int32Array(6 * (count + 2)).fill(-1);
  const across = (at: number) => (x ? x[at]! : at);
  // Of numbered points only those in sight are looked at.
  const [begin, end] = x ? [0, length] : [Math.max(0, Math.ceil(low) - 1), Math.min(length, Math.floor(high) + 2)];
  for (let at = begin; at < end; at++) {
    const [place, value] = [across(at), y[at]!];
    if (!Number.isFinite(place)) continue;
    const column = 6 * (place < low ? 0 : place > high ? count + 1 : 1 + Math.min(count - 1, Math.floor((place - low) * scale)));
    const isPoint = Number.isFinite(value);
    const [first, last] = isPoint ? [column, column + 3] : [column + 4, column + 5];
    if (kept[first]! < 0) {
      if (isPoint) kept.fill(at, column, column + 4);
      else kept[first] = kept[last] = at;
      continue;
    }
    if (place < across(kept[first]!)) kept[first] = at;
    if (place >= across(kept[last]!)) kept[last] = at;
    if (!isPoint) continue;
    if (value < y[kept[column + 1]!]!) kept[column + 1] = at;
    if (value > y[kept[column + 2]!]!) kept[column + 2] = at;
  }
  const order: number[] = [];
  const before = (a: number, b: number) => across(a) - across(b) || a - b;
  for (let column = 0; column < kept.length; column += 6) {
    const [first = -1, lowest = -1, highest = -1, last = -1, gap = -1, lastGap = -1] = kept.subarray(column, column + 6);
    const found = column === 0 ? [last] : column === kept.length - 6 ? [first] : [first, lowest, highest, last];
    if (gap >= 0 && column > 0 && (first < 0 || before(gap, first) < 0)) found.push(gap);
    if (gap >= 0 && column < kept.length - 6 && (last < 0 || before(lastGap, last) > 0)) found.push(lastGap);
    const placed = found.filter((at) => at >= 0).sort(before);
    for (const at of placed) if (order.at(-1) !== at) order.push(at);
  }
  return { x: Float64Array.from(order, across), y: Float64Array.from(order, (at) => (Number.isFinite(y[at]!) ? y[at]! : Number.NaN)) };
}

/** The extent of numbers, as far as they are finite; undefined if none is. */
export function extent(numbers: Float64Array | undefined, length: number): [number, number] | undefined {
  if (!numbers) return length > 0 ? [0, length - 1] : undefined;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < Math.min(length, numbers.length); at++) {
    const value = numbers[at]!;
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : undefined;
}
