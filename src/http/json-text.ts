/** JSON that is written already, to be sent as it is: for answers that are the same until something changes. */
declare const SAYS: unique symbol;

export class JsonText<Data = unknown> {
  /** What it says, for the types alone. */
  declare readonly [SAYS]: Data;

  constructor(readonly text: string) {}
}
