/** Sensitive changes need more than a session: the person must have proved lately who they are. */
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { required } from '../../core/required.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { isListedOutside } from '../../store/beta-interests.ts';
import { findProofTime } from '../../store/codes.ts';
import { isMemberOutside } from '../../store/members.ts';
import { findSession } from '../../store/sessions.ts';

export const FRESH_MS = 10 * MINUTE;

/** What a proof can be for. `session` is good for all of them, and its mail says so; each of the others for itself alone. */
export const PROOF_PURPOSES = [
  'session',
  'email_change',
  'account_deletion',
  'account_export',
  'provider_removal',
  'profile',
] as const;

export type ProofPurpose = (typeof PROOF_PURPOSES)[number];

/** The thing that is to be proved for, and which one of its kind: the new address, the identity. */
export type WantedProof =
  | { readonly purpose: 'email_change' | 'provider_removal'; readonly target: string }
  | { readonly purpose: 'account_deletion' | 'account_export' | 'profile'; readonly target?: undefined };

/**
 * A session is fresh for ten minutes after its sign-in, and after each proof made in it that is for no purpose of its own.
 *
 * @param wanted a proof for this very thing does as well.
 * @throws {AppError} reauthentication_required
 */
export async function requireFresh(unit: Unit, principal: SessionPrincipal, wanted?: WantedProof): Promise<void> {
  if (wanted && (await hasProof(unit, principal, wanted, unit.now))) return;
  if (!(await isFresh(unit, principal))) throw new AppError('reauthentication_required');
}

/**
 * For what concerns the person everywhere: a fresh session or a proof for this very thing, and where they are known outside
 * its workspace such a proof in any case. An application holds the session of its sign-in, and could use it before the person
 * does anything: they must have given a code from a mail that says what it allows. No application holds one of the console.
 *
 * @throws {AppError} reauthentication_required
 */
export async function requireOwnProof(unit: Unit, principal: SessionPrincipal, wanted: WantedProof): Promise<void> {
  if (await hasProof(unit, principal, wanted, unit.now)) return;
  await requireFresh(unit, principal);
  const { workspaceId, userId } = principal;
  if (workspaceId !== null && (await isKnownOutside(unit, userId, workspaceId))) throw proofNeeded(wanted);
}

/**
 * For what no sign-in is enough for, however fresh: a code that was mailed to the person's present address, for this very
 * thing.
 *
 * @param maxAgeMs how old the proof may be.
 * @throws {AppError} reauthentication_required
 */
export async function requireProof(
  unit: Unit,
  principal: SessionPrincipal,
  wanted: WantedProof,
  maxAgeMs: number = FRESH_MS,
): Promise<void> {
  if (!(await hasProof(unit, principal, wanted, unit.now, maxAgeMs))) throw proofNeeded(wanted);
}

/** Whether the session has given a code lately for this very thing, or for whatever needs one. */
export async function hasProof(
  reader: Reader,
  { sessionId }: SessionPrincipal,
  { purpose, target }: WantedProof,
  now: number,
  maxAgeMs: number = FRESH_MS,
): Promise<boolean> {
  const provedAt = await findProofTime(reader, { sessionId, purpose, target: target ?? null }, now);
  return provedAt !== null && provedAt + maxAgeMs > now;
}

function proofNeeded({ purpose }: WantedProof): AppError {
  if (purpose === 'email_change') return new AppError('reauthentication_required', { hint: 'address_proof_needed' });
  if (purpose === 'profile') return new AppError('reauthentication_required', { hint: 'given_elsewhere' });
  return new AppError('reauthentication_required', { hint: 'proof_needed', values: { purpose } });
}

async function isFresh(unit: Unit, { sessionId }: SessionPrincipal): Promise<boolean> {
  const { createdAt, provedAt } = required(await findSession(unit, sessionId), `session ${sessionId}`);
  return Math.max(createdAt, provedAt ?? 0) + FRESH_MS > unit.now;
}

/** Whether another workspace knows them as a member, or has an address of theirs on an allowlist. */
async function isKnownOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await isMemberOutside(reader, userId, workspaceId)) || isListedOutside(reader, userId, workspaceId);
}
