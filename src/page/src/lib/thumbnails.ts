// What the plots of runs look like from afar: asked for once.

import type { RunThumbnailResponse } from "../protocol/kairos/lab/v1/runs_pb";
import { calls } from "./calls";
import { range } from "./colours";

export interface Choice {
  y: string;
  x: string;
}

const kept = new Map<string, Promise<RunThumbnailResponse | undefined>>();

/** The thumbnail of a run; undefined if it has nothing to draw. `choices`: what is drawn rather than anything else. */
export function thumbnail(rid: bigint, choices: readonly Choice[]): Promise<RunThumbnailResponse | undefined> {
  const key = JSON.stringify([String(rid), choices]);
  const known = kept.get(key);
  if (known) return known;
  const asked = calls.runs.thumbnail({ rid, choices: [...choices] }).then(
    (found) => (found.y ? found : undefined),
    () => {
      // A run without a file never has one; a hub that is away will be back.
      setTimeout(() => kept.delete(key), AGAIN);
      return undefined;
    },
  );
  kept.set(key, asked);
  return asked;
}

const AGAIN = 10_000;

/** The lines of a curve in a picture of this size: the points of each, as SVG has them. A gap ends a line. */
export function lines(places: readonly number[], values: readonly number[], width: number, height: number): string[] {
  const [across, up] = [range(places), range(values)];
  const part = (value: number, { low, high }: { low: number; high: number }) => (high > low ? (value - low) / (high - low) : 0.5);
  const found: string[] = [];
  let line: string[] = [];
  const end = () => {
    // A point alone is drawn as a line to itself, which has round ends.
    if (line.length) found.push((line.length === 1 ? [line[0], line[0]] : line).join(" "));
    line = [];
  };
  values.forEach((value, at) => {
    if (Number.isFinite(value)) line.push(`${(1 + part(places[at]!, across) * (width - 2)).toFixed(1)},${(height - 1 - part(value, up) * (height - 2)).toFixed(1)}`);
    else end();
  });
  end();
  return found;
}
