/** Streams that send a session or key its own changes. One that is opened again begins with the whole state. */
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import { type DomainEvent, isShown, type ShownEvent } from '../../core/event.ts';
import { yieldIfLong } from '../../core/event-loop.ts';
import { eventMessage, HEARTBEAT } from '../../http/event-stream.ts';
import { streamHub, type StreamSource } from '../../http/stream-hub.ts';
import type { EventNotice } from '../../store/events.ts';
import type { SessionsEnded } from '../../store/sessions.ts';
import type { Followed } from '../verification/service.ts';
import { ALL_MESSAGES, KEY_ENDED, lastNotices, lastOfEach, MESSAGE_AFTER, REASON_OF, endReasonOf } from './messages.ts';

const LIMITS = { total: 50_000, perSubject: 20, hint: 'too_many_streams_in_session' } as const;
/** Changes waiting for a database read, and bytes waiting to be read, before a slow client is disconnected. */
const MAX_WAITING_READS = 100;
const MAX_WAITING_BYTES = 64 * 1024;

export interface Hub {
  /** Opens a stream that starts with a `session` snapshot. @throws {AppError} revoked, rate_limited, unavailable */
  open(followed: Followed): Promise<ReadableStream<Uint8Array>>;
  /** Sends events to the streams they concern, shortly afterwards and in order. */
  publish(events: readonly DomainEvent[]): void;
  /** Sends the present state of what events have changed, where these are noticed in no certain order or twice. */
  refresh(notices: readonly EventNotice[]): void;
  /** Sends the present state of everything to every stream, where notices are missing. */
  refreshAll(): void;
  /** Ends streams of ended sessions, without waiting for the background task that writes their ends. */
  recheck(ended: readonly SessionsEnded[]): void;
  /** Ends streams of these keys if they ended or got a new token. */
  recheckKeys(keyIds: readonly string[]): void;
  /** Ends the streams of a session or key if it has ended. */
  recheckCaller(credentialId: string, reason: string): void;
  /** Ids of the sessions and keys of all streams. */
  callers(): string[];
  applicationIds(): string[];
  isFollowed(notice: EventNotice): boolean;
  /** Sends a heartbeat. Verifies keys again: expiry and the end of what they depend on emit no event. */
  heartbeat(): Promise<void>;
  closeAll(): void;
  count(): number;
}

/** A message, or what becomes of the current identity, which is null once the session or key has ended. */
type Change = Uint8Array | ((identity: Envelope | null) => Outcome);

interface Outcome {
  readonly message: Uint8Array | null;
  readonly isLast?: boolean;
}

interface LiveStream extends StreamSource, Followed {
  readonly changes: Change[];
  waitingReads: number;
  waitingBytes: number;
}

