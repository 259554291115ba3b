/** Turns a proven identity into a session, in the caller's change. All sign-in methods share the checks here. */
import { isClosed } from '../../core/application-state.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { newSignInMail } from '../../mail/messages/account-change.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { isOnAllowlist } from '../../store/waitlist.ts';
import { defaultGrants } from '../../store/grants.ts';
import {
  findApplicant,
  findMember,
  holdMember,
  KEPT_OUT,
  type Member,
  MEMBER_SEEN,
  noteMemberSeen,
  setMemberStatus,
} from '../../store/members.ts';
import { hasComeAnywhere } from '../../store/memberships.ts';
import {
  findAliasHolder,
  findUserByEmail,
  holdPerson,
  insertPerson,
  requireUser,
  updateUser,
  type User,
} from '../../store/people.ts';
import { findPlaceHolder, NEVER } from '../../store/reservations.ts';
import { hasSignedIn, profileIdOf } from '../../store/unproved-profiles.ts';
import { isWorkspaceMember } from '../../store/workspace-members.ts';
import { followAddress } from '../beta/waitlist.ts';
import type { BrowserOf } from '../codes/code-challenge.ts';
import type { MintedSession, Sessions } from '../sessions/service.ts';
import { joinMember } from '../users/members.ts';
import { redeemReservations } from '../users/redemption.ts';
import { admitUnproved } from '../users/unproved.ts';
import { endClaimsElsewhere } from './claimed-identities.ts';
import { withFirstProof } from './first-proof.ts';
import { isNewBrowserOf } from './new-browser.ts';

/** A proven identity: the caller has verified that the request may act as this person. */
export interface ProvenIdentity {
  readonly person: { readonly userId: string } | ProvenAddress;
  readonly method: SignInMethod;
  /** The passkey or provider identity that was used; removing it ends the session. */
  readonly credentialId?: string | null;
  readonly userAgent: string | null;
  /** Finds the browser among those that have signed the person in; null where that cannot be known. */
  readonly pageBrowser?: BrowserOf | null;
  /** Stored at the person's first sign-in of all; omitted if there was one before. */
  readonly browserLocale?: BrowserLocale;
  /** When the person proved who they are in the session that this one continues. */
  readonly continuedSince?: number;
}

/** The reader's locale and time zone as the browser or page reports them; null if it does not. */
export interface BrowserLocale {
  /** A canonical BCP 47 tag. */
  readonly locale: string | null;
  /** A canonical IANA zone. */
  readonly timezone: string | null;
}

export interface ProvenAddress {
  /** Normalised. */
  readonly email: string;
  /** Whether the mailbox itself was proved; a setup link proves control of the server, not of a mailbox. */
  readonly isEmailProven: boolean;
}

export const SIGN_IN_REFUSALS = [
  'application_archived',
  'email_archived',
  'user_deleted',
  'membership_blocked',
  'gate_closed',
  'waitlist',
  'forbidden',
] as const;

export type SignInRefusal = (typeof SIGN_IN_REFUSALS)[number];

export type SignInOutcome =
  | ({
      readonly ok: true;
      readonly userId: string;
      /** The account whose profile the session reads and writes. */
      readonly profileId: string;
      readonly applicationId: string;
    } & MintedSession)
  | { readonly ok: false; readonly refusal: SignInRefusal };

/**
 * Returns refusals, so that the change commits: the code that was used stays used, and the refusal is audited. A change
 * that is not serializable holds what it decides upon; it ends where it would have to decide upon more.
 */
