/** The actor: the identity under which a write is recorded, independent of the credential. */

export interface Actor {
  readonly type: 'user' | 'key' | 'anonymous' | 'system';
  /** The acting person, or a key's principal; null for strangers and the system itself. */
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  readonly requestId: string | null;
  readonly ip: string | null;
  /** ISO 3166 alpha-2, when it is known. */
  readonly ipCountry: string | null;
  /** User agent of the call, for the words of a mail; it is not recorded. */
  readonly userAgent?: string | null;
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

/** Returns the actor of the same call as this person, who was authorized in another way. */
export function onBehalfOf<Whose extends Actor>(actor: Whose, userId: string): Whose {
  // Inherits instead of copying: the client address is looked up lazily, and a copy would look it up.
  return Object.create(actor, { type: { value: 'user' }, userId: { value: userId } }) as Whose;
}
