/**
 * Open activity streams: each gets the committed audit records of its scope while its caller may read them. Nothing is
 * buffered for reconnects: missed records are in the list.
 */
import { AppError } from '../../core/error.ts';
import { yieldIfLong } from '../../core/turn.ts';
import type { Reader } from '../../db/database.ts';
import { eventMessage, HEARTBEAT } from '../../http/event-stream.ts';
import { streamShares } from '../../http/stream-shares.ts';
import type { AuditRecord } from '../../store/audit.ts';
import type { AuditScope } from '../../store/audit-lists.ts';
import { presentRecord } from './present.ts';

const MAX_PER_PRINCIPAL = 20;
/** Limit over all callers in workspaces that share a budget. */
const MAX_PER_BUDGET = 500;
const MAX_IN_ALL = 10_000;
/** Stop writing to a slow reader beyond this many buffered bytes. */
const MAX_WAITING_BYTES = 128 * 1024;
/** Records queued per follower. Further ones are dropped, and the reader is sent their number. */
const MAX_WAITING_RECORDS = 500;
/** How long an authorization check stays valid while no audit record puts it in doubt. */
const TRUST_MS = 1000;

/** Audit kinds that can change anyone's rights: one of these has every follower in the workspace checked again. */
const DOUBTFUL = /^(?:apikey|application|device|workspace)\./;

export interface Following extends AuditScope {
  /** Budget that the stream counts against. */
  readonly budgetId: string;
  /** The person, or the key's principal. */
  readonly userId: string;
  /** Throws if the caller may no longer read the scope. */
  readonly confirm: (reader: Reader) => Promise<void>;
}

interface Follower extends Following {
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  waiting: AuditRecord[];
  dropped: number;
  /** How often its rights were put in doubt, and the value of that counter at the last check. */
  doubts: number;
  judgedDoubts: number;
  judgedAt: number;
}

export type Followers = ReturnType<typeof activityFollowers>;

