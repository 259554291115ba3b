/** Where a person is at home: country, language, time zone, currency and units. A region without any of them is none. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import type { Region } from '../../core/envelope.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { users } from '../../db/schema/users.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { recordChange } from './change.ts';
import { type Cleaned, cleanFields, completeFields, differences } from './fields.ts';
import { REGION_RULES, type RegionInput } from './model.ts';

type RegionFields = Cleaned<typeof REGION_RULES>;

const UNSET: Region = { country: null, uiLocale: null, timeZone: null, currency: null, measurementSystem: null };

export type Regions = ReturnType<typeof regionService>;

export function regionService(db: Database) {
  function find(userId: string): Region | null {
    return db.orm.select({ region: users.region }).from(users).where(eq(users.id, userId)).get()!.region;
  }

  /** Merges over what is there at this moment, so that nothing that was not named can be lost. */
  function write(actor: Actor, principal: SessionPrincipal, named: RegionFields): Region | null {
    return db.write(actor, (unit) => {
      const before = { ...UNSET, ...find(principal.userId) };
      const changes = differences(before, named);
      const merged = { ...before, ...changes };
      const region = Object.values(merged).some((value) => value !== null) ? merged : null;
      const fields = Object.keys(changes);
      if (fields.length === 0) return region;
      unit.tx.update(users).set({ region, updatedAt: unit.now }).where(eq(users.id, principal.userId)).run();
      recordChange(unit, principal, { categories: ['region'], change: region ? 'changed' : 'removed', fields });
      return region;
    });
  }

  return {
    get: ({ userId }: SessionPrincipal): Region | null => find(userId),

    /** Puts all five; what is absent becomes null. @throws {AppError} invalid_request */
    replace: (actor: Actor, principal: SessionPrincipal, input: RegionInput): Region | null =>
      write(actor, principal, completeFields(REGION_RULES, input)),

    /** Changes what is named and leaves the rest. @throws {AppError} invalid_request */
    update: (actor: Actor, principal: SessionPrincipal, input: RegionInput): Region | null =>
      write(actor, principal, cleanFields(REGION_RULES, input)),

    clear: (actor: Actor, principal: SessionPrincipal): null => {
      write(actor, principal, UNSET);
      return null;
    },
  };
}
