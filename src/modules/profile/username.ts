/** A person's handle in one application: claimed, changed and given up by themselves. */
import { and, eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { isClaimableUsername, normalizeUsername } from '../../core/username.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { findMember } from '../users/members.ts';

const RULES =
  'Give 3 to 30 of a-z, 0-9, dot, underscore and hyphen, starting with a letter, without doubled or trailing punctuation, and no reserved word; null gives the name up.';

export type Usernames = ReturnType<typeof usernameService>;

export function usernameService(db: Database) {
  return {
    /**
     * Told to that application alone: the name means nothing elsewhere.
     *
     * @param wanted null gives the name up.
     * @throws {AppError} invalid_request, conflict
     */
    change(actor: Actor, principal: SessionPrincipal, wanted: string | null): { username: string | null } {
      const username = wanted === null ? null : normalizeUsername(wanted);
      if (username !== null && !isClaimableUsername(username)) throw invalidField('username', RULES);
      return db.write(actor, (unit) => {
        const { applicationId, userId } = principal;
        const { id, username: previousUsername } = findMember(unit, applicationId, userId)!;
        if (username === previousUsername) return { username };
        if (username !== null && isTaken(unit, applicationId, username)) throw taken();
        store(unit, id, username);
        unit.audit({ kind: 'account.username_changed', applicationId, userId });
        unit.emit({ type: 'user.username_changed', applicationId, data: { userId, username, previousUsername } });
        return { username };
      });
    },
  };
}

function isTaken({ tx }: Unit, applicationId: string, username: string): boolean {
  const holder = tx
    .select({ id: applicationUsers.id })
    .from(applicationUsers)
    .where(and(eq(applicationUsers.applicationId, applicationId), eq(applicationUsers.username, username)))
    .get();
  return holder !== undefined;
}

/** The index of the database has the last word on who was first. */
function store({ tx, now }: Unit, memberId: string, username: string | null): void {
  try {
    tx.update(applicationUsers).set({ username, updatedAt: now }).where(eq(applicationUsers.id, memberId)).run();
  } catch (error) {
    if ((error as { code?: unknown }).code === 'SQLITE_CONSTRAINT_UNIQUE') throw taken(error);
    throw error;
  }
}

function taken(cause?: unknown): AppError {
  return new AppError('conflict', { message: 'Somebody has this username already; choose another.', cause });
}
