// Clicks and keys that would do something else than what was aimed at: the second click of a double click, a click on a
// row that has slid under the pointer, and Enter that is held down.

/** What moves up when something above it goes. */
const ROW = "li, tr, [role=row], article, .question, .lock";
/** Buttons that mean one thing, however often they are clicked at once: those that send a form, and those marked so. */
const SINGLE = "form button:not([type=button]), [data-single]";
/** Milliseconds until somebody has seen that a row has moved. */
const SEEN = 400;
/** Pixels that a hand moves without meaning it. */
const STEADY = 4;
/** Milliseconds between the taps of a double one, and pixels between their places. */
const [TAPS, NEAR] = [300, 20];

const rowOf = (target: EventTarget | null) => (target instanceof Element ? target.closest(ROW) : null);

/** Watches a window. `report`: takes the reason why a click has done nothing. */
export function guardPresses(window: Window, report: (text: string) => void): void {
  /** The button of the click before, when and where that was. */
  let before: { button: Element | null; time: number; x: number; y: number } | undefined;
  /** Where the mouse was last, where it rests, and on what. */
  let last = { x: Number.NaN, y: Number.NaN };
  let rest = last;
  let row: Element | null = null;
  /** Whether it was moved there to click: after a click, and while something is typed or scrolled, it rests by chance. */
  let aimed = false;
  /** Runs while another row has just come under the mouse that rests. */
  let slid: ReturnType<typeof setTimeout> | undefined;
  const endSlide = () => {
    clearTimeout(slid);
    slid = undefined;
  };
  const slide = () => {
    endSlide();
    slid = setTimeout(endSlide, SEEN);
  };

  const moved = (event: PointerEvent) => {
    if (event.pointerType !== "mouse") return;
    const { clientX: x, clientY: y } = event;
    last = { x, y };
    if (Math.hypot(x - rest.x, y - rest.y) < STEADY) return;
    rest = last;
    row = rowOf(event.target);
    aimed = true;
    endSlide();
  };

  const over = (event: PointerEvent) => {
    if (event.pointerType !== "mouse") return;
    const now = rowOf(event.target);
    if (now === row) return;
    // What moves itself comes under a mouse that is where it was.
    if (aimed && row && event.clientX === last.x && event.clientY === last.y) slide();
    else endSlide();
    row = now;
  };

  /** Whether a click was meant for something else. */
  function isStray(event: PointerEvent, button: Element): boolean {
    const known = before?.button;
    if (event.detail > 1) return button !== known || button.matches(SINGLE);
    const near = before && event.timeStamp - before.time < TAPS && Math.hypot(event.clientX - before.x, event.clientY - before.y) < NEAR;
    if (event.pointerType === "touch") return near === true && (button !== known || button.matches(SINGLE));
    if (event.pointerType !== "mouse") return false;
    const now = rowOf(button);
    if (aimed && now !== row && row && event.clientX === last.x && event.clientY === last.y) {
      row = now;
      slide();
    }
    if (!slid) return false;
    report("the list has just moved: click again");
    return true;
  }

  const clicked = (event: MouseEvent) => {
    // The keyboard's have no place.
    if (!event.isTrusted || event.detail === 0 || !(event instanceof PointerEvent)) return;
    const button = (event.target as Element).closest("button");
    if (button && isStray(event, button)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    aimed = false;
    endSlide();
    before = { button, time: event.timeStamp, x: event.clientX, y: event.clientY };
  };

  // Neither does the keyboard go there.
  const down = (event: MouseEvent) => {
    const button = (event.target as Element).closest("button");
    if (event.detail > 1 && button && button !== before?.button) event.preventDefault();
  };

  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !event.repeat) return;
    // Only what is being written has lines.
    if (event.target instanceof HTMLTextAreaElement && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  // Who types does not aim, and who scrolls moves the rows on purpose.
  const busy = () => {
    aimed = false;
    endSlide();
  };

  for (const kind of ["input", "keydown", "wheel"]) window.addEventListener(kind, busy, { capture: true, passive: true });
  window.addEventListener("pointermove", moved, true);
  window.addEventListener("pointerover", over, true);
  window.addEventListener("mousedown", down, true);
  window.addEventListener("click", clicked, true);
  window.addEventListener("keydown", pressed, true);
}
