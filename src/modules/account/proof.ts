/** Proves again who holds a session, by a code mailed to the person's address. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { recordAudit } from '../../store/audit.ts';
import { requireUser } from '../../store/people.ts';
import { noteSessionProved } from '../../store/sessions.ts';
import type { Confirmations } from './confirmation.ts';
import { FRESH_MS } from '../sign-in/freshness.ts';
import type { CodeAsked, CodeGiven } from './model.ts';

/** Whoever reads the code is told what it opens. */
const EXPLANATION =
  'For ten minutes the application below can make changes to your whole account, such as its e-mail address, its passkeys or its deletion, and read everything held about you.';

export type Proofs = ReturnType<typeof proofService>;

/** A proof counts for ten minutes, in the session that gave it alone. */
export function proofService(confirmations: Confirmations) {
  return {
    ask: (actor: Actor, principal: SessionPrincipal): Promise<CodeAsked> =>
      confirmations.ask(actor, principal, async (unit) => ({
        action: 'proof',
        email: (await requireUser(unit, principal.userId)).email,
        explanation: [EXPLANATION],
      })),

    /** Makes the session fresh again. */
    confirm(actor: Actor, principal: SessionPrincipal, given: CodeGiven): Promise<{ freshUntil: string }> {
      return confirmations.give(actor, principal, { action: 'proof', ...given }, async (unit) => {
        const { sessionId, applicationId, userId } = principal;
        await noteSessionProved(unit, sessionId);
        await recordAudit(unit, { kind: 'signin.proved_again', applicationId, userId, targetId: sessionId });
        return { freshUntil: isoTime(unit.now + FRESH_MS) };
      });
    },
  };
}
