/**
 * The one door to a session: turns "this identity is proven" into a session, in the caller's change. Every sign-in
 * method ends here, so lifecycle, gate, deleted users and archived addresses are judged in one place.
 */
import { isClosed } from '../../core/application-state.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { isOnAllowlist } from '../../store/beta-interests.ts';
import { defaultGrants } from '../../store/grants.ts';
import {
  findMember,
  hasComeAnywhere,
  KEPT_OUT,
  type Member,
  MEMBER_SEEN,
  noteMemberSeen,
  setMemberStatus,
} from '../../store/members.ts';
import {
  findAliasHolder,
  findUser,
  findUserByEmail,
  insertPerson,
  requireUser,
  updateUser,
  type User,
} from '../../store/people.ts';
import { findPlaceHolder, NEVER } from '../../store/reservations.ts';
import { hasSignedIn, profileIdOf } from '../../store/unproved-profiles.ts';
import { isWorkspaceMember } from '../../store/workspace-members.ts';
import { followAddress } from '../beta/interests.ts';
import type { MintedSession, Sessions } from '../sessions/service.ts';
import { joinMember } from '../users/members.ts';
import { redeemReservations } from '../users/redemption.ts';
import { admitUnproved } from '../users/unproved.ts';
import { endClaimsElsewhere } from './claimed-identities.ts';
import { withFirstProof } from './first-proof.ts';

/** A proven identity: whoever calls this has made sure that the caller may act as this person. */
export interface ProvenIdentity {
  /** Someone known, or whoever holds an address. */
  readonly person: { readonly userId: string } | ProvenAddress;
  readonly method: SignInMethod;
  /** The passkey or the provider's identity it was proved by: the session ends with it. */
  readonly credentialId?: string | null;
  readonly userAgent: string | null;
  /** Kept at the first sign-in of all; left out where there has been one for sure. */
  readonly surroundings?: Surroundings;
}

/** What the browser, or the page in it, says of its reader; null for what it does not say. */
export interface Surroundings {
  /** A canonical BCP 47 tag. */
  readonly locale: string | null;
  /** Of the IANA database, in its own spelling. */
  readonly timezone: string | null;
}

/** An address that somebody comes by. */
export interface ProvenAddress {
  /** Normalised. */
  readonly email: string;
  /** Whether the mailbox itself was proved; a setup link proves control of the server, not of a mailbox. */
  readonly isEmailProven: boolean;
}

/** Why somebody who has proved who they are may still not come in. */
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

/** A session, or why there is none. */
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
 * A refusal is an outcome, not an exception: the change goes on, so that the code that proved the identity stays used up
 * and the refusal is on record.
 */
export async function completeSignIn(
  unit: Unit,
  sessions: Sessions,
  application: Application,
  { person: proven, method, credentialId = null, userAgent, surroundings }: ProvenIdentity,
): Promise<SignInOutcome> {
  const { user: known, email, isEmailProven } = await whoIs(unit, proven);
  // Whatever is decided about the sign-in, the holder of the address has come.
  const proof = { application, locale: surroundings?.locale ?? null };
  const user = known && isEmailProven ? await withFirstProof(unit, known, proof) : known;
  if (user && isEmailProven && application.workspaceId !== null)
    await followAddress(unit, user, [application.workspaceId]);
  const member = await findPlace(unit, application, { user, email });
  const refusal = isSwitchedOff(application, method)
    ? 'forbidden'
    : await refusalOf(unit, application, { email, user, member });
  if (refusal !== null) {
    await recordRefusal(unit, application, { email, userId: user?.id, method, reason: refusal });
    return { ok: false, refusal };
  }
  const person = user ?? (await insertPerson(unit, email, isEmailProven));
  const { member: joined, isFirst } = await admit(unit, application, { person, isNew: user === undefined, member });
  const profileId = profileIdOf(joined);
  if (isFirst && surroundings) await keepSurroundings(unit, profileId, surroundings);
  await welcomeBack(unit, joined);
  const session = await sessions.mint(unit, {
    application,
    applicationUserId: joined.id,
    userId: person.id,
    email: person.email,
    isNewUser: !hasBeenHere(person, member),
    method,
    credentialId,
    userAgent,
  });
  await recordAudit(unit, {
    kind: 'signin.succeeded',
    applicationId: application.id,
    workspaceId: application.workspaceId,
    userId: person.id,
    email,
    targetId: session.sessionId,
    detail: { method },
  });
  return { ok: true, userId: person.id, profileId, applicationId: application.id, ...session };
}

/** Where somebody is admitted, and whether it is their first time with this profile. */
interface Admitted {
  readonly member: Member;
  readonly isFirst: boolean;
}

