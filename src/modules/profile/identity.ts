/** A person's names, language and time zone. They are the same in every application. */
import type { Actor } from '../../core/actor.ts';
import { displayName } from '../../core/display-name.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database } from '../../db/database.ts';
import { requireUser, updateUser, type User } from '../../store/people.ts';
import { recordChange } from './change.ts';
import { cleanFields, differences } from '../../http/text-fields.ts';
import { IDENTITY_RULES, type IdentityPatch } from '../../http/identity-input.ts';
import type { Identity } from './model.ts';

/** A patch without effect records and announces nothing. */
export function identityService(db: Database) {
  return {
    get: async ({ profileId }: SessionPrincipal): Promise<Identity> =>
      identityOf(await requireUser(db.reader, profileId)),

    /** Changes only the given fields, so concurrent changes to others are kept. @throws {AppError} invalid_request */
    async update(actor: Actor, principal: SessionPrincipal, patch: IdentityPatch): Promise<Identity> {
      const cleaned = cleanFields(IDENTITY_RULES, patch);
      return db.write(actor, async (unit) => {
        const user = await requireUser(unit, principal.profileId);
        const changes = differences(user, cleaned);
        const fields = Object.keys(changes);
        if (fields.length === 0) return identityOf(user);
        const changed = await updateUser(unit, user.id, changes);
        await recordChange(unit, principal, { categories: ['identity'], change: 'changed', fields });
        return identityOf(changed);
      });
    },
  };
}

/** Derives `name` from the other parts; it is not stored. */
export function identityOf(user: User): Identity {
  const { fullName, givenName, familyName, locale, timezone } = user;
  return { fullName, givenName, familyName, locale, timezone, name: displayName(user) };
}
