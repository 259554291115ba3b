/**
 * Open streams of activity: each is told what is recorded in its application or workspace, once that is durable, for as
 * long as its caller may read it. Nothing is held for who comes back: what was missed is in the list.
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
/** Of all callers in the workspaces of one budget. */
const MAX_PER_BUDGET = 500;
const MAX_IN_ALL = 10_000;
/** How much may wait for a slow reader, in bytes… */
const MAX_WAITING_BYTES = 128 * 1024;
/** …and in records not yet written to the stream; what comes beyond is dropped, and the reader is told how many. */
const MAX_WAITING_RECORDS = 500;
/** For so long a caller who was judged is taken to have the right still, where nothing on record speaks against it. */
const TRUST_MS = 1000;

/** What a caller's rights hang on, beside the caller: a record of these makes everybody in the workspace judged again. */
const DOUBTFUL = /^(?:apikey|application|device|workspace)\./;

/** Who follows what. */
export interface Following extends AuditScope {
  /** The budget that the stream counts for. */
  readonly budgetId: string;
  /** The person, or the principal of the key. */
  readonly userId: string;
  /** Throws where the caller may not read it any more. */
  readonly confirm: (reader: Reader) => Promise<void>;
}

interface Follower extends Following {
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  waiting: AuditRecord[];
  dropped: number;
  /** How often its right was called into question, and as of which of these it was judged last. */
  doubts: number;
  judgedDoubts: number;
  judgedAt: number;
}

export type Followers = ReturnType<typeof activityFollowers>;

/** @param reader through which callers are judged again. */
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

  /** @returns false where it is not taken, for now or for good. */
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
      // In order: behind a gap that could not be told, all that follows is part of it.
      if (follower.dropped > 0 || !send(follower, messageOf(record))) follower.dropped += 1;
    }
  }

  /** Ends the stream of who may not read on. */
  async function judge(follower: Follower): Promise<void> {
    const { doubts } = follower;
    try {
      await follower.confirm(reader);
      // A doubt that came meanwhile stands.
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
        // Else it is due again.
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
    /** A stream that begins with `ready`: what is recorded from then on is told. @throws {AppError} rate_limited, unavailable */
    open(following: Following): ReadableStream<Uint8Array> {
      const { workspaceId, budgetId, userId } = following;
      const own = [...(open.get(workspaceId) ?? [])].filter((other) => other.userId === userId);
      if (own.length >= MAX_PER_PRINCIPAL || shares.of(budgetId) >= MAX_PER_BUDGET)
        throw new AppError('rate_limited', { hint: 'too_many_streams', retryAfterSeconds: 15 });
      // Its right is judged again before it is told anything.
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

    /** Tells what concerns followers a moment later, in the same order. */
    publish(records: readonly AuditRecord[]): void {
      if (shares.count() === 0) return;
      for (const record of records) {
        const { applicationId, workspaceId, userId, kind } = record;
        // What happens in the console is of no workspace, and may be the end of somebody's session there.
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

    /** Judges every caller again: a right that ends by time leaves no record. */
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
