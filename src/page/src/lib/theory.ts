// What the twin has measured, beside the data: datasets called as those of the run, with `theory.` before.

export const THEORY = "theory.";

export interface Curve {
  x?: Float64Array;
  y: Float64Array;
  error?: Float64Array;
}

export interface Residuals {
  x: Float64Array;
  /** Distances of the points from the curve, in standard errors. */
  sigmas: Float64Array;
  /** Mean of their squares. */
  chiSquare: number;
}

/** Indices of a curve's points in the order of x. */
function ordered({ x, y }: Curve): number[] {
  const order = Array.from({ length: Math.min(y.length, x?.length ?? y.length) }, (_, at) => at);
  const usable = order.filter((at) => Number.isFinite(y[at]!) && (!x || Number.isFinite(x[at]!)));
  return x ? usable.sort((a, b) => x[a]! - x[b]!) : usable;
}

/** A curve in the order of its places, with one point for each: of repeated ones their mean. */
export function merged(curve: Curve): Curve {
  const { x, y, error } = curve;
  if (!x) return curve;
  const places: number[] = [];
  const sums: { y: number; square: number; count: number }[] = [];
  for (const at of ordered(curve)) {
    if (places.at(-1) !== x[at]!) {
      places.push(x[at]!);
      sums.push({ y: 0, square: 0, count: 0 });
    }
    const sum = sums.at(-1)!;
    sum.y += y[at]!;
    sum.square += (error?.[at] ?? 0) ** 2;
    sum.count++;
  }
  return {
    x: Float64Array.from(places),
    y: Float64Array.from(sums, (sum) => sum.y / sum.count),
    error: error && Float64Array.from(sums, (sum) => Math.sqrt(sum.square) / sum.count),
  };
}

/** The residuals of points with standard errors, without those that lie outside of the curve or have no error;
 * undefined if there is none. An error of the curve itself counts, too. */
export function residuals(data: Curve, theory: Curve): Residuals | undefined {
  if (!data.error) return undefined;
  const order = ordered(theory);
  const place = (curve: Curve, at: number) => (curve.x ? curve.x[at]! : at);
  const found: [number, number][] = [];
  let next = 0;
  for (const at of ordered(data)) {
    const [x, error] = [place(data, at), data.error[at] ?? Number.NaN];
    while (next < order.length && place(theory, order[next]!) < x) next++;
    const [right, left] = [order[next], order[next && place(theory, order[next] ?? -1) !== x ? next - 1 : next]];
    if (right === undefined || left === undefined || place(theory, left) > x) continue;
    const span = place(theory, right) - place(theory, left);
    const share = span > 0 ? (x - place(theory, left)) / span : 0;
    const between = (values: Float64Array) => values[left]! + share * (values[right]! - values[left]!);
    const own = theory.error ? between(theory.error) : 0;
    const whole = Math.hypot(error, Number.isFinite(own) ? own : 0);
    if (whole > 0) found.push([x, (data.y[at]! - between(theory.y)) / whole]);
  }
  if (!found.length) return undefined;
  const sigmas = Float64Array.from(found, ([, sigma]) => sigma);
  return { x: Float64Array.from(found, ([x]) => x), sigmas, chiSquare: sigmas.reduce((sum, each) => sum + each * each, 0) / sigmas.length };
}

/** Points of a scan with two axes. */
export interface Points {
  x: Float64Array;
  up: Float64Array;
  y: Float64Array;
}

/** What the twin has measured at the places of the data, in whatever order: NaN where it has not. Of a place that is
 * repeated the last one counts, as in an image. */
export function matched(x: Float64Array, up: Float64Array, theory: Points): Float64Array {
  const found = new Map<string, number>();
  const length = Math.min(theory.x.length, theory.up.length, theory.y.length);
  for (let at = 0; at < length; at++) found.set(`${theory.x[at]} ${theory.up[at]}`, theory.y[at]!);
  return x.map((place, at) => found.get(`${place} ${up[at]}`) ?? Number.NaN);
}

/** The ends of a slider for a number: from nothing to twice its value. */
export function range(value: number): { low: number; high: number } {
  if (!value) return { low: 0, high: 1 };
  return value > 0 ? { low: 0, high: 2 * value } : { low: 2 * value, high: 0 };
}
