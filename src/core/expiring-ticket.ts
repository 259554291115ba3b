/** Stateless tickets: an expiry with a keyed hash that only this instance can compute, bound to one subject. */
import { type DerivePurpose, equalDigests, type InstanceKey } from './instance-key.ts';

/** Expiry in base 36, a dot, and 16 bytes of a keyed hash in base64url. */
const TICKET = /^([a-z0-9]{1,10})\.([\w-]{22})$/;
const HASH_BYTES = 16;

/** Cannot be revoked: for purposes where a ticket of some minutes or hours gives little. */
export function expiringTickets(instanceKey: Pick<InstanceKey, 'derive'>, purpose: DerivePurpose) {
  const hashOf = (subject: string, expiry: string) =>
    instanceKey.derive(purpose, `${subject}\0${expiry}`).subarray(0, HASH_BYTES);

  return {
    /** @param expiresAt in epoch milliseconds. */
    issue(subject: string, expiresAt: number): string {
      const expiry = expiresAt.toString(36);
      return `${expiry}.${Buffer.from(hashOf(subject, expiry)).toString('base64url')}`;
    },

    isValid(subject: string, ticket: string | null, now: number): boolean {
      return this.expiryOf(subject, ticket, now) !== null;
    },

    /** Returns when a valid ticket expires, in epoch milliseconds; null for any other. */
    expiryOf(subject: string, ticket: string | null, now: number): number | null {
      const [, expiry, hash] = TICKET.exec(ticket ?? '') ?? [];
      if (expiry === undefined || hash === undefined) return null;
      const isOurs = equalDigests(hashOf(subject, expiry), Buffer.from(hash, 'base64url'));
      const expiresAt = Number.parseInt(expiry, 36);
      return isOurs && now < expiresAt ? expiresAt : null;
    },
  };
}
