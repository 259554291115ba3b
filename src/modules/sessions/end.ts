/** Ends sessions early: an epoch bump ends them at once, and a background task writes the rows and events of many. */
import { required } from '../../core/required.ts';
import { beginTask, type BackgroundTask, type Batch, type RunningTask } from '../../jobs/background-tasks.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import { bumpApplicationEpoch } from '../../store/applications.ts';
import { denyApprovedGrants } from '../../store/device-grants.ts';
import {
  bumpMemberEpoch,
  findMemberById,
  findMembersById,
  type Member,
  noteSessionsEnded,
} from '../../store/members.ts';
import { listMembershipsOf, listMembershipsWithApplication } from '../../store/memberships.ts';
import {
  countOpenSessions,
  countOutdatedOfApplication,
  countOutdatedOfMember,
  ENDING_SESSIONS,
  findOpenSession,
  listSessionsRestingOn,
  listUnrevokedOfApplication,
  listUnrevokedOfMember,
  revokeSessionRow,
  SESSIONS_ENDED,
  spareSession,
  type UnrevokedSession,
} from '../../store/sessions.ts';

/** The sessions to end. Ending an application's sessions ends its personal keys as well. */
export type EndingSessions =
  | { readonly applicationId: string }
  | { readonly memberId: string }
  /** All of a person's members: a sign-in in the same change may be continued, since no earlier one is left. */
  | { readonly memberIds: readonly string[]; readonly exceptSessionId?: string }
  /** A person's sessions in the applications of one workspace or, without one, everywhere. */
  | { readonly userId: string; readonly workspaceId?: string | null; readonly exceptSessionId?: string }
  /** A person's sessions that depend on a removed credential; see {@link listSessionsRestingOn}. */
  | { readonly userId: string; readonly credentialId: string; readonly method: SignInMethod }
  | { readonly sessionId: string };

type EndingOfPerson = Exclude<Extract<EndingSessions, { userId: string }>, { credentialId: string }>;

/**
 * Ends open sessions for good and emits `user.session_revoked` for each. Idempotent.
 *
 * @returns how many were open; for an application, how many have been written already.
 */
export async function endSessions(unit: Unit, whose: EndingSessions, reason: string): Promise<number> {
  if ('sessionId' in whose) return endOne(unit, whose.sessionId, reason);
  if ('memberId' in whose) {
    const member = await findMemberById(unit, whose.memberId);
    const open = await countOpenSessions(unit, whose, unit.now);
    await noteSessionsEnded(unit, { memberIds: [whose.memberId] });
    return member ? endOfMembers(unit, [member], { open }, reason) : 0;
  }
  if ('memberIds' in whose) return endOfSeveral(unit, whose, reason);
  if ('credentialId' in whose) return endRestingOn(unit, whose, reason);
  if ('userId' in whose) return endOfPerson(unit, whose, reason);
  const { applicationId } = whose;
  await bumpApplicationEpoch(unit, applicationId);
  unit.publish(SESSIONS_ENDED, { applicationId, userId: null, reason });
  return beginTask(unit, sessionEndings, { applicationId, data: { reason, at: unit.now, memberIds: null } });
}

/** Reasons that forbid continuing an earlier sign-in where the session was; a sign-out does not. */
const REVOCATIONS: readonly string[] = ['revoked_by_user', 'revoked_by_admin'];

async function endOne(unit: Unit, id: string, reason: string): Promise<number> {
  const session = await findOpenSession(unit, { id, now: unit.now });
  if (!session) return 0;
  await writeEnd(unit, session, { reason, at: unit.now });
  if (REVOCATIONS.includes(reason)) await noteSessionsEnded(unit, { memberIds: [session.memberId] });
  return 1;
}

/** Maximum number of rows ended one by one in the change itself. */
const MOST_AT_ONCE = 250;

/** Also denies devices they approved that have not connected yet. Above the maximum, all sessions of the person end. */
async function endRestingOn(
  unit: Unit,
  whose: Extract<EndingSessions, { credentialId: string }>,
  reason: string,
): Promise<number> {
  const { userId } = whose;
  const sessions = await listSessionsRestingOn(unit, { ...whose, now: unit.now, limit: MOST_AT_ONCE + 1 });
  if (sessions.length > MOST_AT_ONCE) {
    const memberIds = (await listMembershipsOf(unit, userId)).map(({ id }) => id);
    await denyApprovedGrants(unit, memberIds);
    return endOfPerson(unit, { userId }, reason);
  }
  for (const session of sessions) await writeEnd(unit, session, { reason, at: unit.now });
  const memberIds = [...new Set(sessions.map(({ memberId }) => memberId))];
  const sessionIds = sessions.map(({ sessionId }) => sessionId);
  await denyApprovedGrants(unit, memberIds, sessionIds);
  return sessions.length;
}

async function endOfSeveral(
  unit: Unit,
  { memberIds, exceptSessionId }: Extract<EndingSessions, { memberIds: readonly string[] }>,
  reason: string,
): Promise<number> {
  const members = [...(await findMembersById(unit, memberIds)).values()].map(({ member }) => member);
  let open = 0;
  for (const { id } of members) open += await countOpenSessions(unit, { memberId: id }, unit.now);
  return endOfMembers(unit, members, { open, exceptSessionId }, reason);
}

