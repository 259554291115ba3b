/** How a flow through a provider ends once the provider has said who it is: with a session, or with an identity linked. */
import { eq } from 'drizzle-orm';
import { AppError } from '../../core/error.ts';
import type { Application } from '../../db/schema/applications.ts';
import { users } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn, type ProvenIdentity, recordRefusal, type SignInOutcome } from '../sign-in/complete.ts';
import { findUserByEmail } from '../users/members.ts';
import type { ProviderProfile } from './id-token.ts';
import { findIdentity, insertIdentity, tellOwner, touchIdentity } from './identities.ts';
import type { IssuerTrust } from './issuer.ts';

export interface Finishing {
  readonly application: Application;
  readonly profile: ProviderProfile;
  readonly trust: IssuerTrust;
}

type Outcome = SignInOutcome | { readonly ok: false; readonly refusal: 'email_unverified' };

const METHOD = 'provider';

/**
 * Signs in whom the subject belongs to, or else whose address the provider vouches for. What is stored beside the session
 * is stored only when the one door has let them in.
 */
export function finishSignIn(
  unit: Unit,
  sessions: Sessions,
  { application, profile, trust, userAgent }: Finishing & { userAgent: string | null },
): Outcome {
  const identity = findIdentity(unit, profile, application.workspaceId);
  const person = identity ? { userId: identity.userId } : vouchedFor(unit, profile, trust);
  if (person === null) {
    const { email } = profile;
    recordRefusal(unit, application, { email, userId: undefined, method: METHOD, reason: 'email_unverified' });
    return { ok: false, refusal: 'email_unverified' };
  }
  const isNew = 'email' in person && findUserByEmail(unit, person.email) === undefined;
  const outcome = completeSignIn(unit, sessions, application, { person, method: METHOD, userAgent });
  if (!outcome.ok) return outcome;
  const { userId } = outcome;
  if (identity) touchIdentity(unit, identity, profile);
  else {
    const workspaceId = trust === 'everywhere' ? null : application.workspaceId;
    const linked = insertIdentity(unit, { userId, workspaceId }, profile);
    if (!isNew) tellOwner(unit, 'provider_linked', linked, application);
  }
  keepPicture(unit, userId, profile);
  if (isNew) fillNames(unit, userId, profile);
  return outcome;
}

/**
 * Both sides must have proved the address: else whoever registers first, here or there, gets into the other's account. What
 * an application's own issuer says proves nothing to other applications, so the address does not count as proved by it.
 */
function vouchedFor(
  unit: Unit,
  { email, isEmailVerified }: ProviderProfile,
  trust: IssuerTrust,
): ProvenIdentity['person'] | null {
  if (trust === 'nowhere' || email === null || !isEmailVerified) return null;
  const user = findUserByEmail(unit, email);
  if (user && user.emailVerifiedAt === null) return null;
  return { email, isEmailProven: trust === 'everywhere' };
}

/**
 * Makes the subject one more way in for whoever holds the session that asked, in the workspace of that session: no address
 * need match, since they are known on both sides.
 *
 * @throws {AppError} unauthenticated where the session is over; conflict where the subject is somebody else's.
 */
export function finishLink(
  unit: Unit,
  sessions: Sessions,
  { application, profile, sessionId }: Omit<Finishing, 'trust'> & { sessionId: string },
): void {
  const envelope = sessions.envelopeOf(sessionId);
  if (!envelope) throw new AppError('unauthenticated');
  const { userId } = envelope;
  const { workspaceId } = application;
  const identity = findIdentity(unit, profile, workspaceId);
  if (identity && identity.userId !== userId) throw new AppError('conflict');
  if (identity) touchIdentity(unit, identity, profile);
  else tellOwner(unit, 'provider_linked', insertIdentity(unit, { userId, workspaceId }, profile), application);
  keepPicture(unit, userId, profile);
}

/** The picture at the provider, shown until the person has one of their own here. */
function keepPicture({ tx, now }: Unit, userId: string, { picture }: ProviderProfile): void {
  if (picture === null) return;
  const { providerAvatarUrl } = users;
  const row = tx.select({ providerAvatarUrl }).from(users).where(eq(users.id, userId)).get()!;
  if (row.providerAvatarUrl === picture) return;
  tx.update(users).set({ providerAvatarUrl: picture, updatedAt: now }).where(eq(users.id, userId)).run();
}

/** Names of somebody who has just been made; those that people or backends gave are never overwritten. */
function fillNames({ tx, now }: Unit, userId: string, { givenName, familyName, fullName }: ProviderProfile): void {
  tx.update(users).set({ givenName, familyName, fullName, updatedAt: now }).where(eq(users.id, userId)).run();
}
