/** Sensitive changes need more than a session: the person must have proved lately who they are. */
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { PlainHint } from '../../core/error-hints.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { required } from '../../core/required.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { isListedOutside } from '../../store/beta-interests.ts';
import { isMemberOutside } from '../../store/members.ts';
import { requireUser } from '../../store/people.ts';
import { findSession } from '../../store/sessions.ts';

export const FRESH_MS = 10 * MINUTE;

/**
 * A session is fresh for ten minutes after its sign-in, and after each proof made in it.
 *
 * @throws {AppError} reauthentication_required
 */
export async function requireFresh(unit: Unit, principal: SessionPrincipal): Promise<void> {
  const { createdAt, provedAt } = await proofsOf(unit, principal);
  if (Math.max(createdAt, provedAt ?? 0) + FRESH_MS <= unit.now) throw new AppError('reauthentication_required');
}

/**
 * For what concerns the person everywhere: a fresh session, and where they are known outside its workspace a fresh proof.
 *
 * @throws {AppError} reauthentication_required
 */
export async function requireOwnProof(unit: Unit, principal: SessionPrincipal): Promise<void> {
  await requireFresh(unit, principal);
  await requireProofOutside(unit, principal, FRESH_MS);
}

/**
 * An application holds the session of its sign-in, and could use it before the person does anything. So where they are known
 * outside its workspace, a recent sign-in is not enough: they must have given a code from a mail that says what it allows.
 * No application holds a session of the console.
 *
 * @param maxAgeMs how old the proof may be.
 * @throws {AppError} reauthentication_required
 */
export async function requireProofOutside(unit: Unit, principal: SessionPrincipal, maxAgeMs: number): Promise<void> {
  const { workspaceId, userId } = principal;
  if (workspaceId === null || !(await isKnownOutside(unit, userId, workspaceId))) return;
  await requireProof(unit, principal, { maxAgeMs, hint: 'proof_needed' });
}

/**
 * For what no sign-in is enough for, however fresh: a code that was mailed to the person's present address.
 *
 * @throws {AppError} reauthentication_required
 */
export async function requireProof(
  unit: Unit,
  principal: SessionPrincipal,
  { maxAgeMs = FRESH_MS, hint }: { readonly maxAgeMs?: number; readonly hint: PlainHint },
): Promise<void> {
  if (!(await hasProof(unit, principal, unit.now, maxAgeMs))) throw new AppError('reauthentication_required', { hint });
}

/** Whether the session has given such a code lately. */
export async function hasProof(
  reader: Reader,
  principal: SessionPrincipal,
  now: number,
  maxAgeMs = FRESH_MS,
): Promise<boolean> {
  const { provedAt } = await proofsOf(reader, principal);
  return provedAt !== null && provedAt + maxAgeMs > now;
}

async function proofsOf(reader: Reader, { sessionId }: SessionPrincipal) {
  return required(await findSession(reader, sessionId), `session ${sessionId}`);
}

/** As a member, or on an allowlist: an address counts there as well. */
async function isKnownOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  if (await isMemberOutside(reader, userId, workspaceId)) return true;
  const { email } = await requireUser(reader, userId);
  return isListedOutside(reader, email, workspaceId);
}
