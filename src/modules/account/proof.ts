/** Proves again who holds a session, by a code mailed to the person's address. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { sessions } from '../../db/schema/credentials.ts';
import type { Confirmations } from './confirmation.ts';
import { FRESH_MS } from './freshness.ts';
import type { CodeAsked, CodeGiven } from './model.ts';

/** Whoever reads the code is told what it opens. */
const EXPLANATION =
  'For ten minutes the application below can make changes to your whole account, such as its e-mail address, its passkeys or its deletion, and read everything held about you.';

export type Proofs = ReturnType<typeof proofService>;

export function proofService(confirmations: Confirmations) {
  return {
    ask: (actor: Actor, principal: SessionPrincipal): CodeAsked =>
      confirmations.ask(actor, principal, () => ({
        action: 'proof',
        email: principal.envelope.email,
        explanation: [EXPLANATION],
      })),

    /** Makes the session fresh again. */
    confirm(actor: Actor, principal: SessionPrincipal, given: CodeGiven): { freshUntil: string } {
      return confirmations.give(actor, principal, { action: 'proof', ...given }, (unit) => {
        const { sessionId, applicationId, userId } = principal;
        unit.tx.update(sessions).set({ provedAt: unit.now }).where(eq(sessions.id, sessionId)).run();
        unit.audit({ kind: 'signin.proved_again', applicationId, userId, targetId: sessionId });
        return { freshUntil: isoTime(unit.now + FRESH_MS) };
      });
    },
  };
}
