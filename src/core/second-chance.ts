/** CLOCK, the second-chance eviction of F. J. Corbató (A Paging Experiment with the Multics System, 1968). */

/**
 * Newcomers for each one that evicts another. If every one did, keys that are requested in turn and outnumber the places
 * would all be evicted before their next request. Prime, since such keys often come in round numbers: otherwise it
 * would always be the same ones that have a place.
 */
const NEWCOMERS_PER_EVICTION = 17;

/** Numbered places, and which of them a newcomer takes. */
export class SecondChance {
  readonly #most: number;
  /** Places used since the hand last passed. */
  readonly #used: boolean[] = [];
  #hand = 0;
  #newcomers = 0;

  constructor(most: number) {
    this.#most = most;
  }

  use(place: number): void {
    this.#used[place] = true;
  }

  /** Returns the place of a newcomer, which may be another's: the first that was not used lately. Null if it has none. */
  next(): number | null {
    const { length } = this.#used;
    if (length < this.#most) {
      this.#used.push(false);
      return length;
    }
    this.#newcomers += 1;
    if (this.#newcomers % NEWCOMERS_PER_EVICTION !== 0) return null;
    while (this.#used[this.#hand] === true) {
      this.#used[this.#hand] = false;
      this.#advance();
    }
    const place = this.#hand;
    this.#advance();
    return place;
  }

  #advance(): void {
    this.#hand = (this.#hand + 1) % this.#most;
  }
}
