// What is being entered: it stays when its form is closed, moved to another place, or made anew.

const kept = new Map<string, object>();

/** What is being entered at a place, which is `initial` at first. */
export function draft<T extends object>(place: string, initial: T): T {
  const known = kept.get(place) as T | undefined;
  if (known) return known;
  const made = reactive(initial);
  kept.set(place, made);
  return made;
}

/** Something that is entered, whose parts can be bound. */
export function reactive<T extends object>(value: T): T {
  const made = $state(value);
  return made;
}

/** Discards it, as what was entered has arrived. */
export function discard(place: string): void {
  kept.delete(place);
}

/** A text of which a part was sent: what was written since. */
export function since(text: string, sent: string): string {
  return text.startsWith(sent) ? text.slice(sent.length).trimStart() : text;
}
