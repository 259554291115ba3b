/** A person's username in one application: claimed, changed and released by the person. */
import type { Actor } from '../../core/actor.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { required } from '../../core/required.ts';
import { isClaimableUsername, normalizeUsername } from '../../core/username.ts';
import type { Database } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { recordAudit } from '../../store/audit.ts';
import { changeUsername, findUsernameHolders } from '../../store/handles.ts';
import { findMember } from '../../store/members.ts';
import type { UsernameState } from './model.ts';

const RULES =
  'Give 3 to 30 of a-z, 0-9, dot, underscore and hyphen, starting with a letter, without doubled or trailing punctuation, and no reserved word; null gives the name up.';

/** Usernames are unique per application; of concurrent claims exactly one succeeds. */
export function usernameService(db: Database) {
  return {
    /** Returns whether the person could take the name now; their own counts as available. Reserves nothing. */
    async check({ applicationId, userId }: SessionPrincipal, wanted: string): Promise<UsernameState> {
      const username = normalizeUsername(wanted);
      if (!isClaimableUsername(username)) return { username, status: 'format_invalid' };
      const holder = (await findUsernameHolders(db.reader, applicationId, [username])).get(username);
      return { username, status: holder === undefined || holder === userId ? 'available' : 'taken' };
    },

    /**
     * Announced to this application only, because a username means nothing elsewhere.
     *
     * @param wanted null releases the name.
     * @throws {AppError} invalid_request, conflict
     */
    async change(
      actor: Actor,
      principal: SessionPrincipal,
      wanted: string | null,
    ): Promise<{ username: string | null }> {
      const username = wanted === null ? null : normalizeUsername(wanted);
      if (username !== null && !isClaimableUsername(username)) throw invalidField('username', RULES);
      return db.write(actor, async (unit) => {
        const { applicationId, userId } = principal;
        const member = required(await findMember(unit, applicationId, userId), `membership of ${userId}`);
        const { id, username: previousUsername } = member;
        if (username === previousUsername) return { username };
        if (!(await changeUsername(unit, id, username))) throw new AppError('conflict', { hint: 'username_taken' });
        await recordAudit(unit, { kind: 'account.username_changed', applicationId, userId });
        await emit(unit, {
          type: 'user.username_changed',
          applicationId,
          data: { userId, username, previousUsername },
        });
        return { username };
      });
    },
  };
}
