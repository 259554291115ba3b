/** Sensitive changes need more than a session: the person must have proved lately who they are. */
import { eq } from 'drizzle-orm';
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { sessions } from '../../db/schema/credentials.ts';
import type { Unit } from '../../db/unit-of-work.ts';

export const FRESH_MS = 10 * MINUTE;

/**
 * A session is fresh for ten minutes after its sign-in, and after each proof made in it.
 *
 * @throws {AppError} reauthentication_required
 */
export function requireFresh({ tx, now }: Unit, { sessionId }: SessionPrincipal): void {
  const { createdAt, provedAt } = tx
    .select({ createdAt: sessions.createdAt, provedAt: sessions.provedAt })
    .from(sessions)
    .where(eq(sessions.id, sessionId))
    .get()!;
  if (Math.max(createdAt, provedAt ?? 0) + FRESH_MS <= now) throw new AppError('reauthentication_required');
}
