/** How a flow through a provider ends once the provider has said who it is: with a session, or with an identity linked. */
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { findUserByEmail, requireUser, updateUser } from '../../store/people.ts';
import { findIdentity, insertIdentity, touchIdentity } from '../../store/provider-identities.ts';
import { findOpenSession, isSessionLive } from '../../store/sessions.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn, type ProvenIdentity, recordRefusal, type SignInOutcome } from '../sign-in/complete.ts';
import { tellOwner } from './identities.ts';
import type { IssuerTrust } from './issuer.ts';
import type { ProviderProfile } from './profile.ts';

/** Who came back from the provider, and to which application. */
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
export async function finishSignIn(
  unit: Unit,
  sessions: Sessions,
  { application, profile, trust, userAgent }: Finishing & { userAgent: string | null },
): Promise<Outcome> {
  const { issuer, subject, email } = profile;
  const identity = await findIdentity(unit, profile, application.workspaceId);
  const person = identity ? { userId: identity.userId } : await vouchedFor(unit, profile, trust);
  if (person === null) {
    const reason = 'email_unverified';
    await recordRefusal(unit, application, { email, userId: undefined, method: METHOD, reason });
    return { ok: false, refusal: reason };
  }
  const isNew = 'email' in person && (await findUserByEmail(unit, person.email)) === undefined;
  const outcome = await completeSignIn(unit, sessions, application, { person, method: METHOD, userAgent });
  if (!outcome.ok) return outcome;
  const { userId } = outcome;
  if (identity) await touchIdentity(unit, identity.id, email ?? identity.email);
  else {
    const workspaceId = trust === 'everywhere' ? null : application.workspaceId;
    const linked = await insertIdentity(unit, { userId, workspaceId, issuer, subject, email });
    if (!isNew) await tellOwner(unit, 'provider_linked', linked, application);
  }
  await keepPicture(unit, userId, profile);
  if (isNew) await fillNames(unit, userId, profile);
  return outcome;
}

/**
 * Both sides must have proved the address: else whoever registers first, here or there, gets into the other's account. What
 * an application's own issuer says proves nothing to other applications, so the address does not count as proved by it.
 */
async function vouchedFor(
  unit: Unit,
  { email, isEmailVerified }: ProviderProfile,
  trust: IssuerTrust,
): Promise<ProvenIdentity['person'] | null> {
  if (trust === 'nowhere' || email === null || !isEmailVerified) return null;
  const user = await findUserByEmail(unit, email);
  if (user && user.emailVerifiedAt === null) return null;
  return { email, isEmailProven: trust === 'everywhere' };
}

/**
 * Makes the subject one more way in for whoever holds the session that asked, in the workspace of that session: no address
 * need match, since they are known on both sides.
 *
 * @throws {AppError} unauthenticated where the session is over; conflict where the subject is somebody else's.
 */
export async function finishLink(
  unit: Unit,
  { application, profile, sessionId }: Omit<Finishing, 'trust'> & { sessionId: string },
): Promise<void> {
  const userId = await personOf(unit, sessionId);
  if (userId === undefined) throw new AppError('unauthenticated');
  const { workspaceId } = application;
  const { issuer, subject, email } = profile;
  const identity = await findIdentity(unit, profile, workspaceId);
  if (identity && identity.userId !== userId) throw new AppError('conflict');
  if (identity) await touchIdentity(unit, identity.id, email ?? identity.email);
  else {
    const linked = await insertIdentity(unit, { userId, workspaceId, issuer, subject, email });
    await tellOwner(unit, 'provider_linked', linked, application);
  }
  await keepPicture(unit, userId, profile);
}

/** Whose session this is; undefined where a verification would not take it. */
async function personOf(unit: Unit, sessionId: string): Promise<string | undefined> {
  if (!(await isSessionLive(unit, sessionId, unit.now))) return undefined;
  return (await findOpenSession(unit, sessionId, unit.now))?.userId;
}

/** The picture at the provider, shown until the person has one of their own here. */
async function keepPicture(unit: Unit, userId: string, { picture }: ProviderProfile): Promise<void> {
  if (picture === null || (await requireUser(unit, userId)).providerAvatarUrl === picture) return;
  await updateUser(unit, userId, { providerAvatarUrl: picture });
}

/** Names of somebody who has just been made; those that people or backends gave are never overwritten. */
async function fillNames(unit: Unit, userId: string, profile: ProviderProfile): Promise<void> {
  const { givenName, familyName, fullName } = profile;
  await updateUser(unit, userId, { givenName, familyName, fullName });
}
