// What a page shows: lanes with their arrays, and questions about them. Nothing here draws.
// Times are nanoseconds (doubles). A lane of any kind has `t`, the times of its entries, in order.

const FLOATING = 2, CLOCKING = 3;
const CYCLE_NS = 8;

// The number of entries of `times` at or before `time`.
function countUntil(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

// The number of entries before `time`, which is between `low` and `high`.
function countBefore(times, time, low = 0, high = times.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}

// The same, where the first `from` entries are before it: near them it takes a few steps, however
// many entries there are.
function countBeforeFrom(times, time, from) {
  let low = from, high = from, step = 1;
  while (high < times.length && times[high] < time) { low = high + 1; high += step; step *= 2; }
  return countBefore(times, time, low, Math.min(high, times.length));
}

// A clock from the numbers of its accumulator (kairos.waveform.Wave). Exact: products exceed what a
// double holds.
class Clock {
  constructor([time, half, accumulator, word, changes]) {
    this.time = time;
    [this.half, this.accumulator, this.word] = [half, accumulator, word].map(BigInt);
    this.initial = Number((this.accumulator & this.half) !== 0n);
    this.changes = changes;
    this.hertz = word / (2 * half * CYCLE_NS * 1e-9);
  }

  timeOf(number) {
    const missing = this.half * BigInt(number + 1) - this.accumulator % this.half;
    return this.time + Number((missing + this.word - 1n) / this.word) * CYCLE_NS;
  }

  // How many changes are at or before a time.
  countUntil(time) {
    let low = 0, high = this.changes;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.timeOf(middle) <= time) low = middle + 1; else high = middle;
    }
    return low;
  }

  levelAfter(count) { return this.initial ^ count & 1; }
}

// The least and the greatest of each 16 values, of each 256 and so on: an extent in a few steps,
// however many there are.
class Extents {
  constructor(values) {
    this.levels = [[values, values]];
    for (;;) {
      const [low, high] = this.levels.at(-1);
      if (low.length <= 16) break;
      const length = Math.ceil(low.length / 16);
      const least = new Float64Array(length).fill(Infinity), greatest = new Float64Array(length).fill(-Infinity);
      for (let index = 0; index < low.length; index++) {
        const place = index >>> 4;
        if (low[index] < least[place]) least[place] = low[index];
        if (high[index] > greatest[place]) greatest[place] = high[index];
      }
      this.levels.push([least, greatest]);
    }
  }

  // [least, greatest] of the entries from `first` up to `last`, which is not among them; infinities
  // if there are none.
  of(first, last) {
    let least = Infinity, greatest = -Infinity;
    const take = (level, index) => {
      const [low, high] = this.levels[level];
      if (low[index] < least) least = low[index];
      if (high[index] > greatest) greatest = high[index];
    };
    for (let level = 0; first < last; level++) {
      const top = level + 1 === this.levels.length;
      while (first < last && (top || first & 15)) take(level, first++);
      while (first < last && last & 15) take(level, --last);
      first >>>= 4;
      last >>>= 4;
    }
    return [least, greatest];
  }
}

// A page's lanes from its JSON and the block of its arrays.
function lanesFrom(content, buffer) {
  const floats = ([at, count]) => new Float64Array(buffer, at, count);
  return content.lanes.map((lane) => {
    const made = { name: lane.name, group: lane.group, kind: lane.kind, unit: lane.unit, t: floats(lane.t) };
    switch (lane.kind) {
      case "levels":
        made.initial = lane.initial;
        made.v = new Uint8Array(buffer, ...lane.v);
        made.clocks = lane.clocks.map((clock) => new Clock(clock));
        made.clockStarts = made.t.filter((_, index) => made.v[index] === CLOCKING);
        break;
      case "steps":
        made.v = floats(lane.v);
        made.extents = new Extents(made.v);
        break;
      case "words":
        made.ends = floats(lane.e);
        // falls through
      case "marks":
        made.v = new Uint32Array(buffer, ...lane.v);
        made.texts = content.texts;
    }
    return made;
  });
}

// The clock that runs in a lane of levels at its entry `index`.
function clockAt(lane, index) {
  return lane.clocks[countUntil(lane.clockStarts, lane.t[index]) - 1];
}

// The quantity of a lane of steps at a time; NaN if there is none.
function numberAt(lane, time) {
  const index = countUntil(lane.t, time) - 1;
  return index < 0 ? NaN : lane.v[index];
}

