// The keyboard in lists and tables.

const FOCUSABLE = "button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), a[href], summary, [tabindex='0']";
const seen = (element: Element) => element.getClientRects().length > 0;
const inside = (element: Element) => [...element.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(seen);

/** The arrow keys go from row to row, in the column of the control that has the keyboard. `rows`: selector of a row. */
export function rowKeys(list: HTMLElement, rows: string) {
  function pressed(event: KeyboardEvent) {
    const from = event.target as HTMLElement;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isText = from.matches("input:not([type=checkbox]), select, textarea, [role=treegrid]");
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented || isText) return;
    const row = from.closest<HTMLElement>(rows);
    const all = [...list.querySelectorAll<HTMLElement>(rows)].filter(seen);
    if (!row || !list.contains(row)) return;
    const column = inside(row).indexOf(from);
    // A row in which nothing can be done is passed over.
    for (let at = all.indexOf(row) + by; at >= 0 && at < all.length; at += by) {
      const found = inside(all[at]!);
      const next = found[Math.min(column, found.length - 1)];
      if (!next) continue;
      event.preventDefault();
      next.focus();
      return;
    }
  }
  list.addEventListener("keydown", pressed);
  return { destroy: () => list.removeEventListener("keydown", pressed) };
}

/** Has an element take the keyboard when it appears. */
export function takesKeyboard(element: HTMLElement) {
  element.focus();
}

/** What has a use of its own for Escape. */
const HEEDS_ESCAPE = "input, select, dialog, .lanes, .chart";

/** Closes a box in which somebody presses Escape, unless that means something else there. For `keydown` of the window, so
 * that whatever is inside of the box comes first. */
export function closeOnEscape(event: KeyboardEvent, box: HTMLElement, close: () => void): void {
  const at = event.target as HTMLElement;
  if (event.key === "Escape" && !event.defaultPrevented && box.contains(at) && !at.closest(HEEDS_ESCAPE)) close();
}
