/** CLOCK, the second-chance eviction of F. J. Corbató (A Paging Experiment with the Multics System, 1968). */

/**
 * Newcomers for each one that evicts another. If every one did, keys that are requested in turn and outnumber the places
 * would all be evicted before their next request. Prime, since such keys often come in round numbers: otherwise it
 * would always be the same ones that have a place.
 */
const NEWCOMERS_PER_EVICTION = 17;

/** Numbered places, and which of them a newcomer takes. */
export class SecondChance {
  #taken = 0;
  #hand = 0;
  #newcomers = 0;

  /** @param wasUsed returns whether a place was used since it was last asked, and forgets it. */
  constructor(
    private readonly most: number,
    private readonly wasUsed: (place: number) => boolean,
  ) {}

  /** Returns the place of a newcomer, which may be another's: the first that was not used lately. Null if it has none. */
  next(): number | null {
    if (this.#taken < this.most) return this.#taken++;
    this.#newcomers += 1;
    if (this.#newcomers % NEWCOMERS_PER_EVICTION !== 0) return null;
    while (this.wasUsed(this.#hand)) this.#advance();
    const place = this.#hand;
    this.#advance();
    return place;
  }

  #advance(): void {
    this.#hand = (this.#hand + 1) % this.most;
  }
}