export async function completeSignIn(
  unit: Unit,
  sessions: Sessions,
  application: Application,
  {
    person: proven,
    method,
    credentialId = null,
    userAgent,
    pageBrowser,
    browserLocale,
    continuedSince,
  }: ProvenIdentity,
): Promise<SignInOutcome> {
  if (application.stage === 'draft' || application.signinGate !== 'public') unit.requireSerializable();
  const { user: known, email, isEmailProven } = await findPerson(unit, proven);
  // The address is proved even if the sign-in is refused below.
  const { notices } = sessions;
  const proof = { application, notices, locale: browserLocale?.locale ?? null };
  const user = known && isEmailProven ? await withFirstProof(unit, known, proof) : known;
  if (user && isEmailProven && application.workspaceId !== null)
    await followAddress(unit, user, [application.workspaceId]);
  const member = await findMembership(unit, application, { user, email });
  const refusal = isSwitchedOff(application, method)
    ? 'forbidden'
    : await refusalOf(unit, application, { email, user, member });
  if (refusal !== null) {
    unit.requireSerializable();
    await recordRefusal(unit, application, { email, userId: user?.id, method, reason: refusal });
    return { ok: false, refusal };
  }
  const isInNewBrowser = await isNewBrowserOf(unit, known, pageBrowser);
  const person = user ?? (await insertPerson(unit, email, isEmailProven, browserLocale));
  const { member: joined, isFirst } = await admit(unit, application, {
    person,
    isNew: user === undefined,
    member,
    notices,
  });
  const profileId = profileIdOf(joined);
  if (isFirst && browserLocale && (user || profileId !== person.id))
    await storeBrowserLocale(unit, profileId, browserLocale);
  await reactivate(unit, joined);
  const session = await sessions.mint(unit, {
    application,
    applicationUserId: joined.id,
    userId: person.id,
    email: person.email,
    isNewUser: !hasSignedInBefore(person, member),
    externalId: joined.externalId,
    method,
    credentialId,
    userAgent,
    authenticatedAt: continuedSince,
  });
  await recordAudit(unit, {
    kind: 'signin.succeeded',
    applicationId: application.id,
    workspaceId: application.workspaceId,
    userId: person.id,
    email,
    targetId: session.sessionId,
    detail: { method, ...(continuedSince !== undefined && { continued: true }) },
  });
  if (isInNewBrowser)
    await notices.send(unit, person, application, newSignInMail, {
      mail: 'new_sign_in',
      requested: browserLocale?.locale ?? null,
    });
  return { ok: true, userId: person.id, profileId, applicationId: application.id, ...session };
}

interface Admission {
  readonly member: Member;
  readonly isFirst: boolean;
}

/** A person who is let in; `isNew` where this sign-in created the account. */
interface Admitted {
  readonly user: User;
  readonly isNew: boolean;
  readonly member: Member | undefined;
  readonly notices: AccountNotices;
}

/** Admits a person, with an unproved profile while only their workspace's provider vouches for them. */
async function admit(
  unit: Unit,
  application: Application,
  { person, isNew, member, notices }: Omit<Admitted, 'user'> & { readonly person: User },
): Promise<Admission> {
  if (person.emailVerifiedAt !== null || application.workspaceId === null) {
    const isFirst = isNew || (lacksLocale(person) && !(await hasComeAnywhere(unit, person.id)));
    return { member: await joinAtFirstSignIn(unit, application, { user: person, isNew, member, notices }), isFirst };
  }
  unit.requireSerializable();
  if (member && member.profileUserId !== null) {
    await noteMemberSeen(unit, member.id, unit.now);
    return { member, isFirst: false };
  }
  const admitted = await admitUnproved(unit, application, { user: person, member });
  if (member) await noteMemberSeen(unit, member.id, unit.now);
  else unit.publish(MEMBER_SEEN, { applicationId: application.id, at: unit.now, before: NEVER });
  return { member: admitted.member, isFirst: admitted.isNewProfile };
}

async function findPerson(unit: Unit, proven: ProvenIdentity['person']) {
  if ('userId' in proven) {
    unit.requireSerializable();
    const user = await requireUser(unit, proven.userId);
    return { user, email: user.email, isEmailProven: false };
  }
  await holdPerson(unit, proven.email);
  return { ...proven, user: await findUserByEmail(unit, proven.email) };
}

/** Prefers the applicant's membership to another id's reservation for their address, unless that keeps them out. */
async function findMembership(
  unit: Unit,
  application: Application,
  { user, email }: { readonly user: Pick<User, 'id'> | undefined; readonly email: string },
): Promise<Member | undefined> {
  if (user) await holdMember(unit, { applicationId: application.id, userId: user.id });
  const [own, holderId] = await Promise.all([
    user && findMember(unit, application.id, user.id),
    findPlaceHolder(unit, application, email),
  ]);
  if (holderId === undefined || holderId === user?.id) return own;
  unit.requireSerializable();
  const reserved = await findMember(unit, application.id, holderId);
  return reserved && (!own || KEPT_OUT.includes(reserved.status)) ? reserved : own;
}

/** Audits a refused sign-in, also for refusals that a method detects before `completeSignIn`. */
export async function recordRefusal(
  unit: Unit,
  { id: applicationId, workspaceId }: Application,
  refused: { email: string | null; userId: string | undefined; method: SignInMethod; reason: string },
): Promise<void> {
  const { email, userId, method, reason } = refused;
  await recordAudit(unit, {
    kind: 'signin.refused',
    ok: false,
    applicationId,
    workspaceId,
    userId,
    email,
    detail: { method, reason },
  });
}

