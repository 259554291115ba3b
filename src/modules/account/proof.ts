/** Re-authenticates the holder of a session by a code mailed to the person's address, for one purpose each. */
import type { Actor } from '../../core/actor.ts';
import { isoTime, MINUTE } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import type { Confirmation } from '../../mail/messages/account.ts';
import { recordAudit } from '../../store/audit.ts';
import { requireUser } from '../../store/people.ts';
import type { ProofHolder } from '../../store/codes.ts';
import { notePageProved, noteSessionProved } from '../../store/sessions.ts';
import type { Confirmations } from './confirmation.ts';
import { noteProofInSession } from '../sign-in/first-proof.ts';
import { FRESH_MS, type ProofPurpose } from '../sign-in/step-up.ts';
import type { CodeAsked, CodeGiven, ProofInput } from './model.ts';

interface Asked {
  readonly purpose: ProofPurpose;
  readonly target: string | null;
}

export type Proofs = ReturnType<typeof proofService>;

/** A proof is valid for ten minutes, for its purpose and in its session. The first one also verifies the address. */
export function proofService(confirmations: Confirmations, notices: AccountNotices) {
  return {
    /** @throws {AppError} invalid_request, rate_limited */
    ask(actor: Actor, principal: SessionPrincipal, input: ProofInput): Promise<CodeAsked> {
      const { purpose, target } = askedFor(input);
      return confirmations.ask(actor, principal, async (unit) => ({
        confirmation: confirmationOf(purpose, target),
        email: (await requireUser(unit, principal.userId)).email,
        data: { purpose, target, holder: principal.isOfPage ? 'page' : 'token' },
      }));
    },

    /** Only a proof with purpose `session` makes the session fresh; other proofs are looked up where needed. */
    confirm(actor: Actor, principal: SessionPrincipal, given: CodeGiven): Promise<{ freshUntil: string }> {
      return confirmations.give(actor, principal, { action: 'proof', ...given }, async (unit, data) => {
        const { sessionId, applicationId, userId } = principal;
        const { purpose, holder } = data as Asked & { readonly holder: ProofHolder };
        await noteProofInSession(unit, principal, notices);
        if (purpose === 'session') await (holder === 'page' ? notePageProved : noteSessionProved)(unit, sessionId);
        const detail = { purpose };
        await recordAudit(unit, { kind: 'signin.proved_again', applicationId, userId, targetId: sessionId, detail });
        return { freshUntil: isoTime(unit.now + FRESH_MS) };
      });
    },
  };
}

/** @throws {AppError} invalid_request */
function askedFor({ purpose = 'session', target }: ProofInput): Asked {
  if (purpose !== 'email_change' && purpose !== 'provider_removal') {
    if (target !== undefined) throw invalidField('target', 'Leave this away: the purpose has no target.');
    return { purpose, target: null };
  }
  const wanted = purpose === 'email_change' ? normalizeEmail(target ?? '') : (target ?? null);
  if (wanted === null)
    throw invalidField(
      'target',
      purpose === 'email_change' ? 'Give the new address, such as ada@example.com.' : 'Give the id of the identity.',
    );
  return { purpose, target: wanted };
}

/** Returns the mail's wording, so that the recipient knows what the code allows. */
function confirmationOf(purpose: ProofPurpose, target: string | null): Confirmation {
  if (purpose === 'email_change') return { kind: 'proof', purpose, email: target ?? '' };
  if (purpose === 'account_deletion' || purpose === 'provider_removal') return { kind: 'proof', purpose };
  return { kind: 'proof', purpose, minutes: FRESH_MS / MINUTE };
}
