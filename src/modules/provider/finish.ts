/** How a flow through a provider ends once the provider has said who it is: with a session, or with an identity linked. */
import { AppError } from '../../core/error.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { findMemberById, type Member } from '../../store/members.ts';
import { requireUser, updateUser } from '../../store/people.ts';
import {
  findIdentityOf,
  insertIdentity,
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
import { type HeardClient, isProvenBy, isUnattributed } from './reach.ts';
import { isHeardAbout, vouchedFor, type VouchingRefusal } from './vouching.ts';

/** Who came back from the provider, by which client, and to which application. */
export interface Finishing {
  readonly application: Application;
  readonly profile: ProviderProfile;
  readonly client: HeardClient;
}

type Outcome = SignInOutcome | { readonly ok: false; readonly refusal: VouchingRefusal };

const METHOD = 'provider';

/**
 * Signs in whom the subject belongs to, or else whose address the provider vouches for. What is stored beside the session
 * is stored only when the one door has let them in.
 */
export async function finishSignIn(
  unit: Unit,
  sessions: Sessions,
  {
    application,
    profile,
    client,
    userAgent,
    surroundings,
  }: Finishing & Pick<ProvenIdentity, 'userAgent' | 'surroundings'>,
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
  // A claim ends where somebody else knows the person by now; a connection of their own stays.
  const isClaim = proven !== undefined && proven.linkedByHolderAt === null;
  if (isClaim && !(await isHeardAbout(unit, proven.userId, client, application)))
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
    surroundings,
  });
  if (!outcome.ok) return outcome;
  const { userId, profileId } = outcome;
  // A first proof ends the identities of before, this one among them.
  const isKept = known !== undefined && (await findIdentityOf(unit, userId, known.id)) !== undefined;
  if (isKept) await touch(unit, known, { email, clientId });
  else {
    const workspaceId = client.reach === 'everywhere' ? null : application.workspaceId;
    const linked = await insertIdentity(unit, { userId, workspaceId, issuer, clientId, subject, email });
    await noteSessionCredential(unit, outcome.sessionId, linked.id);
    if (!isNew) await tellOwner(unit, 'provider_linked', linked, application);
  }
  // A workspace's client writes nothing to the person's own record, unless they have connected it themselves.
  const isConnected = client.reach === 'everywhere' || (known !== undefined && known.linkedByHolderAt !== null);
  const mayWrite = profileId !== userId || (isConnected && (await isHeardAbout(unit, userId, client, application)));
  if (mayWrite) await keepPicture(unit, profileId, profile);
  if (isNew) await fillNames(unit, profileId, profile);
  return outcome;
}

/** Whom the subject stands for by this client's own word, and whom it stood for before clients were kept. */
async function identitiesFor(unit: Unit, { application: { workspaceId }, profile, client }: Finishing) {
  const identities = await listIdentitiesOfSubject(unit, profile, workspaceId);
  return {
    proven: identities.find((identity) => isProvenBy(identity, client, workspaceId)),
    former: identities.find((identity) => isUnattributed(identity, client, workspaceId)),
  };
}

/** From its first use on, an identity from before says which client has proved it. */
async function touch(
  unit: Unit,
  identity: ProviderIdentity,
  { email, clientId }: { readonly email: string | null; readonly clientId: string },
): Promise<void> {
  await touchIdentity(unit, identity.id, { email: email ?? identity.email, clientId: identity.clientId || clientId });
}

/**
 * Makes the subject one more way in for whoever holds the session that asked, in the workspace of that session: no address
 * need match, since they are known on both sides.
 *
 * @throws {AppError} unauthenticated where the session is over; conflict where the subject is somebody else's.
 */
export async function finishLink(
  unit: Unit,
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
    await tellOwner(unit, 'provider_linked', linked, application, sessionId);
  }
  if (await isHeardAbout(unit, userId, client, application)) await keepPicture(unit, profileIdOf(member), profile);
}

/** Returns the membership of a session; undefined where a verification would not take the session. */
async function memberOf(unit: Unit, sessionId: string): Promise<Member | undefined> {
  if (!(await isSessionLive(unit, sessionId, unit.now))) return undefined;
  const owner = await findOpenSession(unit, sessionId, unit.now);
  return owner && findMemberById(unit, owner.memberId);
}

/** Keeps the picture at the provider, which is shown until the person uploads one of their own. */
async function keepPicture(unit: Unit, profileId: string, { picture }: ProviderProfile): Promise<void> {
  if (picture === null || (await requireUser(unit, profileId)).providerAvatarUrl === picture) return;
  await updateUser(unit, profileId, { providerAvatarUrl: picture });
}

/** Names a person who was made just now. Names that people or backends gave are never overwritten. */
async function fillNames(unit: Unit, profileId: string, profile: ProviderProfile): Promise<void> {
  const { givenName, familyName, fullName } = profile;
  await updateUser(unit, profileId, { givenName, familyName, fullName });
}
