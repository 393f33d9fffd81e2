// Long curves for the screen: of all points in a column of pixels, those by which it looks as with all of them.

export interface Points {
  x: Float64Array;
  y: Float64Array;
}

/** More points than this are decimated. */
export const MANY = 20_000;

/** The points from `low` to `high` in x, at most four for each of `columns` columns: the leftmost, the lowest, the highest
 * and the rightmost; with the first and the last one of all, so that the extent is known. They are in the order of x,
 * whatever that of the points is. Without `x`, they are numbered from 0. Those that are not finite are left out. */
export function decimated(x: Float64Array | undefined, y: Float64Array, low: number, high: number, columns: number): Points {
  const length = Math.min(y.length, x?.length ?? Number.POSITIVE_INFINITY);
  const count = Math.max(1, Math.floor(columns));
  const scale = high > low ? count / (high - low) : 0;
  // By column: indices of the leftmost, lowest, highest and rightmost point; -1: none.
  const kept = new Int32Array(4 * count).fill(-1);
  let [first, last] = [-1, -1];
  const across = (at: number) => (x ? x[at]! : at);
  // Of numbered points only those in sight are looked at.
  const [begin, end] = x ? [0, length] : [Math.max(0, Math.ceil(low)), Math.min(length, Math.floor(high) + 1)];
  if (!x) {
    for (first = 0; first < length && !Number.isFinite(y[first]!); first++);
    for (last = length - 1; last >= 0 && !Number.isFinite(y[last]!); last--);
    if (last < 0) first = -1;
  }
  for (let at = begin; at < end; at++) {
    const [place, value] = [across(at), y[at]!];
    if (!Number.isFinite(place) || !Number.isFinite(value)) continue;
    if (x && (first < 0 || place < across(first))) first = at;
    if (x && (last < 0 || place >= across(last))) last = at;
    if (place < low || place > high) continue;
    const column = 4 * Math.min(count - 1, Math.floor((place - low) * scale));
    if (kept[column]! < 0) {
      kept.fill(at, column, column + 4);
      continue;
    }
    if (place < across(kept[column]!)) kept[column] = at;
    if (value < y[kept[column + 1]!]!) kept[column + 1] = at;
    if (value > y[kept[column + 2]!]!) kept[column + 2] = at;
    if (place >= across(kept[column + 3]!)) kept[column + 3] = at;
  }
  if (first < 0) return { x: new Float64Array(), y: new Float64Array() };
  const order: number[] = [];
  const add = (at: number) => {
    if (order.at(-1) !== at) order.push(at);
  };
  if (across(first) < low) add(first);
  for (let column = 0; column < kept.length; column += 4) {
    if (kept[column]! < 0) continue;
    const four = [...kept.subarray(column, column + 4)].sort((a, b) => across(a) - across(b) || a - b);
    four.forEach(add);
  }
  if (across(last) > high) add(last);
  return { x: Float64Array.from(order, across), y: Float64Array.from(order, (at) => y[at]!) };
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
