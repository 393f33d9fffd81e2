// The time of the laboratory: this computer's clock may be wrong.

/** Seconds by which the hub's clock is ahead of this computer's. */
let ahead = 0;
/** Seconds that clocks may differ without being wrong: the hub says its time in whole ones, and on its way it ages. */
const NEAR = 10;

/** Takes the date of an answer of the hub. Returns the difference of the clocks in seconds, if it has not been known and matters. */
export function setClock(date: string | null): number {
  const found = Date.parse(date ?? "") / 1000 - Date.now() / 1000;
  const difference = Math.abs(found) > NEAR ? found : 0;
  const isNew = Math.abs(difference - ahead) > NEAR;
  if (isNew || !difference) ahead = difference || 0;
  return isNew ? ahead : 0;
}

/** Seconds since 1970. */
export function time(): number {
  return Date.now() / 1000 + ahead;
}
