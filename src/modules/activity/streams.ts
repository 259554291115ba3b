/** Open activity streams: each gets the audit records of its scope in order, while its caller may read them. */
import type { Clock } from '../../core/clock.ts';
import { firstIdAt } from '../../core/id.ts';
import type { Reader } from '../../db/database.ts';
import { eventMessage } from '../../http/event-stream.ts';
import { LOG_BATCH, type LogReader, logReader } from '../../http/log-stream.ts';
import { RECENT_READ } from '../../http/recent-ids.ts';
import { streamHub, type StreamSource } from '../../http/stream-hub.ts';
import { streamTail } from '../../http/stream-tail.ts';
import type { AuditNotice, AuditRecord } from '../../store/audit.ts';
import { findAuditNames, NO_NAMES } from '../../store/audit-names.ts';
import {
  type AuditPosition,
  type AuditScope,
  findAuditRecord,
  findAuditRecords,
  listAuditIdsFrom,
  listAuditNotices,
  listAuditRecords,
  listAuditRecordsAfter,
} from '../../store/audit-lists.ts';
import { presentRecord } from './present.ts';

/** `perBudget` is for all callers in workspaces that share a budget, `perSubject` for one caller in a workspace. */
const LIMITS = { total: 10_000, perBudget: 500, perSubject: 20 };

/** Audit kinds that can change anyone's rights: one of these has every stream of the workspace authorized again. */
const CHANGES_RIGHTS = /^(?:apikey|application|device|workspace)\./;

export interface ActivityStreamOptions extends AuditScope {
  readonly budgetId: string;
  /** The person, or the key's principal. */
  readonly userId: string;
  /** The session or key of the caller. */
  readonly credentialId: string;
  /** Id of the last record received, from an earlier stream; null for a new one. */
  readonly after: string | null;
  /** Throws if the caller may no longer read the scope. @returns whether names of people may be shown to the caller. */
  readonly confirm: (reader: Reader) => Promise<{ readonly maySeeNames: boolean }>;
}

interface ActivityStream extends StreamSource, AuditScope, Pick<LogReader, 'notice'> {
  readonly credentialId: string;
  /** Latest time of a record it has read that is still to come: the clock went back before. */
  aheadUntil: number;
  /** Set where a record is not behind all earlier ones, because the clock went back. */
  isIncomplete: boolean;
}

export type ActivityStreams = ReturnType<typeof activityStreams>;

/**
 * @param reader reads records and authorizes callers again.
 * @param lateMs how long after its time a record may become visible.
 */
