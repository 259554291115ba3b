/** Changes the address a person signs in with: the new mailbox proves itself by a code, the old one is told. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { emailAliases, users } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { accountChangeMail, addressTakenMail } from '../../mail/messages/account.ts';
import { moveInterest } from '../beta/interests.ts';
import { CODE_LIFETIME_MS, dropCodesTo } from '../codes/code-challenge.ts';
import { announce } from '../users/announce.ts';
import { findAliasHolder, findUser, findUserByEmail } from '../users/members.ts';
import type { Confirmations } from './confirmation.ts';
import { FRESH_MS, requireOwnProof, requireProofOutside } from './freshness.ts';
import type { CodeAsked, CodeGiven } from './model.ts';
import { mailNotice } from './notice.ts';

export type EmailChanges = ReturnType<typeof emailChangeService>;

export function emailChangeService(confirmations: Confirmations) {
  return {
    /**
     * Mails a code to the new address. The answer is the same whether or not the address belongs to somebody: then its
     * holder is told, and gets no code.
     *
     * @throws {AppError} invalid_request, reauthentication_required, rate_limited
     */
    ask(actor: Actor, principal: SessionPrincipal, text: string): CodeAsked {
      const email = normalizeEmail(text);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      return confirmations.ask(actor, principal, (unit) => {
        requireOwnProof(unit, principal);
        const { userId } = principal;
        if (findUser(unit, userId)!.email === email) throw invalidField('email', 'This is your address already.');
        return {
          action: 'email_change',
          email,
          data: { email },
          audit: 'account.email_change_requested',
          ...(isTaken(unit, email, userId) && { insteadOfCode: addressTakenMail() }),
        };
      });
    },

    /**
     * Makes the new address the person's. The old one becomes an archived alias, which can never found another account,
     * unless nobody had ever proved to hold it.
     *
     * @throws {AppError} code_invalid, code_expired, code_exhausted, code_consumed; conflict where somebody else has taken
     * the address meanwhile; reauthentication_required where they have become known elsewhere meanwhile.
     */
    confirm(actor: Actor, principal: SessionPrincipal, given: CodeGiven): { email: string } {
      return confirmations.give(actor, principal, { action: 'email_change', ...given }, (unit, data) => {
        const { email } = data as { email: string };
        const { userId, applicationId } = principal;
        const { email: previous, emailVerifiedAt } = findUser(unit, userId)!;
        if (previous === email) return { email };
        requireProofOutside(unit, principal, FRESH_MS + CODE_LIFETIME_MS);
        if (isTaken(unit, email, userId))
          throw new AppError('conflict', { message: 'This address belongs to another account by now.' });
        const { tx, now } = unit;
        tx.delete(emailAliases).where(eq(emailAliases.email, email)).run();
        tx.update(users).set({ email, emailVerifiedAt: now, updatedAt: now }).where(eq(users.id, userId)).run();
        dropCodesTo(unit, previous);
        if (emailVerifiedAt !== null) {
          tx.insert(emailAliases).values({ email: previous, userId, archivedAt: now }).run();
          moveInterest(unit, previous, email);
        }
        announce(unit, userId, 'user.identity_changed', { changed: ['email'] });
        unit.audit({ kind: 'account.email_changed', applicationId, userId, email });
        mailNotice(unit, previous, accountChangeMail('email_changed', null));
        return { email };
      });
    },
  };
}

/** An address one has used before may be taken up again. */
function isTaken(unit: Unit, email: string, userId: string): boolean {
  const holderId = findUserByEmail(unit, email)?.id ?? findAliasHolder(unit, email);
  return holderId !== undefined && holderId !== userId;
}
