// Something that is asked of the laboratory once: until it is answered, a second Enter or click asks nothing more.

interface Single<A extends unknown[]> {
  (...given: A): Promise<void>;
  /** Whether an answer is awaited. For `aria-disabled`: a button that is disabled loses the keyboard. */
  readonly going: boolean;
}

/** Makes a handler that does nothing while what it has begun goes on. Events that it is given do nothing else. */
export function single<A extends unknown[]>(work: (...given: A) => Promise<unknown>): Single<A> {
  let going = $state(false);
  const handler = async (...given: A) => {
    for (const each of given) if (each instanceof Event) each.preventDefault();
    if (going) return;
    going = true;
    try {
      await work(...given);
    } finally {
      going = false;
    }
  };
  return Object.defineProperty(handler, "going", { get: () => going }) as Single<A>;
}
