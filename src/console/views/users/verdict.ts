/** Explains why somebody cannot sign in, checking records in the server's order. */
import type { Schemas } from '../../api.ts';
import { relativeTime } from '../../components/format.ts';
import { type AuthEvent, reasonOf } from '../activity/kinds.ts';
import type { UserAction, UserStatus } from './statuses.ts';

export interface Evidence {
  readonly application: Pick<
    Schemas['Application'],
    'stage' | 'signinGate' | 'archivedAt' | 'deletedAt' | 'signinMethods'
  >;
  /** Null for an address without a user. */
  readonly user: {
    readonly status: UserStatus;
    readonly statusReason: string | null;
    readonly lastSeenAt: string | null;
  } | null;
  /** Allowlist entry; null for none, undefined if the member may not read it. */
  readonly listed: Schemas['BetaStatus'] | null | undefined;
  /** Whether they are a workspace member, to whom gates do not apply. */
  readonly isMember: boolean;
  /** Recent failures, newest first. */
  readonly failures: readonly AuthEvent[];
}

/** Step that would let them in: a user action, the allowlist, or another view. */
export type Step = UserAction | 'allow' | 'gate' | 'settings';

export interface Verdict {
  readonly isKeptOut: boolean;
  readonly why: string;
  readonly remedy: string;
  readonly step: Step | null;
  /** Further obstacles after that. */
  readonly also?: readonly string[];
}

/** Returns the first obstacle with the others; without any, explains the last failure. */
export function verdictOf(evidence: Evidence): Verdict {
  const [first, ...more] = [closed, userDeleted, gated, bannedOrPaused].flatMap((rule) => rule(evidence) ?? []);
  if (first) return { ...first, also: more.map(({ why }) => why) };
  return lastFailure(evidence) ?? notKeptOut(evidence);
}

const keptOut = (why: string, remedy: string, step: Step | null = null): Verdict => ({
  isKeptOut: true,
  why,
  remedy,
  step,
});

function closed({ application: { archivedAt, deletedAt } }: Evidence): Verdict | null {
  if (deletedAt !== null)
    return keptOut(
      'The application is deleted, so nobody can sign in.',
      'Restoring it lets people in again.',
      'settings',
    );
  if (archivedAt === null) return null;
  return keptOut(
    'The application is archived, so nobody can sign in.',
    'Taking it out of the archive lets people in again.',
    'settings',
  );
}

function userDeleted({ user }: Evidence): Verdict | null {
  if (user?.status !== 'deleted') return null;
  return keptOut(
    `They are deleted here${because(user.statusReason)}, and the address cannot sign in.`,
    'Restoring them lets them in; a deletion of their own cannot be taken back.',
    'restore',
  );
}

function gated({ application: { stage, signinGate }, user, listed, isMember }: Evidence): Verdict | null {
  if (stage === 'draft' && !isMember)
    return keptOut(
      'The application is a draft, which only members of the workspace can sign in to.',
      'Publishing it lets others in.',
      'settings',
    );
  if (signinGate === 'closed' && user === null)
    return keptOut(
      'The gate is closed: only existing users can sign in.',
      'Importing the address as a user lets them in, and so does opening the gate.',
      'gate',
    );
  if (signinGate !== 'private_beta' || isMember || listed === 'approved') return null;
  if (listed === undefined)
    return keptOut(
      'The gate is a private beta: only approved addresses can sign in.',
      'An admin can see whether this one is on the allowlist, and approve it.',
    );
  return keptOut(
    `The gate is a private beta, and ${LISTED[listed ?? 'none']}.`,
    'Approving the address lets them in.',
    'allow',
  );
}

const LISTED = {
  none: 'the address is not on the allowlist',
  pending: 'the address still waits on the allowlist for a decision',
  declined: 'the address was refused on the allowlist',
  notify_when_public: 'the address only waits to be notified of the opening',
} as const;

function bannedOrPaused({ user }: Evidence): Verdict | null {
  if (user?.status === 'banned')
    return keptOut(`They are banned${because(user.statusReason)}.`, 'Lifting the ban lets them in.', 'unban');
  if (user?.status === 'paused')
    return keptOut(`They are paused${because(user.statusReason)}.`, 'Resuming them lets them in.', 'resume');
  return null;
}

/** Explains what only the last failure shows, if it still applies. */
function lastFailure({ application, user, failures: [last] }: Evidence): Verdict | null {
  const { reason, method, pausedUntil } = (last?.detail ?? {}) as Partial<Record<string, unknown>>;
  if (!last || wasSeenSince(user, last)) return null;
  if (reason === 'forbidden' && !application.signinMethods.some((allowed) => allowed === method))
    return keptOut(
      'The method they tried is switched off for this application.',
      'They can use another method, or you can switch it on.',
      'settings',
    );
  if (reason === 'email_archived' && user === null)
    return keptOut(
      'The address belongs to an account that now has a newer one.',
      'They can sign in with the newer address.',
    );
  if (reason === 'user_deleted' && user === null)
    return keptOut('The account with this address was deleted.', 'Only a new address can sign in.');
  if (typeof pausedUntil === 'string' && Date.parse(pausedUntil) > Date.now())
    return keptOut(
      'Too many wrong codes were entered, so codes are not accepted for a while.',
      `It ends ${relativeTime(pausedUntil)}; a passkey works in the meantime.`,
    );
  if (last.kind.startsWith('mail.'))
    return keptOut(
      `The mail with their code did not arrive: ${reasonOf(last) ?? 'it was not accepted'}.`,
      'Check the address; if it is right, look at the mail settings under Instance health.',
    );
  return null;
}

function notKeptOut({ user, failures: [last] }: Evidence): Verdict {
  const reason = last && reasonOf(last);
  if (last && wasSeenSince(user, last))
    return {
      isKeptOut: false,
      why: 'They can sign in: they have been active since the last refusal.',
      remedy: 'There is nothing to do.',
      step: null,
    };
  return {
    isKeptOut: false,
    why: last
      ? `They can sign in now${reason ? `; the last refusal was because ${reason}` : ''}.`
      : 'They can sign in, and no refusal is on record.',
    remedy: last
      ? 'They can try again.'
      : 'They may not have tried yet, may have mistyped the address, or the code may be in their spam folder.',
    step: null,
  };
}

const wasSeenSince = (user: Evidence['user'], { createdAt }: AuthEvent) =>
  user !== null && user.lastSeenAt !== null && user.lastSeenAt > createdAt;

const because = (reason: string | null) => (reason ? ` (“${reason}”)` : '');