/** @param reader used to authorize callers again. */
export function activityFollowers(reader: Reader) {
  const open = new Map<string, Set<Follower>>();
  const shares = streamShares<Follower>(MAX_IN_ALL, close);
  let due = new Set<Follower>();
  let isCatchingUp = false;

  const all = () => [...open.values()].flatMap((followers) => [...followers]);
  const isDoubted = (follower: Follower) => follower.judgedDoubts !== follower.doubts;
  const isOpen = (follower: Follower) => open.get(follower.workspaceId)?.has(follower) ?? false;

  function remove(follower: Follower): void {
    const { workspaceId } = follower;
    const followers = open.get(workspaceId);
    if (!followers?.delete(follower)) return;
    shares.remove(follower);
    if (followers.size === 0) open.delete(workspaceId);
  }

  function close(follower: Follower): void {
    remove(follower);
    try {
      follower.controller?.close();
    } catch {
      // The reader has gone already.
    }
  }

  /** @returns false if the stream does not take the bytes, for now or for good. */
  function send(follower: Follower, bytes: Uint8Array): boolean {
    const { controller } = follower;
    if (!controller || (controller.desiredSize ?? 0) < -MAX_WAITING_BYTES) return false;
    try {
      controller.enqueue(bytes);
      return true;
    } catch {
      remove(follower);
      return false;
    }
  }

  function tellGap(follower: Follower): void {
    if (follower.dropped > 0 && send(follower, eventMessage('gap', { dropped: follower.dropped })))
      follower.dropped = 0;
  }

  function tellWaiting(follower: Follower, messageOf: (record: AuditRecord) => Uint8Array): void {
    for (const record of follower.waiting.splice(0)) {
      tellGap(follower);
      // Keeps the order: until the gap is sent, later records count as dropped too.
      if (follower.dropped > 0 || !send(follower, messageOf(record))) follower.dropped += 1;
    }
  }

  /** Authorizes the caller again, and ends the stream if that fails. */
  async function judge(follower: Follower): Promise<void> {
    const { doubts } = follower;
    try {
      await follower.confirm(reader);
      // A doubt raised during the check remains.
      follower.judgedDoubts = Math.max(follower.judgedDoubts, doubts);
      follower.judgedAt = performance.now();
    } catch (error) {
      if (error instanceof AppError) send(follower, eventMessage('ended', { error: error.code }));
      close(follower);
    }
  }

  async function catchUp(): Promise<void> {
    while (due.size > 0) {
      const now = due;
      due = new Set();
      const messages = new Map<AuditRecord, Uint8Array>();
      const messageOf = (record: AuditRecord) => {
        const message = messages.get(record) ?? eventMessage('activity', presentRecord(record), record.id);
        messages.set(record, message);
        return message;
      };
      for (const follower of now) {
        if (!isOpen(follower)) continue;
        if (isDoubted(follower) || performance.now() - follower.judgedAt > TRUST_MS) await judge(follower);
        // A follower put in doubt during the check is in `due` again.
        if (isOpen(follower) && !isDoubted(follower)) tellWaiting(follower, messageOf);
        const pause = yieldIfLong();
        if (pause) await pause;
      }
    }
    isCatchingUp = false;
  }

  function take(follower: Follower, record: AuditRecord): void {
    if (follower.waiting.length < MAX_WAITING_RECORDS) follower.waiting.push(record);
    else follower.dropped += 1;
    due.add(follower);
  }

  function doubt(follower: Follower): void {
    follower.doubts += 1;
    due.add(follower);
  }

  return {
    /** Opens a stream: `ready`, then every record from then on. @throws {AppError} rate_limited, unavailable */
    open(following: Following): ReadableStream<Uint8Array> {
      const { workspaceId, budgetId, userId } = following;
      const own = [...(open.get(workspaceId) ?? [])].filter((other) => other.userId === userId);
      if (own.length >= MAX_PER_PRINCIPAL || shares.of(budgetId) >= MAX_PER_BUDGET)
        throw new AppError('rate_limited', { hint: 'too_many_streams', retryAfterSeconds: 15 });
      // Starts in doubt: the caller is authorized again before the first record.
      const state = { controller: null, waiting: [], dropped: 0, doubts: 1, judgedDoubts: 0, judgedAt: 0 };
      const follower: Follower = { ...following, ...state };
      shares.add(follower);
      const followers = open.get(workspaceId) ?? new Set();
      open.set(workspaceId, followers.add(follower));
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            follower.controller = controller;
            send(follower, eventMessage('ready', {}));
          },
          cancel: () => remove(follower),
        },
        { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
      );
    },

    /** Queues records for their followers and sends them shortly after, in the same order. */
    publish(records: readonly AuditRecord[]): void {
      if (shares.count() === 0) return;
      for (const record of records) {
        const { applicationId, workspaceId, userId, kind } = record;
        // Console records have no workspace, but may end a follower's own session.
        const near = workspaceId === null ? all() : (open.get(workspaceId) ?? []);
        for (const follower of near) {
          if (userId === follower.userId || (workspaceId !== null && DOUBTFUL.test(kind))) doubt(follower);
          if (workspaceId === null) continue;
          if (follower.applicationId === null || follower.applicationId === applicationId) take(follower, record);
        }
      }
      if (isCatchingUp || due.size === 0) return;
      isCatchingUp = true;
      setImmediate(() => void catchUp());
    },

    /** Authorizes every caller again: a right that expires leaves no record. */
    async heartbeat(): Promise<void> {
      for (const follower of all()) {
        if (!isOpen(follower)) continue;
        await judge(follower);
        if (!isOpen(follower)) continue;
        tellGap(follower);
        send(follower, HEARTBEAT);
        const pause = yieldIfLong();
        if (pause) await pause;
      }
    },

    closeAll(): void {
      for (const follower of all()) close(follower);
    },

    count: shares.count,
  };
}
