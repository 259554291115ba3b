/** Sensitive changes need more than a session: the person must have proved lately who they are. */
import { and, eq, isNull, ne, or } from 'drizzle-orm';
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { applications, betaInterests } from '../../db/schema/applications.ts';
import { sessions } from '../../db/schema/credentials.ts';
import { applicationUsers, users } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';

export const FRESH_MS = 10 * MINUTE;

/**
 * A session is fresh for ten minutes after its sign-in, and after each proof made in it.
 *
 * @throws {AppError} reauthentication_required
 */
export function requireFresh(unit: Unit, principal: SessionPrincipal): void {
  const { createdAt, provedAt } = proofsOf(unit, principal);
  if (Math.max(createdAt, provedAt ?? 0) + FRESH_MS <= unit.now) throw new AppError('reauthentication_required');
}

/**
 * For what concerns the person everywhere: a fresh session, and where they are known outside its workspace a fresh proof.
 *
 * @throws {AppError} reauthentication_required
 */
export function requireOwnProof(unit: Unit, principal: SessionPrincipal): void {
  requireFresh(unit, principal);
  requireProofOutside(unit, principal, FRESH_MS);
}

/**
 * Every session is in the hands of the application it was made for, fresh from the sign-in: where the person is known
 * outside its workspace too, only a proof counts, for which they read a mail that says what it is for. The console's
 * session is in nobody's hands but theirs.
 *
 * @param maxAgeMs how old the proof may be.
 * @throws {AppError} reauthentication_required
 */
export function requireProofOutside(unit: Unit, principal: SessionPrincipal, maxAgeMs: number): void {
  const { workspaceId, userId } = principal;
  if (workspaceId === null || !isKnownOutside(unit, userId, workspaceId)) return;
  const { provedAt } = proofsOf(unit, principal);
  if (provedAt === null || provedAt + maxAgeMs <= unit.now)
    throw new AppError('reauthentication_required', {
      message: 'This concerns other applications too: confirm a code from /api/account/proof, then try again.',
    });
}

function proofsOf({ tx }: Unit, { sessionId }: SessionPrincipal) {
  const { createdAt, provedAt } = sessions;
  return tx.select({ createdAt, provedAt }).from(sessions).where(eq(sessions.id, sessionId)).get()!;
}

/** As a member, or on an allowlist: an address counts there as well. */
function isKnownOutside({ tx }: Unit, userId: string, workspaceId: string): boolean {
  const isElsewhere = or(isNull(applications.workspaceId), ne(applications.workspaceId, workspaceId));
  const { id } = applications;
  const asMember = tx
    .select({ id })
    .from(applicationUsers)
    .innerJoin(applications, eq(id, applicationUsers.applicationId))
    .where(and(eq(applicationUsers.userId, userId), isElsewhere))
    .limit(1);
  const onList = tx
    .select({ id })
    .from(users)
    .innerJoin(betaInterests, eq(betaInterests.email, users.email))
    .innerJoin(applications, eq(id, betaInterests.applicationId))
    .where(and(eq(users.id, userId), isElsewhere))
    .limit(1);
  return asMember.all().length > 0 || onList.all().length > 0;
}
