declare const SAYS: unique symbol;

/** JSON sent as it is, for answers that stay the same until something changes. */
export class JsonText<Data = unknown> {
  /** The type of its data, for the compiler only. */
  declare readonly [SAYS]: Data;

  constructor(readonly text: string) {}
}