// What a lane says at a time, as text; null if it says nothing.
function valueAt(lane, time) {
  const index = countUntil(lane.t, time) - 1;
  switch (lane.kind) {
    case "levels": {
      const level = index < 0 ? lane.initial : lane.v[index];
      if (level !== CLOCKING) return level === FLOATING ? "not driven" : String(level);
      const clock = clockAt(lane, index);
      return `${clock.levelAfter(clock.countUntil(time))}, ${quantity(clock.hertz, "Hz")}`;
    }
    case "steps": {
      const number = numberAt(lane, time);
      return Number.isNaN(number) ? null : quantity(number, lane.unit);
    }
    case "words":
      return index < 0 || lane.ends[index] < time ? null : lane.texts[lane.v[index]];
    default:
      return null;
  }
}

// The lines of the source from which the newest output of a pin or a bus came at a time,
// "FILE:LINE: TEXT"; null if none is known. What DMA played has two, "recorded at …" and "played at
// …". A line has few channels, so it is found in a few steps back.
function sourceAt(lanes, lane, time) {
  if (!["levels", "words"].includes(lane.kind)) return null;
  const channel = lane.kind === "words" ? lane.group.at(-1) : lane.name;
  let newest = -Infinity, roles = {};
  for (const source of lanes) {
    if (source.group[0] !== "source") continue;
    let index = countUntil(source.t, time) - 1;
    for (const end = index - 64; index > end && index >= 0 && source.t[index] >= newest; index--) {
      const text = source.texts[source.v[index]];
      if (text !== channel && !text.startsWith(`${channel} ←`) && !text.startsWith(`${channel},`)) continue;
      if (source.t[index] > newest) roles = {};
      newest = source.t[index];
      roles[roleOf(text)] ??= `${source.group[1]}:${source.name}`;
    }
  }
  if (roles.only) return roles.only;
  const found = ["recorded", "played"].filter((role) => role in roles).map((role) => `${role} at ${roles[role]}`);
  return found.length ? found.join("\n") : null;
}

// What a line did for an output, from the text of its mark, which names the other line if there is one.
function roleOf(text) {
  if (text.includes(", played at ")) return "recorded";
  return text.includes(", recorded at ") ? "played" : "only";
}

// The next change of a lane after a time, or the one before it; null if there is none.
function changeFrom(lane, time, forwards) {
  let index = forwards ? countUntil(lane.t, time) : countBefore(lane.t, time) - 1;
  const inside = forwards ? index - 1 : index;
  if (lane.kind === "levels" && inside >= 0 && lane.v[inside] === CLOCKING) {
    const clock = clockAt(lane, inside);
    let number = clock.countUntil(time);
    if (!forwards) number -= clock.timeOf(number - 1) === time ? 2 : 1;
    if (number >= 0 && number < clock.changes) return clock.timeOf(number);
  }
  return index >= 0 && index < lane.t.length ? lane.t[index] : null;
}

// Where a text stands: the first entry behind `time` (or before it), [lane, time], whose text has
// it. A lane whose name has it counts with each of its entries.
function search(lanes, text, time, forwards) {
  const wanted = text.toLowerCase();
  let best = null;
  for (const lane of lanes) {
    let found = null;
    if (lane.name.toLowerCase().includes(wanted)) {
      found = changeFrom(lane, time, forwards);
    } else if (lane.texts) {
      const hits = new Set();
      lane.texts.forEach((entry, number) => { if (entry.toLowerCase().includes(wanted)) hits.add(number); });
      if (!hits.size) continue;
      const step = forwards ? 1 : -1;
      let index = forwards ? countUntil(lane.t, time) : countBefore(lane.t, time) - 1;
      while (index >= 0 && index < lane.t.length && !hits.has(lane.v[index])) index += step;
      if (index >= 0 && index < lane.t.length) found = lane.t[index];
    }
    if (found !== null && (best === null || (forwards ? found < best[1] : found > best[1]))) best = [lane, found];
  }
  return best;
}

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

// A number with unit, as short as nine digits allow for counts and frequencies, else six.
function quantity(value, unit) {
  if (!unit) return String(Number(value.toPrecision(9)));
  if (value === 0 || unit === "dBm" || unit === "turns") return `${Number(value.toPrecision(6))} ${unit}`;
  if (unit === "ns") return duration(value);
  const [size, prefix] = PREFIXES.find(([size]) => Math.abs(value) >= size) ?? PREFIXES.at(-1);
  return `${Number((value / size).toPrecision(unit === "Hz" ? 9 : 6))} ${prefix}${unit}`;
}

// A time in nanoseconds, exact, in the unit that suits it.
function duration(ns) {
  const size = Math.abs(ns);
  const [scale, unit, digits] = size >= 1e9 ? [1e9, "s", 9] : size >= 1e6 ? [1e6, "ms", 6] : size >= 1e3 ? [1e3, "µs", 3]
    : [1, "ns", 1];
  return `${Number((ns / scale).toFixed(digits))} ${unit}`;
}

export { CLOCKING, FLOATING, changeFrom, clockAt, countBefore, countBeforeFrom, countUntil, duration, lanesFrom, numberAt, quantity, search, sourceAt, valueAt };
