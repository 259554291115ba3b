/**
 * Leases of rows that this process works on. Renews them while the work lasts, and aborts work whose lease was lost, as
 * after a pause of the process that was longer than a lease: another instance may have taken its row over.
 */
import { SECOND, type WorldClock } from './clock.ts';

/** In real time. Another instance takes over the work of a dead one after this time, at the latest. */
export const LEASE_MS = 45 * SECOND;

/** A lease with less time left is renewed. A living instance may stall for this long, and clocks may differ by less. */
const RENEWED_BELOW_MS = 30 * SECOND;

/** Attempt at a row. Attempts only grow, so a claim matches its row until the row is claimed again. */
export interface Claim {
  readonly id: string;
  /** Number of the attempt, from 1. */
  readonly attempts: number;
}

interface Held {
  readonly claim: Claim;
  readonly lost: AbortController;
  until: number;
}

export interface LeaseKeeper {
  /** Renews the lease from now on. @returns a signal that is aborted once the lease is lost, or has ended already. */
  hold(claim: Claim, until: number): AbortSignal;
  has(id: string): boolean;
  /** Ends the renewals, once the outcome is recorded or lost. */
  end(claim: Claim): void;
  /** Notes claims whose change failed but may have been committed. No work on them begins. */
  doubt(claims: readonly Claim[]): void;
  /** Releases such claims. Call it before further claims, never during one: it could release the new one. */
  releaseDoubted(): Promise<void>;
  /** Renews leases that end soon; a job calls it every second or two. @throws what the database throws */
  renew(): Promise<void>;
}

export interface LeaseKeeperOptions {
  readonly clock: WorldClock;
  /** Stores the new end. @returns the ids whose claims are still valid. */
  readonly renew: (claims: readonly Claim[], until: number) => Promise<readonly string[]>;
  /** Ends leases whose attempts never began. */
  readonly release: (claims: readonly Claim[]) => Promise<void>;
}

export function leaseKeeper({ clock, renew, release }: LeaseKeeperOptions): LeaseKeeper {
  const leases = new Map<string, Held>();
  const doubted = new Map<string, Claim>();

  return {
    hold(claim, until) {
      const held: Held = { claim, lost: new AbortController(), until };
      leases.set(claim.id, held);
      if (until <= clock.real()) held.lost.abort();
      return held.lost.signal;
    },
    has: (id) => leases.has(id),
    end({ id, attempts }) {
      if (leases.get(id)?.claim.attempts === attempts) leases.delete(id);
    },
    doubt(claims) {
      for (const claim of claims) doubted.set(claim.id, claim);
    },
    async releaseDoubted() {
      if (doubted.size === 0) return;
      await release([...doubted.values()].filter(({ id }) => !leases.has(id)));
      doubted.clear();
    },
    async renew() {
      const now = clock.real();
      const ending = [...leases.values()].filter(({ until }) => until - now < RENEWED_BELOW_MS);
      if (ending.length === 0) return;
      const until = now + LEASE_MS;
      const claims = ending.map(({ claim }) => claim);
      try {
        const kept = new Set(await renew(claims, until));
        for (const held of ending) {
          if (kept.has(held.claim.id)) held.until = until;
          else held.lost.abort();
        }
      } catch (error) {
        // Without an answer a lease counts until its end: then another instance may begin.
        for (const held of ending) if (held.until <= clock.real()) held.lost.abort();
        throw error;
      }
    },
  };
}