/** Returns why a known member could not sign in now, by lifecycle, gate and status; null if they could. */
export async function memberRefusal(
  reader: Reader,
  application: Application,
  userId: string,
): Promise<SignInRefusal | null> {
  const applicant = await findApplicant(reader, { applicationId: application.id, userId });
  if (!applicant) return 'membership_blocked';
  return refusalOf(reader, application, { email: applicant.email, user: applicant, member: applicant });
}

interface Applicant {
  readonly email: string;
  readonly user: Pick<User, 'id' | 'kind' | 'deletedAt'> | undefined;
  readonly member: Pick<Member, 'status'> | undefined;
}

async function refusalOf(
  reader: Reader,
  application: Application,
  { email, user, member }: Applicant,
): Promise<SignInRefusal | null> {
  const { id, stage, signinGate } = application;
  if (isClosed(application)) return 'application_archived';
  if (user?.kind === 'api_key') return 'gate_closed';
  if (!user && (await findAliasHolder(reader, email))) return 'email_archived';
  if ((user && user.deletedAt !== null) || member?.status === 'deleted') return 'user_deleted';
  const isGuarded = stage === 'draft' || signinGate === 'private_beta';
  // The console belongs to all workspaces alike; its closed gate and its memberships guard it.
  const isInsider =
    isGuarded && user !== undefined && (await isWorkspaceMember(reader, user.id, application.workspaceId));
  if (stage === 'draft' && !isInsider) return 'gate_closed';
  if (signinGate === 'closed' && !member) return 'gate_closed';
  if (signinGate === 'private_beta' && !isInsider && !(await isOnAllowlist(reader, id, email))) return 'waitlist';
  if (member?.status === 'banned' || member?.status === 'paused') return 'membership_blocked';
  return null;
}

/** Owners may switch methods off, but not the setup link, which is the way to recover access. */
function isSwitchedOff({ signinMethods }: Application, method: SignInMethod): boolean {
  return method !== 'setup' && !signinMethods.includes(method);
}

/** Redeems what the workspace reserved for a person at their first sign-in, and makes them a member. */
async function joinAtFirstSignIn(
  unit: Unit,
  application: Application,
  { user, isNew, member: known, notices }: Admitted,
): Promise<Member> {
  const { id: applicationId, workspaceId } = application;
  const hasCome = known?.userId === user.id && known.reservedEmail === null;
  if (workspaceId === null || !(hasCome || isNew)) unit.requireSerializable();
  const hasRedeemed = (!hasCome || workspaceId === null) && (await redeemReservations(unit, workspaceId, user, isNew));
  // A new person has neither claims nor memberships. Reading none would conflict with every other new person.
  const isKnown = !isNew || hasRedeemed;
  if (!hasCome && isKnown) await endClaimsElsewhere(unit, user, application, notices);
  const member = hasCome ? known : isKnown ? await findMember(unit, applicationId, user.id) : undefined;
  if (member) {
    await noteMemberSeen(unit, member.id, unit.now);
    return member;
  }
  unit.publish(MEMBER_SEEN, { applicationId, at: unit.now, before: NEVER });
  return joinMember(unit, applicationId, user.id, await defaultGrants(unit, applicationId));
}

/** Returns false for imported and invited people who have a membership but never signed in. */
function hasSignedInBefore({ id }: User, member: Member | undefined): boolean {
  return member?.userId === id && hasSignedIn(member) && member.lastSeenAt !== NEVER;
}

function lacksLocale({ locale, timezone }: User): boolean {
  return locale === null || timezone === null;
}

/** Fills the locale and time zone unless the profile has them, for example from an import. */
async function storeBrowserLocale(unit: Unit, profileId: string, { locale, timezone }: BrowserLocale): Promise<void> {
  const user = await requireUser(unit, profileId);
  const kept = { locale: user.locale ?? locale, timezone: user.timezone ?? timezone };
  if (kept.locale !== user.locale || kept.timezone !== user.timezone) await updateUser(unit, profileId, kept);
}

/** Reactivates a member who inactivated their account or left. */
async function reactivate(unit: Unit, { id, applicationId, userId, status }: Member): Promise<void> {
  if (status !== 'inactivated' && status !== 'left') return;
  await setMemberStatus(unit, id, 'active');
  await emit(unit, { type: 'user.reactivated', applicationId, data: { userId } });
}
