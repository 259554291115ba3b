/**
 * Links for trying an application: the sign-in page shows the session token at its end. Only managers can create one,
 * and they could register a return URL that receives the tokens anyway.
 */
import { type Clock, isoTime, MINUTE } from '../../core/clock.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import type { Application } from '../../store/applications.ts';

const LIFETIME_MS = 30 * MINUTE;
/** Expiry in base 36, a dot, and 16 bytes of a keyed hash in base64url. */
const TICKET = /^([a-z0-9]{1,10})\.([\w-]{22})$/;
const HASH_BYTES = 16;

interface TrialDependencies {
  readonly instanceKey: InstanceKey;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

type Tried = Pick<Application, 'id' | 'clientId'>;

export type SignInTrials = ReturnType<typeof signInTrials>;

/** Stateless: a ticket is an expiry with a keyed hash that only this instance can compute, bound to one application. */
export function signInTrials({ instanceKey, clock, baseUrl }: TrialDependencies) {
  const hashOf = ({ id }: Tried, expiry: string) =>
    instanceKey.derive('sign-in trial', `${id}\0${expiry}`).subarray(0, HASH_BYTES);

  return {
    link(application: Tried): { url: string; expiresAt: string } {
      const expiresAt = clock.now() + LIFETIME_MS;
      const expiry = expiresAt.toString(36);
      const trial = `${expiry}.${Buffer.from(hashOf(application, expiry)).toString('base64url')}`;
      const query = new URLSearchParams({ clientId: application.clientId, trial });
      return { url: `${baseUrl()}/sign-in?${query}`, expiresAt: isoTime(expiresAt) };
    },

    isValid(application: Tried, ticket: string | null): boolean {
      const [, expiry, hash] = TICKET.exec(ticket ?? '') ?? [];
      if (expiry === undefined || hash === undefined) return false;
      const isOurs = equalDigests(hashOf(application, expiry), Buffer.from(hash, 'base64url'));
      return isOurs && clock.now() < Number.parseInt(expiry, 36);
    },
  };
}
