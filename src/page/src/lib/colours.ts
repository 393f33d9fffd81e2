// The colours of images.

/** Corners of the colour map viridis, which is even for the eye and for those who see colours differently. */
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

/** The colour of a value, which is `part` of the way from the lowest to the highest one. */
export function colour(part: number): [number, number, number] {
  const at = Math.min(COLOURS.length - 2, Math.floor(part * (COLOURS.length - 1)));
  const rest = part * (COLOURS.length - 1) - at;
  const [from, to] = [COLOURS[at]!, COLOURS[at + 1]!];
  return [0, 1, 2].map((each) => from[each as 0] + rest * (to[each as 0] - from[each as 0])) as [number, number, number];
}

/** Draws numbers in C order as an image, the first row at the bottom, as in a diagram; what is not finite is transparent. */
export function paint(canvas: HTMLCanvasElement, numbers: ArrayLike<number>, width: number, low: number, high: number): void {
  const context = canvas.getContext("2d");
  const height = Math.floor(numbers.length / (width || 1));
  if (!context || !width || !height) return;
  [canvas.width, canvas.height] = [width, height];
  const image = context.createImageData(width, height);
  const span = high - low || 1;
  for (let at = 0; at < width * height; at++) {
    const value = numbers[at]!;
    if (!Number.isFinite(value)) continue;
    const place = ((height - 1 - Math.floor(at / width)) * width + (at % width)) * 4;
    image.data.set([...colour((value - low) / span), 255], place);
  }
  context.putImageData(image, 0, 0);
}

/** The lowest and the highest finite number; infinities if there is none. */
export function range(numbers: ArrayLike<number>): { low: number; high: number } {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < numbers.length; at++) {
    const each = numbers[at]!;
    if (Number.isFinite(each)) [low, high] = [Math.min(low, each), Math.max(high, each)];
  }
  return { low, high };
}
