// The curve of a plot in runs that have ended.

import { calls } from "./calls";
import { decode, own } from "./values";

export interface Earlier {
  label: string;
  x?: Float64Array;
  y: Float64Array;
}

const MOST = 8;

/** The datasets `y`, against `x`, of the runs with these numbers, separated by blanks; an error says which run lacks them. */
export async function earlier(numbers: string, y: string, x?: string): Promise<Earlier[]> {
  const words = numbers.split(/[\s,;]+/).filter(Boolean);
  const wrong = words.find((word) => !/^\d{1,15}$/.test(word));
  if (wrong !== undefined) throw new Error(`'${wrong}' is not the number of a run`);
  if (words.length > MOST) throw new Error(`at most ${MOST} runs are drawn behind`);
  return Promise.all(
    words.map(async (word) => {
      const run = await calls.runs.show({ rid: BigInt(word) });
      // Datasets of ndscan have the number of the run in their names.
      const of = (key: string) => own(run.datasets, key) ?? own(run.datasets, key.replace(/^ndscan\.rid_\d+\./, `ndscan.rid_${word}.`));
      const [values, places] = [decode(of(y)?.value).numbers, x ? decode(of(x)?.value).numbers : undefined];
      if (!values?.length || (x && !places)) throw new Error(`run ${word} has no dataset ${values?.length ? x : y}`);
      return { label: `run ${word}`, y: values, x: places };
    }),
  );
}