async function endOfPerson(
  unit: Unit,
  { userId, workspaceId = null, exceptSessionId }: EndingOfPerson,
  reason: string,
): Promise<number> {
  const memberships = await listMembershipsWithApplication(unit, userId);
  const members = memberships
    .filter(({ application }) => workspaceId === null || application.workspaceId === workspaceId)
    .map(({ member }) => member);
  const open = await countOpenSessions(unit, { userId, workspaceId }, unit.now);
  // Without an open session as well: one of another workspace could be continued here.
  await noteSessionsEnded(unit, { memberIds: members.map(({ id }) => id) });
  return endOfMembers(unit, members, { open, exceptSessionId }, reason);
}

interface OpenOfMembers {
  /** Includes the exempted session. */
  readonly open: number;
  readonly exceptSessionId?: string | undefined;
}

async function endOfMembers(
  unit: Unit,
  members: readonly Pick<Member, 'id' | 'applicationId' | 'userId'>[],
  { open, exceptSessionId }: OpenOfMembers,
  reason: string,
): Promise<number> {
  const except =
    exceptSessionId === undefined ? undefined : await findOpenSession(unit, { id: exceptSessionId, now: unit.now });
  const spared = members.some(({ id }) => id === except?.memberId) ? except : undefined;
  const count = spared ? open - 1 : open;
  if (count === 0) return 0;
  const memberIds = members.map(({ id }) => id);
  for (const { id, applicationId, userId } of members) {
    await bumpMemberEpoch(unit, id);
    unit.publish(SESSIONS_ENDED, { applicationId, userId, reason });
  }
  if (spared) await spareSession(unit, spared.sessionId);
  const applicationId = members.length === 1 ? (members[0]?.applicationId ?? null) : null;
  await beginTask(unit, sessionEndings, { applicationId, data: { reason, at: unit.now, memberIds } });
  return count;
}

interface Ending {
  readonly reason: string;
  /** The time of the epoch bump; sessions created later or ended before are left alone. */
  readonly at: number;
  /** The members whose sessions end; null for all sessions and personal keys of the application. */
  readonly memberIds: readonly string[] | null;
}

/** Writes the ends of sessions that an epoch bump has outdated. */
export const sessionEndings: BackgroundTask<Ending> = {
  name: ENDING_SESSIONS,
  step: (unit, task, limit) =>
    task.data.memberIds === null
      ? endInApplication(unit, task, limit)
      : endInMembers(unit, { ...task.data, memberIds: task.data.memberIds }, { cursor: task.cursor, limit }),
  async count(reader, { applicationId, data: { memberIds, at } }) {
    if (memberIds === null) return countOutdatedOfApplication(reader, { applicationId: wholeOf(applicationId), at });
    let count = 0;
    for (const memberId of memberIds) count += await countOutdatedOfMember(reader, { memberId, at });
    return count;
  },
};

function wholeOf(applicationId: string | null): string {
  return required(applicationId, 'application of a task');
}

const KEYS_ARE_NEXT = 'keys';

/** Processes the sessions by user and id, then the personal keys. */
async function endInApplication(
  unit: Unit,
  { applicationId: whole, data, cursor }: RunningTask<Ending>,
  limit: number,
): Promise<Batch> {
  const applicationId = wholeOf(whole);
  let done = 0;
  let left = limit;
  if (cursor !== KEYS_ARE_NEXT) {
    const [userId, sessionId] = cursor === null ? ['', ''] : (JSON.parse(cursor) as [string, string]);
    const sessions = await listUnrevokedOfApplication(unit, { applicationId, userId, sessionId, limit });
    done = await writeEnds(unit, sessions, data);
    const last = sessions.at(-1);
    if (last && sessions.length === limit)
      return { done, cursor: JSON.stringify([last.userId, last.sessionId ?? '']), isFinished: false };
    left -= sessions.length;
  }
  const isFinished = (await endPersonalKeys(unit, { applicationId, limit: left })) < left;
  return { done, cursor: KEYS_ARE_NEXT, isFinished };
}

/** Processes the members in the given order, and each one's sessions by id. */
async function endInMembers(
  unit: Unit,
  ending: Ending & { readonly memberIds: readonly string[] },
  { cursor, limit }: { readonly cursor: string | null; readonly limit: number },
): Promise<Batch> {
  let [index, sessionId] = cursor === null ? [0, ''] : (JSON.parse(cursor) as [number, string]);
  let done = 0;
  // A member without sessions counts against the limit as well.
  for (let left = limit; ;) {
    const memberId = ending.memberIds[index];
    if (memberId === undefined) return { done, cursor: null, isFinished: true };
    if (left <= 0) return { done, cursor: JSON.stringify([index, sessionId]), isFinished: false };
    const sessions = await listUnrevokedOfMember(unit, { memberId, sessionId, limit: left });
    done += await writeEnds(unit, sessions, ending);
    const last = sessions.at(-1);
    if (last && sessions.length === left) ({ sessionId } = last);
    else [index, sessionId] = [index + 1, ''];
    left -= sessions.length + 1;
  }
}

async function writeEnds(unit: Unit, sessions: readonly UnrevokedSession[], ending: Ending): Promise<number> {
  let count = 0;
  for (const { sessionId, userId, applicationId, isOutdated, createdAt, expiresAt } of sessions) {
    if (sessionId === null || !isOutdated || createdAt > ending.at || expiresAt <= ending.at) continue;
    await writeEnd(unit, { sessionId, userId, applicationId }, ending);
    count += 1;
  }
  return count;
}

async function writeEnd(
  unit: Unit,
  { sessionId, userId, applicationId }: Record<'sessionId' | 'userId' | 'applicationId', string>,
  { reason, at }: Pick<Ending, 'reason' | 'at'>,
): Promise<void> {
  await revokeSessionRow(unit, { sessionId, at, reason });
  await emit(unit, { type: 'user.session_revoked', applicationId, data: { userId, sessionId, reason } });
}
