// The viewer of waveforms (src/kairos/scope/page), which the build copies to `scope/`.
declare module "*/scope/scope.js" {
  /** Draws lanes; its parts are the elements below `root` with the attribute `data-part`. */
  export class Scope {
    constructor(content: unknown, buffer: ArrayBuffer, root: HTMLElement);
    readonly lanes: readonly { name: string; kind: string }[];
    readonly sized: ResizeObserver;
    redraw(): void;
  }
}