/** Lets a person in: as themselves, or with an unproved profile while only their workspace's provider vouches for them. */
async function admit(
  unit: Unit,
  application: Application,
  { person, isNew, member }: { readonly person: User; readonly isNew: boolean; readonly member: Member | undefined },
): Promise<Admitted> {
  if (person.emailVerifiedAt !== null || application.workspaceId === null) {
    const isFirst = isNew || (hasBlank(person) && !(await hasComeAnywhere(unit, person.id)));
    return { member: await come(unit, application, { user: person, member }), isFirst };
  }
  if (member && member.profileUserId !== null) {
    await noteMemberSeen(unit, member.id, unit.now);
    return { member, isFirst: false };
  }
  const admitted = await admitUnproved(unit, application, { user: person, member });
  if (member) await noteMemberSeen(unit, member.id, unit.now);
  else unit.tell(MEMBER_SEEN, { applicationId: application.id, at: unit.now, before: NEVER });
  return { member: admitted.member, isFirst: admitted.isNewProfile };
}

/** Whom an identity belongs to, and the address they come by. */
async function whoIs(reader: Reader, proven: ProvenIdentity['person']) {
  if (!('userId' in proven)) return { ...proven, user: await findUserByEmail(reader, proven.email) };
  const user = await requireUser(reader, proven.userId);
  return { user, email: user.email, isEmailProven: false };
}

/**
 * Finds the applicant's membership, else the reservation for their address under another id. A reservation that keeps the
 * address out comes before the membership.
 */
async function findPlace(
  reader: Reader,
  application: Application,
  { user, email }: Pick<Applicant, 'user' | 'email'>,
): Promise<Member | undefined> {
  const own = user && (await findMember(reader, application.id, user.id));
  const holderId = await findPlaceHolder(reader, application, email);
  if (holderId === undefined || holderId === user?.id) return own;
  const reserved = await findMember(reader, application.id, holderId);
  return reserved && (!own || KEPT_OUT.includes(reserved.status)) ? reserved : own;
}

/** Puts a sign-in that was refused on record; also for refusals that a method knows before it comes here. */
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

/** Whether a member who is known already could come in now, by lifecycle, gate and state; null when they could. */
export async function memberRefusal(
  reader: Reader,
  application: Application,
  userId: string,
): Promise<SignInRefusal | null> {
  const user = await findUser(reader, userId);
  const member = user && (await findMember(reader, application.id, userId));
  if (!user || !member) return 'membership_blocked';
  return refusalOf(reader, application, { email: user.email, user, member });
}

/** Who asks to come in, as far as they are known. */
interface Applicant {
  readonly email: string;
  readonly user: User | undefined;
  readonly member: Member | undefined;
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
  // The console belongs to every workspace alike; its closed gate and its memberships guard it.
  const isInsider =
    isGuarded && user !== undefined && (await isWorkspaceMember(reader, user.id, application.workspaceId));
  if (stage === 'draft' && !isInsider) return 'gate_closed';
  if (signinGate === 'closed' && !member) return 'gate_closed';
  if (signinGate === 'private_beta' && !isInsider && !(await isOnAllowlist(reader, id, email))) return 'waitlist';
  if (member?.status === 'banned' || member?.status === 'paused') return 'membership_blocked';
  return null;
}

/** The owner may switch methods off; a setup link is not one of them, it is the way back in. */
function isSwitchedOff({ signinMethods }: Application, method: SignInMethod): boolean {
  return method !== 'setup' && !signinMethods.includes(method);
}

/** Whatever the workspace kept for them is theirs from the first time they come; then they are a member of the application. */
async function come(
  unit: Unit,
  application: Application,
  { user, member: known }: { readonly user: User; readonly member: Member | undefined },
): Promise<Member> {
  const { id: applicationId, workspaceId } = application;
  const hasCome = known?.userId === user.id && known.reservedEmail === null;
  if (!hasCome || workspaceId === null) await redeemReservations(unit, workspaceId, user);
  if (!hasCome) await endClaimsElsewhere(unit, user, application);
  const member = hasCome ? known : await findMember(unit, applicationId, user.id);
  if (member) {
    await noteMemberSeen(unit, member.id, unit.now);
    return member;
  }
  unit.tell(MEMBER_SEEN, { applicationId, at: unit.now, before: NEVER });
  return joinMember(unit, applicationId, user.id, await defaultGrants(unit, applicationId));
}

/** Who was imported or invited has a place, and may still come for the first time. */
function hasBeenHere({ id }: User, member: Member | undefined): boolean {
  return member?.userId === id && hasSignedIn(member) && member.lastSeenAt !== NEVER;
}

function hasBlank({ locale, timezone }: User): boolean {
  return locale === null || timezone === null;
}

/** Fills the locale and the time zone where the profile has none, such as from an import. */
async function keepSurroundings(unit: Unit, profileId: string, { locale, timezone }: Surroundings): Promise<void> {
  const user = await requireUser(unit, profileId);
  const kept = { locale: user.locale ?? locale, timezone: user.timezone ?? timezone };
  if (kept.locale !== user.locale || kept.timezone !== user.timezone) await updateUser(unit, profileId, kept);
}

/** Who inactivated their account or left comes back by signing in. */
async function welcomeBack(unit: Unit, { id, applicationId, userId, status }: Member): Promise<void> {
  if (status !== 'inactivated' && status !== 'left') return;
  await setMemberStatus(unit, id, 'active');
  await emit(unit, { type: 'user.reactivated', applicationId, data: { userId } });
}
