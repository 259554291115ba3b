/** Who did it: the identity a write is recorded under, whatever credential proved it. */

export interface Actor {
  readonly type: 'user' | 'key' | 'anonymous' | 'system';
  /** The acting person, or a key's principal; null for strangers and the system itself. */
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  readonly requestId: string | null;
  readonly ip: string | null;
  /** ISO 3166 alpha-2, when it is known. */
  readonly ipCountry: string | null;
}

/** The actor of start-up, jobs and commands run on the server's own machine. */
export const SYSTEM_ACTOR: Actor = {
  type: 'system',
  userId: null,
  apiKeyId: null,
  requestId: null,
  ip: null,
  ipCountry: null,
};

/** The same call as the doing of a person, whose right to it was shown in another way. */
export function inNameOf<Whose extends Actor>(actor: Whose, userId: string): Whose {
  // Its address is found out when it is asked for: a copy would ask.
  return Object.create(actor, { type: { value: 'user' }, userId: { value: userId } }) as Whose;
}
