/** Requires a recent proof of identity for sensitive changes (step-up authentication). */
import { MINUTE } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { required } from '../../core/required.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { isListedOutside } from '../../store/waitlist.ts';
import { findProofTime } from '../../store/codes.ts';
import { isMemberOutside } from '../../store/memberships.ts';
import { requireUser } from '../../store/people.ts';
import { findIdentityOf, isClaim } from '../../store/provider-identities.ts';
import { findSession } from '../../store/sessions.ts';

export const FRESH_MS = 10 * MINUTE;

/** Purposes of a proof. `session` covers all of them, and its mail says so; each other one covers only itself. */
export const PROOF_PURPOSES = [
  'session',
  'email_change',
  'account_deletion',
  'account_export',
  'provider_removal',
  'profile',
] as const;

export type ProofPurpose = (typeof PROOF_PURPOSES)[number];

/** The purpose to prove for, and its target: the new address or the identity. */
export type WantedProof =
  | { readonly purpose: 'email_change' | 'provider_removal'; readonly target: string }
  | { readonly purpose: 'account_deletion' | 'account_export' | 'profile'; readonly target?: undefined };

/**
 * Requires a sign-in, or a proof of purpose `session`, in this session within ten minutes.
 *
 * @param wanted a proof of this purpose is accepted as well. @throws {AppError} reauthentication_required
 */
export async function requireFresh(unit: Unit, principal: SessionPrincipal, wanted?: WantedProof): Promise<void> {
  if (wanted && (await hasProof(unit, principal, wanted, unit.now))) return;
  if (!(await isFresh(unit, principal))) throw new AppError('reauthentication_required');
}

/**
 * Guards changes that affect the person everywhere: a fresh session is not enough if other workspaces know the person,
 * because an application could use the session on its own; a code's mail says what it allows. Console sessions need only
 * be fresh, since no application holds one.
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
 * Requires a code mailed to the current address for this purpose; no sign-in is enough, however fresh.
 *
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

/** Returns whether the session recently gave a code for this purpose, or for all purposes. */
export async function hasProof(
  reader: Reader,
  { sessionId, isOfPage }: SessionPrincipal,
  { purpose, target }: WantedProof,
  now: number,
  maxAgeMs: number = FRESH_MS,
): Promise<boolean> {
  const provedAt = await findProofTime(reader, {
    sessionId,
    purpose,
    target: target ?? null,
    holder: isOfPage ? 'page' : 'token',
    now,
  });
  return provedAt !== null && provedAt + maxAgeMs > now;
}

function proofNeeded({ purpose }: WantedProof): AppError {
  if (purpose === 'email_change') return new AppError('reauthentication_required', { hint: 'address_proof_needed' });
  if (purpose === 'profile') return new AppError('reauthentication_required', { hint: 'given_elsewhere' });
  return new AppError('reauthentication_required', { hint: 'proof_needed', values: { purpose } });
}

/** A session that continues another is as old as the sign-in behind it. */
async function isFresh(unit: Unit, { sessionId, userId, isOfPage }: SessionPrincipal): Promise<boolean> {
  const session = required(await findSession(unit, sessionId), `session ${sessionId}`);
  const { authenticatedAt, createdAt, provedAt, pageProvedAt } = session;
  const signedInAt = (await restsOnClaim(unit, userId, session.credentialId)) ? 0 : (authenticatedAt ?? createdAt);
  const provedOnPageAt = isOfPage ? (pageProvedAt ?? 0) : 0;
  return Math.max(signedInAt, provedAt ?? 0, provedOnPageAt) + FRESH_MS > unit.now;
}

/**
 * Returns whether a session of a person with a proved address comes from a claim of the workspace's own provider. The
 * provider's operator could have made that claim, and a sign-in method added by the session would outlive it.
 */
async function restsOnClaim(reader: Reader, userId: string, credentialId: string | null): Promise<boolean> {
  if (credentialId === null) return false;
  const identity = await findIdentityOf(reader, userId, credentialId);
  if (!identity || !isClaim(identity)) return false;
  return (await requireUser(reader, userId)).emailVerifiedAt !== null;
}

/** Returns whether another workspace has the person as a member, or an address of theirs on an allowlist. */
export async function isKnownOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await isMemberOutside(reader, { userId, workspaceId })) || isListedOutside(reader, { userId, workspaceId });
}
