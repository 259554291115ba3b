/** Leases of the mails that this process sends, from the queue and past it. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { WorldClock } from '../core/clock.ts';
import { type Claim, LEASE_MS, leaseKeeper, type LeaseKeeper } from '../core/lease-keeper.ts';
import { CLAIMING, type Database, type Unit } from '../db/database.ts';
import { leaseMails, leaseNewMail, type Mail, releaseMails, renewMailLeases } from '../store/mails.ts';

export interface MailLeases extends LeaseKeeper {
  /** Leases due mails. @returns those that no other instance has claimed, with the end of their leases. */
  take(claims: readonly Claim[]): Promise<LeasedMail[]>;
  /** Leases a mail that this change has queued. */
  takeNew(unit: Unit, id: string): Promise<LeasedMail>;
}

export interface LeasedMail {
  readonly mail: Mail;
  readonly until: number;
}

export interface MailLeaseDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly leaseHolder: string;
}

export function mailLeases({ db, clock, leaseHolder: holder }: MailLeaseDependencies): MailLeases {
  const keeper = leaseKeeper({
    clock,
    renew: (claims, until) => db.write(SYSTEM_ACTOR, (unit) => renewMailLeases(unit, claims, until), CLAIMING),
    release: (claims) => db.write(SYSTEM_ACTOR, (unit) => releaseMails(unit, claims, holder), CLAIMING),
  });

  function newLease() {
    const realNow = clock.real();
    return { holder, realNow, until: realNow + LEASE_MS };
  }

  async function take(unit: Unit, claims: readonly Claim[]): Promise<LeasedMail[]> {
    const lease = newLease();
    return (await leaseMails(unit, claims, lease)).map((mail) => ({ mail, until: lease.until }));
  }

  return {
    ...keeper,
    async take(claims) {
      try {
        return await db.write(SYSTEM_ACTOR, (unit) => take(unit, claims), CLAIMING);
      } catch (error) {
        keeper.doubt(claims.map(({ id, attempts }) => ({ id, attempts: attempts + 1 })));
        throw error;
      }
    },
    async takeNew(unit, id) {
      const lease = newLease();
      return { mail: await leaseNewMail(unit, id, lease), until: lease.until };
    },
  };
}
