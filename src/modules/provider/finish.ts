/** Ends a flow once the provider has proved the identity: with a session, or with a linked identity. */
import { AppError } from '../../core/error.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import type { Application } from '../../store/applications.ts';
import { findMemberById, type Member } from '../../store/members.ts';
import { requireUser, updateUser } from '../../store/people.ts';
import {
  findIdentityOf,
  insertIdentity,
  isClaim,
  noteLinkedByHolder,
  listIdentitiesOfSubject,
  type ProviderIdentity,
  touchIdentity,
} from '../../store/provider-identities.ts';
import { findOpenSession, isSessionLive, noteSessionCredential } from '../../store/sessions.ts';
import { profileIdOf } from '../../store/unproved-profiles.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn, type ProvenIdentity, recordRefusal, type SignInOutcome } from '../sign-in/complete.ts';
import { tellOwner } from './identities.ts';
import type { ProviderProfile } from './profile.ts';
import { type TrustedClient, isProvenBy, hasNoRecordedClient } from './claim-trust.ts';
import { isHeardAbout, vouchedFor, type VouchingRefusal } from './claim-check.ts';

export interface Finishing {
  readonly application: Application;
  readonly profile: ProviderProfile;
  readonly client: TrustedClient;
}

type Outcome = SignInOutcome | { readonly ok: false; readonly refusal: VouchingRefusal };

const METHOD = 'provider';

/** Signs in the owner of the subject, else of the vouched address. Stores nothing unless the sign-in is accepted. */
export async function finishSignIn(
  unit: Unit,
  sessions: Sessions,
  {
    application,
    profile,
    client,
    userAgent,
    pageBrowser,
    browserLocale,
  }: Finishing & Pick<ProvenIdentity, 'userAgent' | 'pageBrowser' | 'browserLocale'>,
): Promise<Outcome> {
  const { subject, email } = profile;
  const { issuer, clientId } = client;
  async function refuse(refusal: VouchingRefusal, userId: string | undefined): Promise<Outcome> {
    await recordRefusal(unit, application, { email, userId, method: METHOD, reason: refusal });
    return { ok: false, refusal };
  }
  const { proven, former } = await identitiesFor(unit, { application, profile, client });
  const formerUserId = former?.userId ?? null;
  const vouched = proven ? null : await vouchedFor(unit, { application, profile, client, formerUserId });
  if (vouched?.ok === false) return refuse(vouched.refusal, undefined);
  // A claim stops working once the person joins another workspace; an identity they linked themselves keeps working.
  if (proven && isClaim(proven) && !(await isHeardAbout(unit, proven.userId, client, application)))
    return refuse('link_required', proven.userId);
  const person = vouched?.address ?? { userId: required(proven, 'identity').userId };
  const isNew = vouched?.isNew ?? false;
  const known = proven ?? former;
  const credentialId = known?.id ?? null;
  const outcome = await completeSignIn(unit, sessions, application, {
    person,
    method: METHOD,
    credentialId,
    userAgent,
    pageBrowser,
    browserLocale,
  });
  if (!outcome.ok) return outcome;
  const { userId, profileId } = outcome;
  // A first proof deletes earlier identities, possibly this one.
  const isKept = known !== undefined && (await findIdentityOf(unit, userId, known.id)) !== undefined;
  if (isKept) await touch(unit, known, { email, clientId });
  else {
    const workspaceId = client.reach === 'everywhere' ? null : application.workspaceId;
    const linked = await insertIdentity(unit, { userId, workspaceId, issuer, clientId, subject, email });
    await noteSessionCredential(unit, { sessionId: outcome.sessionId, credentialId: linked.id });
    if (!isNew) await tellOwner(unit, sessions.notices, 'provider_linked', linked, application);
  }
  // A workspace's client may not write to the person's own record, unless they linked the identity themselves.
  const isConnected = client.reach === 'everywhere' || (known !== undefined && known.linkedByHolderAt !== null);
  const mayWrite = profileId !== userId || (isConnected && (await isHeardAbout(unit, userId, client, application)));
  if (mayWrite) await keepPicture(unit, profileId, profile);
  if (isNew) await fillNames(unit, profileId, profile);
  return outcome;
}

/** Returns the subject's identity proved by this client, and the one from before client ids were stored. */
async function identitiesFor(unit: Unit, { application: { workspaceId }, profile, client }: Finishing) {
  const identities = await listIdentitiesOfSubject(unit, {
    issuer: profile.issuer,
    subject: profile.subject,
    workspaceId,
  });
  return {
    proven: identities.find((identity) => isProvenBy(identity, client, workspaceId)),
    former: identities.find((identity) => hasNoRecordedClient(identity, client, workspaceId)),
  };
}

/** Updates an identity on use, and stores the client id on one that has none. */
async function touch(
  unit: Unit,
  identity: ProviderIdentity,
  { email, clientId }: { readonly email: string | null; readonly clientId: string },
): Promise<void> {
  await touchIdentity(unit, {
    id: identity.id,
    email: email ?? identity.email,
    clientId: identity.clientId || clientId,
  });
}

/**
 * Links the subject to the session's account, in its workspace. The addresses may differ: both sides are authenticated.
 *
 * @throws {AppError} unauthenticated if the session has ended; conflict if the subject is another person's.
 */
export async function finishLink(
  unit: Unit,
  notices: AccountNotices,
  { application, profile, client, sessionId }: Finishing & { sessionId: string },
): Promise<void> {
  const member = await memberOf(unit, sessionId);
  if (!member) throw new AppError('unauthenticated');
  const { userId } = member;
  const { workspaceId } = application;
  const { subject, email } = profile;
  const { issuer, clientId } = client;
  const { proven, former } = await identitiesFor(unit, { application, profile, client });
  if (proven && proven.userId !== userId) throw new AppError('conflict');
  const known = proven ?? (former?.userId === userId ? former : undefined);
  if (known) {
    await touch(unit, known, { email, clientId });
    await noteLinkedByHolder(unit, known.id);
  } else {
    const place = { userId, workspaceId, issuer, clientId, subject, email };
    const linked = await insertIdentity(unit, { ...place, linkedByHolderAt: unit.now });
    await tellOwner(unit, notices, 'provider_linked', linked, application, sessionId);
  }
  if (await isHeardAbout(unit, userId, client, application)) await keepPicture(unit, profileIdOf(member), profile);
}

/** Returns the membership of a session; undefined if the session would not verify. */
async function memberOf(unit: Unit, sessionId: string): Promise<Member | undefined> {
  if (!(await isSessionLive(unit, { id: sessionId, now: unit.now }))) return undefined;
  const owner = await findOpenSession(unit, { id: sessionId, now: unit.now });
  return owner && findMemberById(unit, owner.memberId);
}

/** Stores the URL of the provider's picture, which is shown until the person uploads one. */
async function keepPicture(unit: Unit, profileId: string, { picture }: ProviderProfile): Promise<void> {
  if (picture === null || (await requireUser(unit, profileId)).providerAvatarUrl === picture) return;
  await updateUser(unit, profileId, { providerAvatarUrl: picture });
}

/** Fills the names of a person just created. Names given by people or backends are never overwritten. */
async function fillNames(unit: Unit, profileId: string, profile: ProviderProfile): Promise<void> {
  const { givenName, familyName, fullName } = profile;
  await updateUser(unit, profileId, { givenName, familyName, fullName });
}
