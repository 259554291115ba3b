/** Changes the address a person signs in with: the new mailbox proves itself by a code, the old one is told. */
import type { Actor } from '../../core/actor.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Reader } from '../../db/database.ts';
import { accountChangeMail, addressTakenMail } from '../../mail/messages/account.ts';
import { recordAudit } from '../../store/audit.ts';
import { dropCodesTo } from '../../store/codes.ts';
import {
  deleteAlias,
  findAliasHolder,
  findUserByEmail,
  insertAlias,
  requireUser,
  updateUser,
} from '../../store/people.ts';
import { moveInterest } from '../beta/interests.ts';
import { CODE_LIFETIME_MS } from '../codes/code-challenge.ts';
import { announce } from '../users/announce.ts';
import type { Confirmations } from './confirmation.ts';
import { FRESH_MS, requireOwnProof, requireProofOutside } from '../sign-in/freshness.ts';
import type { CodeAsked, CodeGiven } from './model.ts';
import { mailNotice } from '../../mail/notice.ts';

export type EmailChanges = ReturnType<typeof emailChangeService>;

/** Nothing changes before the new mailbox has been proved. */
export function emailChangeService(confirmations: Confirmations) {
  return {
    /**
     * Mails a code to the new address. The answer is the same whether or not the address belongs to somebody: then its
     * holder is told, and gets no code.
     *
     * @throws {AppError} invalid_request, reauthentication_required, rate_limited
     */
    async ask(actor: Actor, principal: SessionPrincipal, text: string): Promise<CodeAsked> {
      const email = normalizeEmail(text);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      return confirmations.ask(actor, principal, async (unit) => {
        await requireOwnProof(unit, principal);
        const { userId } = principal;
        if ((await requireUser(unit, userId)).email === email)
          throw invalidField('email', 'This is your address already.');
        return {
          action: 'email_change',
          email,
          data: { email },
          audit: 'account.email_change_requested',
          ...((await isTaken(unit, email, userId)) && { insteadOfCode: addressTakenMail() }),
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
    confirm(actor: Actor, principal: SessionPrincipal, given: CodeGiven): Promise<{ email: string }> {
      return confirmations.give(actor, principal, { action: 'email_change', ...given }, async (unit, data) => {
        const { email } = data as { email: string };
        const { userId, applicationId } = principal;
        const { email: previous, emailVerifiedAt } = await requireUser(unit, userId);
        if (previous === email) return { email };
        await requireProofOutside(unit, principal, FRESH_MS + CODE_LIFETIME_MS);
        if (await isTaken(unit, email, userId)) throw new AppError('conflict', { hint: 'email_taken' });
        await deleteAlias(unit, email);
        await updateUser(unit, userId, { email, emailVerifiedAt: unit.now });
        await dropCodesTo(unit, previous);
        if (emailVerifiedAt !== null) {
          await insertAlias(unit, previous, userId);
          await moveInterest(unit, previous, email);
        }
        await announce(unit, userId, 'user.identity_changed', { changed: ['email'] });
        await recordAudit(unit, { kind: 'account.email_changed', applicationId, userId, email });
        await mailNotice(unit, previous, accountChangeMail('email_changed', null));
        return { email };
      });
    },
  };
}

/** An address one has used before may be taken up again. */
async function isTaken(reader: Reader, email: string, userId: string): Promise<boolean> {
  const holderId = (await findUserByEmail(reader, email))?.id ?? (await findAliasHolder(reader, email));
  return holderId !== undefined && holderId !== userId;
}