export function activityStreams(reader: Reader, clock: Clock, lateMs = 0) {
  const hub = streamHub<ActivityStream>(LIMITS);
  const tail = streamTail<AuditNotice>({
    kind: 'audit',
    clock,
    lateMs,
    async list(from, limit) {
      const workspaceIds = [...new Set(hub.all().map(({ workspaceId }) => workspaceId))];
      return workspaceIds.length === 0 ? [] : listAuditNotices(reader, { workspaceIds, from, limit });
    },
    isFollowed: ({ workspaceId, userId }) =>
      (workspaceId !== null && hub.has(workspaceId)) || (userId !== null && hub.has(userId)),
    publish,
    wakeAll: () => hub.wake(hub.all()),
  });
  let newestAt = 0;

  async function newestIn(scope: AuditScope): Promise<AuditPosition | null> {
    const [newest = null] = await listAuditRecords(reader, scope, {}, { after: null, limit: 1 });
    return newest;
  }

  function noteTime(stream: ActivityStream, at: number): void {
    if (at > clock.now()) stream.aheadUntil = Math.max(stream.aheadUntil, at);
  }

  /** Finds the position to read from. An unknown id, or one of another scope, gives the newest record and `reload`. */
  async function begin(stream: ActivityStream, after: string | null) {
    const last = after === null ? undefined : await findAuditRecord(reader, stream, after);
    const recent = last || !tail.late ? [] : await recentIn(stream, tail.late.settledUntil());
    // Read after these, so that a record in between is sent.
    const position = last ? ([last.createdAt, last.id] as const) : await newestIn(stream);
    const [at = 0, id] = position ?? [];
    noteTime(stream, at);
    const messages = [eventMessage('ready', {}, id)];
    if (after !== null && !last) messages.push(eventMessage('reload', {}, id));
    if (!last || !tail.late) return { messages, position, lastId: id ?? '', recent };
    // Repeats what may have come late before its end, rather than lose a record.
    const from = last.createdAt - lateMs;
    return { messages, position: [from, ''] as const, lastId: firstIdAt('audit', from), recent };
  }

  const recentIn = (scope: AuditScope, from: number) => listAuditIdsFrom(reader, scope, { from, limit: RECENT_READ });

  /** Wakes the streams that show these records, or whose caller's rights they may have changed. */
  function publish(notices: readonly AuditNotice[]): void {
    for (const { id, applicationId, workspaceId, userId, kind, createdAt } of notices) {
      // Console records have no workspace, but may end a caller's own session.
      if (userId !== null) hub.wake(hub.of(userId));
      for (const stream of workspaceId === null ? [] : hub.of(workspaceId)) {
        const isShown = stream.applicationId === null || stream.applicationId === applicationId;
        if (!isShown && !CHANGES_RIGHTS.test(kind)) continue;
        if (isShown) stream.notice(id);
        stream.isIncomplete ||= isShown && createdAt < Math.max(newestAt, stream.aheadUntil) - lateMs;
        hub.wake([stream]);
      }
      newestAt = Math.max(newestAt, createdAt);
    }
  }

  return {
    /** Opens a stream: `ready`, then every record since `after`, or from then on. @throws {AppError} rate_limited, unavailable */
    open({ workspaceId, applicationId, budgetId, userId, credentialId, after, confirm }: ActivityStreamOptions) {
      const scope = { workspaceId, applicationId };
      let names = NO_NAMES;
      let maySeeNames = false;
      async function named(records: readonly AuditRecord[]): Promise<readonly AuditRecord[]> {
        names = await findAuditNames(reader, workspaceId, records);
        return records;
      }
      const { read: readLog, notice } = logReader<AuditRecord, AuditPosition | null>({
        begin: () => begin(stream, after),
        async list(last) {
          const records = await listAuditRecordsAfter(reader, scope, last, LOG_BATCH);
          for (const { createdAt } of records) noteTime(stream, createdAt);
          return named(records);
        },
        find: async (ids) => named(inOrder(await findAuditRecords(reader, ids))),
        positionOf: ({ createdAt, id }) => [createdAt, id],
        messageOf: (record) => eventMessage('activity', presentRecord(record, names, maySeeNames), record.id),
        confirm: async () => void ({ maySeeNames } = await confirm(reader)),
        late: tail.late,
      });
      const stream: ActivityStream = {
        ...scope,
        credentialId,
        budgetId,
        notice,
        subject: `${workspaceId} ${userId}`,
        topics: [workspaceId, userId, credentialId],
        aheadUntil: 0,
        isIncomplete: false,
        async *read(state) {
          if (yield* readLog(state)) return true;
          if (stream.isIncomplete && state.isOpen) yield eventMessage('reload', {});
          stream.isIncomplete = false;
          return false;
        },
      };
      return hub.open(stream);
    },

    hear: tail.hear,
    poll: tail.poll,
    callers: () => hub.all().map(({ credentialId }) => credentialId),
    /** Has the streams of a session or key authorize their caller again. */
    recheckCaller: (credentialId: string) => hub.wake(hub.of(credentialId)),
    heartbeat: hub.heartbeat,
    closeAll: hub.closeAll,
    count: hub.count,
  };
}

function inOrder(records: ReadonlyMap<string, AuditRecord>): AuditRecord[] {
  return [...records.keys()].sort().flatMap((id) => records.get(id) ?? []);
}
