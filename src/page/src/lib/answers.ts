// Answers may overtake each other, and come when nobody waits for them any more.

/** Which answers to a repeated question are taken: one that is newer than those before, until it is closed. */
export class Answers {
  private asked = 0;
  private taken = 0;

  /** To be called with the question. What it returns is called with the answer: whether that is taken. */
  expect(): () => boolean {
    const mine = ++this.asked;
    return () => {
      if (mine <= this.taken) return false;
      this.taken = mine;
      return true;
    };
  }

  /** No answer to what has been asked is taken any more. */
  close(): void {
    this.taken = this.asked;
  }
}
