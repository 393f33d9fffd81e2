// The entry of the logbook that is being written. Its text survives a reload of the page.

import { notify } from "./state.svelte";
import { layout } from "./layout.svelte";

const KEPT = "logbook";
const LARGEST = 2 << 20;

class Draft {
  text = $state(localStorage.getItem(KEPT) ?? "");
  rid = $state("");
  picture = $state.raw<Uint8Array<ArrayBuffer>>();

  keep(): void {
    localStorage.setItem(KEPT, this.text);
  }

  clear(): void {
    [this.text, this.rid, this.picture] = ["", "", undefined];
    this.keep();
  }

  /** Takes a picture, if it is one that the logbook can keep. */
  async take(file: Blob): Promise<void> {
    if (file.size > LARGEST) notify("a picture of the logbook has at most 2 MiB", true);
    else this.picture = new Uint8Array(await file.arrayBuffer());
  }

  /** Begins with a plot, or adds it to what is there. */
  async paste(picture: Blob | undefined, text: string, rid?: bigint): Promise<void> {
    if (picture) await this.take(picture);
    this.text = this.text ? `${this.text}\n${text}` : text;
    if (rid !== undefined) this.rid = String(rid);
    this.keep();
    layout.show("Logbook");
  }
}

export const draft = new Draft();

/** A picture of the plot within an element, with its title; undefined if there is none. */
export async function pictureOf(element: HTMLElement, title: string): Promise<Blob | undefined> {
  const drawn = element.querySelector("canvas");
  if (!drawn?.width) return undefined;
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth, clientHeight } = drawn;
  const [width, height, head] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio), Math.round(24 * ratio)];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height + head];
  const context = canvas.getContext("2d");
  if (!context) return undefined;
  const style = getComputedStyle(element);
  // The colours of the page, which may be dark.
  context.fillStyle = getComputedStyle(element.closest("section") ?? document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.color;
  context.font = `600 ${Math.round(13 * ratio)}px system-ui`;
  context.fillText(title, 8 * ratio, 16 * ratio, width - 16 * ratio);
  context.imageSmoothingEnabled = false;
  context.drawImage(drawn, 0, head, width, height);
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), "image/png"));
}