/** @param envelopeOf returns null once the session or key has ended. @param budgetOf takes null for the console. */
export function hub(
  envelopeOf: (followed: Followed) => Promise<Envelope | null>,
  budgetOf: (workspaceId: string | null) => Promise<string>,
): Hub {
  const streams = streamHub<LiveStream>(LIMITS);

  /** Sends what has waited; a stream that was closed reads no identity any more. */
  async function* read(stream: LiveStream, state: { readonly isOpen: boolean }) {
    for (let change = stream.changes.shift(); change !== undefined; change = stream.changes.shift()) {
      if (typeof change !== 'function') {
        stream.waitingBytes -= change.byteLength;
        yield change;
        continue;
      }
      stream.waitingReads -= 1;
      if (!state.isOpen) continue;
      const { message, isLast = false } = change(await envelopeOf(stream));
      if (message !== null) yield message;
      if (isLast) return true;
      const pause = yieldIfLong();
      if (pause) await pause;
    }
    return false;
  }

  /** Queues a change behind all that wait, or disconnects a client that is too slow. */
  function queue(stream: LiveStream, change: Change): void {
    const isRead = typeof change === 'function';
    if (isRead ? stream.waitingReads >= MAX_WAITING_READS : stream.waitingBytes > MAX_WAITING_BYTES)
      return streams.close(stream);
    if (isRead) stream.waitingReads += 1;
    else stream.waitingBytes += change.byteLength;
    stream.changes.push(change);
    streams.wake([stream]);
  }

  /** Ends the stream if its session or key has ended. @param message sent otherwise. */
  function recheck(stream: LiveStream, reason: string, message: Uint8Array | null = null): void {
    queue(stream, (identity) =>
      identity === null ? { message: eventMessage('revoked', { reason }), isLast: true } : { message },
    );
  }

  function send(stream: LiveStream, event: ShownEvent): void {
    const sendNow = (name: string, data: object) => queue(stream, eventMessage(name, data));
    switch (event.type) {
      case 'user.role_added':
      case 'user.role_removed':
        return sendNow('roles', { roles: event.data.current });
      case 'user.scope_added':
      case 'user.scope_removed':
        return sendNow('scopes', { scopes: event.data.current });
      case 'user.membership_changed':
        return sendNow('memberships', { memberships: event.data.memberships });
      case 'user.profile_updated':
      case 'user.username_changed':
      case 'user.avatar_changed':
      case 'user.banner_changed':
      case 'user.identity_changed':
        return sendPresent(stream, (identity) => eventMessage('profile', identity));
      case 'user.signed_out':
      case 'user.session_revoked':
      case 'user.session_expired':
        if (event.data.sessionId === stream.credentialId) end(stream, endReasonOf(event));
        return;
      default:
        // Every event type is either handled here or listed as not shown in core/event.ts.
        event satisfies never;
    }
  }

  function sendPresent(stream: LiveStream, message: (identity: Envelope) => Uint8Array): void {
    queue(stream, (identity) => ({ message: identity && message(identity) }));
  }

  function refresh(
    stream: LiveStream,
    { type, sessionId, reason }: Pick<EventNotice, 'type' | 'sessionId' | 'reason'>,
  ): void {
    const message = MESSAGE_AFTER[type];
    if (message) return sendPresent(stream, message);
    // The reason of a ban is text that a person has written.
    const why = type === 'user.session_revoked' ? (reason ?? 'revoked') : REASON_OF[type];
    // Other events, such as a sign-in, end nothing.
    if (why === undefined) return;
    if (sessionId === null) return recheck(stream, stream.keyHash === null ? why : KEY_ENDED);
    if (sessionId === stream.credentialId) end(stream, why);
  }

  /** Ends a stream whose reader may have stopped reading. */
  function end(stream: LiveStream, reason: string): void {
    queue(stream, eventMessage('revoked', { reason }));
    streams.close(stream);
  }

  const of = (applicationId: string, userId: string | null) =>
    streams.of(userId === null ? applicationId : `${applicationId} ${userId}`);

  return {
    async open(followed) {
      const budgetId = await budgetOf(followed.workspaceId);
      const { applicationId, userId, credentialId } = followed;
      const stream: LiveStream = {
        ...followed,
        budgetId,
        subject: credentialId,
        topics: [applicationId, `${applicationId} ${userId}`],
        changes: [],
        waitingReads: 0,
        waitingBytes: 0,
        read: (state) => read(stream, state),
      };
      // Subscribes before reading: changes from here on follow the snapshot.
      const opened = streams.open(stream);
      try {
        const snapshot = await envelopeOf(followed);
        // The session or key may have ended since the caller was authenticated.
        if (snapshot === null) throw new AppError('revoked');
        const message = eventMessage('session', snapshot);
        stream.waitingBytes += message.byteLength;
        stream.changes.unshift(message);
        return opened;
      } catch (error) {
        streams.close(stream);
        throw error;
      }
    },

    publish(events) {
      if (streams.count() === 0) return;
      for (const event of lastOfEach(events.filter(isShown)))
        for (const stream of of(event.applicationId, event.data.userId)) send(stream, event);
      // A ban or pause also ends keys, without an event for each.
      for (const event of events.filter((event) => !isShown(event)))
        for (const stream of of(event.applicationId, event.data.userId))
          if (stream.keyHash !== null) recheck(stream, KEY_ENDED);
    },

    refresh(notices) {
      for (const { applicationId, userId, ...notice } of lastNotices(notices))
        if (userId !== null) for (const stream of of(applicationId, userId)) refresh(stream, notice);
    },

    refreshAll() {
      for (const stream of streams.all()) for (const message of ALL_MESSAGES) sendPresent(stream, message);
    },

    recheck(ended) {
      for (const { applicationId, userId, reason } of ended)
        for (const stream of of(applicationId, userId)) recheck(stream, reason);
    },

    recheckKeys(keyIds) {
      for (const keyId of keyIds) for (const stream of streams.of(keyId)) recheck(stream, KEY_ENDED);
    },

    recheckCaller(credentialId, reason) {
      for (const stream of streams.of(credentialId)) recheck(stream, stream.keyHash === null ? reason : KEY_ENDED);
    },

    callers: () => [...new Set(streams.all().map(({ credentialId }) => credentialId))],
    applicationIds: () => [...new Set(streams.all().map(({ applicationId }) => applicationId))],
    isFollowed: ({ applicationId, userId }) => userId !== null && streams.has(`${applicationId} ${userId}`),

    async heartbeat() {
      for (const stream of streams.all()) {
        if (stream.keyHash === null) queue(stream, HEARTBEAT);
        else recheck(stream, KEY_ENDED, HEARTBEAT);
        const pause = yieldIfLong();
        if (pause) await pause;
      }
    },

    closeAll: streams.closeAll,
    count: streams.count,
  };
}
