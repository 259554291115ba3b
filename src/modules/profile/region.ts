/** A person's country, language, time zone, currency and units. A region with no values is stored as null. */
import type { Actor } from '../../core/actor.ts';
import type { Region } from '../../core/envelope.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database, Reader } from '../../db/database.ts';
import { requireUser, updateUser } from '../../store/people.ts';
import { recordChange } from './change.ts';
import { type Cleaned, cleanFields, completeFields, differences } from '../../http/text-fields.ts';
import { REGION_RULES, type RegionInput } from './model.ts';

type RegionFields = Cleaned<typeof REGION_RULES>;

const UNSET: Region = { country: null, uiLocale: null, timeZone: null, currency: null, measurementSystem: null };

/** A patch without effect records and announces nothing. */
export function regionService(db: Database) {
  /** Merges with the current row inside the change, so that concurrent changes to other fields are kept. */
  function write(actor: Actor, principal: SessionPrincipal, named: RegionFields): Promise<Region | null> {
    return db.write(actor, async (unit) => {
      const before = { ...UNSET, ...(await find(unit, principal)) };
      const changes = differences(before, named);
      const merged = { ...before, ...changes };
      const region = Object.values(merged).some((value) => value !== null) ? merged : null;
      const fields = Object.keys(changes);
      if (fields.length === 0) return region;
      await updateUser(unit, principal.profileId, { region });
      await recordChange(unit, principal, { categories: ['region'], change: region ? 'changed' : 'removed', fields });
      return region;
    });
  }

  return {
    get: (principal: SessionPrincipal): Promise<Region | null> => find(db.reader, principal),

    /** Replaces all five fields; absent ones become null. @throws {AppError} invalid_request */
    replace: async (actor: Actor, principal: SessionPrincipal, input: RegionInput): Promise<Region | null> =>
      write(actor, principal, completeFields(REGION_RULES, input)),

    /** Changes only the given fields. @throws {AppError} invalid_request */
    update: async (actor: Actor, principal: SessionPrincipal, input: RegionInput): Promise<Region | null> =>
      write(actor, principal, cleanFields(REGION_RULES, input)),

    clear: async (actor: Actor, principal: SessionPrincipal): Promise<null> => {
      await write(actor, principal, UNSET);
      return null;
    },
  };
}

async function find(reader: Reader, { profileId }: SessionPrincipal): Promise<Region | null> {
  return (await requireUser(reader, profileId)).region;
}
