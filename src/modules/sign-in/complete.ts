/**
 * The one door to a session: turns "this identity is proven" into a session, in the caller's transaction. Every sign-in
 * method ends here, so lifecycle, gate, deleted users and archived addresses are judged in one place.
 */
import { isClosed } from '../../core/application-state.ts';
import { and, eq } from 'drizzle-orm';
import type { SignInMethod } from '../../core/event.ts';
import { type Application, betaInterests } from '../../db/schema/applications.ts';
import { users } from '../../db/schema/users.ts';
import { workspaceMembers } from '../../db/schema/workspace-members.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { defaultGrants } from '../grants/holders.ts';
import type { MintedSession, Sessions } from '../sessions/service.ts';
import {
  type ApplicationUser,
  findAliasHolder,
  findMember,
  findUser,
  findUserByEmail,
  insertMember,
  insertPerson,
  setStatus,
  type User,
} from '../users/members.ts';

/** A proven identity: whoever calls this has made sure that the caller may act as this person. */
export interface ProvenIdentity {
  /** Someone known, or whoever holds an address. */
  readonly person: { readonly userId: string } | ProvenAddress;
  readonly method: SignInMethod;
  readonly userAgent: string | null;
}

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

export type SignInOutcome =
  | ({ readonly ok: true; readonly userId: string; readonly applicationId: string } & MintedSession)
  | { readonly ok: false; readonly refusal: SignInRefusal };

/**
 * A refusal is an outcome, not an exception: the transaction goes on, so that the code that proved the identity stays
 * used up and the refusal is on record.
 */
export function completeSignIn(
  unit: Unit,
  sessions: Sessions,
  application: Application,
  { person: proven, method, userAgent }: ProvenIdentity,
): SignInOutcome {
  const isKnown = 'userId' in proven;
  const user = isKnown ? findUser(unit, proven.userId)! : findUserByEmail(unit, proven.email);
  const { email, isEmailProven } = isKnown ? { email: user!.email, isEmailProven: false } : proven;
  const member = user && findMember(unit, application.id, user.id);
  const refusal = isSwitchedOff(application, method)
    ? 'forbidden'
    : refusalOf(unit, application, { email, user, member });
  if (refusal !== null) {
    recordRefusal(unit, application, { email, userId: user?.id, method, reason: refusal });
    return { ok: false, refusal };
  }
  const person = user ?? insertPerson(unit, email, isEmailProven);
  const joined = member ?? insertMember(unit, application.id, person.id, defaultGrants(unit, application.id));
  if (isEmailProven && person.emailVerifiedAt === null)
    unit.tx.update(users).set({ emailVerifiedAt: unit.now, updatedAt: unit.now }).where(eq(users.id, person.id)).run();
  welcomeBack(unit, joined);
  const session = sessions.mint(unit, {
    application,
    applicationUserId: joined.id,
    userId: person.id,
    method,
    userAgent,
  });
  unit.audit({
    kind: 'signin.succeeded',
    applicationId: application.id,
    workspaceId: application.workspaceId,
    userId: person.id,
    email,
    targetId: session.sessionId,
    detail: { method },
  });
  return { ok: true, userId: person.id, applicationId: application.id, ...session };
}

/** Puts a sign-in that was refused on record; also for refusals that a method knows before it comes here. */
export function recordRefusal(
  unit: Unit,
  { id: applicationId, workspaceId }: Application,
  refused: { email: string | null; userId: string | undefined; method: SignInMethod; reason: string },
): void {
  const { email, userId, method, reason } = refused;
  unit.audit({
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
export function memberRefusal(unit: Unit, application: Application, userId: string): SignInRefusal | null {
  const user = findUser(unit, userId);
  const member = user && findMember(unit, application.id, userId);
  if (!user || !member) return 'membership_blocked';
  return refusalOf(unit, application, { email: user.email, user, member });
}

/** Who asks to come in, as far as they are known. */
interface Applicant {
  readonly email: string;
  readonly user: User | undefined;
  readonly member: ApplicationUser | undefined;
}

function refusalOf(unit: Unit, application: Application, { email, user, member }: Applicant): SignInRefusal | null {
  if (isClosed(application)) return 'application_archived';
  if (user?.kind === 'api_key') return 'gate_closed';
  if (!user && findAliasHolder(unit, email)) return 'email_archived';
  if (user && (user.deletedAt !== null || member?.status === 'deleted')) return 'user_deleted';
  const isInsider = user !== undefined && isWorkspaceMember(unit, application, user.id);
  if (application.stage === 'draft' && !isInsider) return 'gate_closed';
  if (application.signinGate === 'closed' && !member) return 'gate_closed';
  if (application.signinGate === 'private_beta' && !isInsider && !isOnAllowlist(unit, application.id, email))
    return 'waitlist';
  if (member?.status === 'banned' || member?.status === 'paused') return 'membership_blocked';
  return null;
}

/** The owner may switch methods off; a setup link is not one of them, it is the way back in. */
function isSwitchedOff({ signinMethods }: Application, method: SignInMethod): boolean {
  return method !== 'setup' && !signinMethods.includes(method);
}

/** Who inactivated their account or left comes back by signing in. */
function welcomeBack(unit: Unit, member: ApplicationUser): void {
  if (member.status !== 'inactivated' && member.status !== 'left') return;
  const { id, applicationId, userId } = member;
  setStatus(unit, id, 'active');
  unit.emit({ type: 'user.reactivated', applicationId, data: { userId } });
}

function isWorkspaceMember({ tx }: Unit, { workspaceId }: Application, userId: string): boolean {
  // The console belongs to every workspace alike; its closed gate and its memberships guard it.
  const inWorkspace = workspaceId === null ? undefined : eq(workspaceMembers.workspaceId, workspaceId);
  return (
    tx
      .select({ id: workspaceMembers.id })
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.userId, userId), inWorkspace))
      .get() !== undefined
  );
}

function isOnAllowlist({ tx }: Unit, applicationId: string, email: string): boolean {
  return (
    tx
      .select({ id: betaInterests.id })
      .from(betaInterests)
      .where(
        and(
          eq(betaInterests.applicationId, applicationId),
          eq(betaInterests.email, email),
          eq(betaInterests.status, 'approved'),
        ),
      )
      .get() !== undefined
  );
}
