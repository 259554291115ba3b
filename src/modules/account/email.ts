/** Changes the sign-in address: both mailboxes prove themselves by a code, and the old one can undo the change. */
import type { Actor } from '../../core/actor.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { addressTakenMail, emailChangedMail } from '../../mail/messages/account-change.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { dropCodesTo, forgetProofs } from '../../store/codes.ts';
import {
  deleteAlias,
  findHolder,
  insertAlias,
  isAddressOfAnother,
  requireUser,
  updateUser,
} from '../../store/people.ts';
import { forgetSessionProof } from '../../store/sessions.ts';
import { followAddress } from '../beta/waitlist.ts';
import { CODE_LIFETIME_MS } from '../codes/code-challenge.ts';
import { publishToMemberships } from '../users/publish.ts';
import type { Confirmations } from './confirmation.ts';
import { FRESH_MS, requireProof, type WantedProof } from '../sign-in/step-up.ts';
import { type EmailUndo, UNDO_DAYS } from './email-undo.ts';
import { endAccess } from './end-access.ts';
import type { CodeAsked, CodeGiven } from './model.ts';

export type EmailChanges = ReturnType<typeof emailChangeService>;

export interface EmailChangeDependencies {
  readonly confirmations: Confirmations;
  readonly undo: EmailUndo;
  readonly notices: AccountNotices;
}

/** Changes nothing before both mailboxes are proved: a stolen session token must not suffice to move the account. */
export function emailChangeService({ confirmations, undo, notices }: EmailChangeDependencies) {
  return {
    /**
     * Mails a code to the new address. If it is taken, the answer is the same, but its holder gets a notice instead.
     *
     * @throws {AppError} invalid_request, reauthentication_required, rate_limited
     */
    async ask(actor: Actor, principal: SessionPrincipal, text: string): Promise<CodeAsked> {
      const email = normalizeEmail(text);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      return confirmations.ask(actor, principal, async (unit) => {
        await requireProof(unit, principal, moveTo(email));
        const { userId } = principal;
        const { email: present, locale: requested } = await requireUser(unit, userId);
        if (present === email) throw invalidField('email', 'This is your address already.');
        const holder = await findHolder(unit, email);
        return {
          confirmation: { kind: 'email_change' },
          email,
          data: { email },
          audit: 'account.email_change_requested',
          ...(holder !== undefined &&
            holder.id !== userId && {
              insteadOfCode: async (application) =>
                addressTakenMail(await notices.contextOf(unit, holder, application, { requested })),
            }),
        };
      });
    },

    /**
     * Replaces the address; the old one becomes an archived alias that can never register another account. Ends every
     * other session and personal key, and uses up the proof.
     *
     * @throws {AppError} code_invalid, code_expired, code_exhausted, code_consumed; conflict if the address was taken
     * meanwhile; reauthentication_required if the proof was used meanwhile
     */
    confirm(actor: Actor, principal: SessionPrincipal, given: CodeGiven): Promise<{ email: string }> {
      return confirmations.give(actor, principal, { action: 'email_change', ...given }, async (unit, data) => {
        const { email } = data as { email: string };
        const { userId, applicationId, sessionId } = principal;
        const person = await requireUser(unit, userId);
        const previous = person.email;
        if (previous === email) return { email };
        // The code may be requested at the end of the proof's lifetime, and given at the end of its own.
        const maxAgeMs = FRESH_MS + CODE_LIFETIME_MS;
        await requireProof(unit, principal, moveTo(email), maxAgeMs);
        if (await isAddressOfAnother(unit, email, userId)) throw new AppError('conflict', { hint: 'email_taken' });
        await deleteAlias(unit, email);
        await updateUser(unit, userId, { email, emailVerifiedAt: unit.now });
        await dropCodesTo(unit, previous);
        await insertAlias(unit, previous, userId);
        await followAddress(unit, { id: userId, email }, workspacesOf(principal));
        await forgetProofs(unit, sessionId);
        await forgetSessionProof(unit, sessionId);
        await endAccess(unit, { userId, exceptSessionId: sessionId }, 'email_changed');
        await publishToMemberships(unit, userId, 'user.identity_changed', { changed: ['email'] });
        await recordAudit(unit, { kind: 'account.email_changed', applicationId, userId, email, targetId: sessionId });
        const undoUrl = await undo.link(unit, { userId, applicationId, previousEmail: previous });
        const application = await requireApplication(unit, applicationId);
        const undoLink = { url: undoUrl, days: UNDO_DAYS };
        await notices.send(unit, person, application, (context) => emailChangedMail(context, undoLink));
        return { email };
      });
    },
  };
}

/** Returns the workspaces where this session proves the address: its own, or in the console all of the person's. */
function workspacesOf({ workspaceId, workspaces }: SessionPrincipal): string[] {
  return workspaceId === null ? workspaces.map((seat) => seat.workspaceId) : [workspaceId];
}

/** Binds the proof to the new address: a code for one address cannot move the account to another. */
function moveTo(email: string): WantedProof {
  return { purpose: 'email_change', target: email };
}
