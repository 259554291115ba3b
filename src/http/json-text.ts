/** JSON that is written already. */

declare const SAYS: unique symbol;

/** To be sent as it is: for answers that are the same until something changes. */
export class JsonText<Data = unknown> {
  /** What it says, for the types alone. */
  declare readonly [SAYS]: Data;

  constructor(readonly text: string) {}
}
