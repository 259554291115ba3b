/** A person's names, language and time zone. They belong to the person, whatever the application. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { displayName } from '../../core/display-name.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { users } from '../../db/schema/users.ts';
import type { Database } from '../../db/unit-of-work.ts';
import type { User } from '../users/members.ts';
import { recordChange } from './change.ts';
import { cleanFields, differences } from './fields.ts';
import { type Identity, IDENTITY_RULES, type IdentityPatch } from './model.ts';

export type Identities = ReturnType<typeof identityService>;

export function identityService(db: Database) {
  const find = (userId: string): User => db.orm.select().from(users).where(eq(users.id, userId)).get()!;

  return {
    get: ({ userId }: SessionPrincipal): Identity => identityOf(find(userId)),

    /**
     * Changes what is named and leaves the rest, whoever else is changing it.
     *
     * @throws {AppError} invalid_request
     */
    update(actor: Actor, principal: SessionPrincipal, patch: IdentityPatch): Identity {
      const cleaned = cleanFields(IDENTITY_RULES, patch);
      return db.write(actor, (unit) => {
        const user = find(principal.userId);
        const changes = differences(user, cleaned);
        const fields = Object.keys(changes);
        if (fields.length === 0) return identityOf(user);
        unit.tx
          .update(users)
          .set({ ...changes, updatedAt: unit.now })
          .where(eq(users.id, user.id))
          .run();
        recordChange(unit, principal, { categories: ['identity'], change: 'changed', fields });
        return identityOf(find(user.id));
      });
    },
  };
}

export function identityOf(user: User): Identity {
  const { fullName, givenName, familyName, locale, timezone } = user;
  return { fullName, givenName, familyName, locale, timezone, name: displayName(user) };
}
