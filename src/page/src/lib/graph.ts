// Where the calibrations of a graph are drawn: each in the column behind those that it needs.

import type { Calibration } from "../protocol/kairos/lab/v1/calibrations_pb";

export interface Node {
  calibration: Calibration;
  column: number;
  row: number;
  /** Places in the list of nodes of those that it needs. */
  needs: number[];
}

/** The nodes of a graph. `calibrations`: each after those that it needs. */
export function nodes(calibrations: readonly Calibration[]): Node[] {
  const setters = new Map<string, number>();
  calibrations.forEach((each, at) => {
    for (const key of each.sets) if (!setters.has(key)) setters.set(key, at);
  });
  const rows: number[] = [];
  const found: Node[] = [];
  calibrations.forEach((calibration, at) => {
    const needs = [...new Set(calibration.needs.map((key) => setters.get(key)))].filter((each): each is number => each !== undefined && each !== at);
    // One that comes later is needed by a loop, which the laboratory reports.
    const column = Math.max(0, ...needs.filter((each) => each < at).map((each) => found[each]!.column + 1));
    rows[column] ??= 0;
    found.push({ calibration, column, row: rows[column]++, needs });
  });
  return found;
}
