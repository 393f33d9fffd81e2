// Names and texts of users for the screen: of any length, with any characters.

/** Characters that are not seen, or that change how others are: controls, marks of direction, halves of characters. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const NAMED: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0" };

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return NAMED[character] ?? (code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`);
}

/** A text in which what is not seen is written as in a program. `lines`: it may have several lines. */
export function visible(text: string, lines = false): string {
  return text.replace(UNSEEN, (each) => (lines && (each === "\n" || each === "\t") ? each : escaped(each)));
}

/** A name of at most so many characters: of a longer one the middle is left out, since names differ at their ends. */
export function shortened(name: string, most = 60): string {
  if (name.length <= most) return name;
  const kept = most - 1;
  // A character that takes two places is not cut.
  const begin = name.slice(0, Math.ceil(kept / 2)).replace(/[\ud800-\udbff]$/, "");
  const end = name.slice(-Math.floor(kept / 2)).replace(/^[\udc00-\udfff]/, "");
  return `${begin}…${end}`;
}

/** The beginning of a text, of so many characters. */
export function beginning(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, "");
}

/** How long a text is, for people, by its number of characters. */
export function lengthOf(length: number): string {
  if (length < 1000) return `${length} characters`;
  return length < 1e6 ? `${Math.round(length / 1000)} kB` : `${(length / 1e6).toFixed(1)} MB`;
}

/** Has the browser save something as a file. */
export function save(content: BlobPart, name: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
