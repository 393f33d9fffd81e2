// Results of fits as physicists write them.

import type { FitParameter } from "../protocol/kairos/lab/v1/fits_pb";
import { own, shown, unitName } from "./values";

export const SHAPES = ["line", "parabola", "v_function", "gaussian", "lorentzian", "exponential_decay", "sinusoid", "cos", "decaying_sinusoid", "rabi_flop", "detuned_square_pulse"] as const;

export interface Axis {
  unit: string;
  /** What a number is divided by to be in `unit`. */
  scale: number;
}

const INVERSE: Record<string, string> = { s: "Hz", ms: "kHz", us: "MHz", ns: "GHz", Hz: "s", kHz: "ms", MHz: "us", GHz: "ns" };

const per = (unit: string) => (unit ? `/${unitName(unit)}` : "");

/** Unit and scale of a parameter with a dimension in terms of the axes. */
export function axisOf(dimension: string, x: Axis, y: Axis): Axis {
  switch (dimension) {
    case "x":
      return x;
    case "y":
      return y;
    case "1/x":
      return { unit: own(INVERSE, x.unit) ?? (x.unit && `1/${x.unit}`), scale: 1 / x.scale };
    case "y/x":
      return { unit: `${y.unit}${per(x.unit)}`, scale: y.scale / x.scale };
    case "y/x^2":
      return { unit: `${y.unit}${x.unit && `${per(x.unit)}²`}`, scale: y.scale / x.scale ** 2 };
    default:
      return { unit: "", scale: 1 };
  }
}

/** A value with its uncertainty: 3.214(12). */
export function withError(value: number, error: number | undefined): string {
  if (error === undefined || !Number.isFinite(error) || !Number.isFinite(value)) return shown(value);
  // An error that is that small is one of arithmetic.
  if (error <= 1e-9 * Math.abs(value)) return shown(value, 9);
  const digits = 1 - Math.floor(Math.log10(error));
  const size = Math.abs(value);
  if (digits >= 0 && digits <= 9 && (size >= 1e-3 || size === 0 || error >= 1e-3)) return `${value.toFixed(digits).replace("-", "−")}(${Math.round(error * 10 ** digits)})`;
  const power = Math.floor(Math.log10(Math.max(size, error)));
  const [mantissa, small] = [value / 10 ** power, error / 10 ** power];
  const places = Math.max(0, 1 - Math.floor(Math.log10(small)));
  const text = `${mantissa.toFixed(places).replace("-", "−")}(${Math.round(small * 10 ** places)})`;
  return power ? `${text}·10^${String(power).replace("-", "−")}` : text;
}

export function parameterText(parameter: FitParameter, x: Axis, y: Axis): string {
  const { unit, scale } = axisOf(parameter.dimension, x, y);
  const error = parameter.error === undefined ? undefined : Math.abs(parameter.error / scale);
  return `${parameter.name} = ${withError(parameter.value / scale, error)}${unit && ` ${unitName(unit)}`}`;
}
