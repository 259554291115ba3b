/** Open event streams. Holds nothing that is not in the database: a listener that reconnects gets a full snapshot. */
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import { type DomainEvent, isShown, type ShownEvent } from '../../core/event.ts';
import { yieldIfLong } from '../../core/turn.ts';
import { eventMessage, HEARTBEAT } from '../../http/event-stream.ts';
import type { SessionsEnded } from '../../store/sessions.ts';
import type { Followed } from '../verification/service.ts';
import { type Listener, listeners } from './listeners.ts';

const MAX_PER_CREDENTIAL = 20;
const MAX_IN_ALL = 50_000;
/** Changes a listener may have queued before it is disconnected; on reconnect it gets a snapshot. */
const MAX_WAITING_CHANGES = 100;

/** Reason sent at the end of a key's stream. */
const KEY_ENDED = 'key_ended';

export interface Hub {
  /** Opens a stream that starts with a `session` snapshot. @throws {AppError} revoked, rate_limited, unavailable */
  open(followed: Followed): Promise<ReadableStream<Uint8Array>>;
  /** Sends events to their listeners; those that need a database read follow shortly after, in the same order. */
  publish(events: readonly DomainEvent[]): void;
  /** Ends streams of ended sessions, without waiting for the background task that writes their ends. */
  recheck(ended: readonly SessionsEnded[]): void;
  /** Ends streams of these keys if they ended or got a new token. */
  recheckKeys(keyIds: readonly string[]): void;
  /** Sends a heartbeat. Verifies keys again: expiry and the end of what they depend on emit no event. */
  heartbeat(): Promise<void>;
  closeAll(): void;
  count(): number;
}

/** A change that needs the current identity, which is null once the session or key has ended. */
interface Change {
  readonly listener: Listener;
  tell(identity: Envelope | null): void;
}

/**
 * @param envelopeOf returns the current identity of a session or key; null once it has ended.
 * @param budgetOf returns a workspace's budget; null is the console.
 */
export function hub(
  envelopeOf: (followed: Followed) => Promise<Envelope | null>,
  budgetOf: (workspaceId: string | null) => Promise<string>,
): Hub {
  const open = listeners(MAX_IN_ALL);
  let changes: Change[] = [];
  let isCatchingUp = false;

  /** Queues a change behind all pending ones, so that a listener gets its changes in order. */
  function tellLater(change: Change): void {
    const { listener } = change;
    if (listener.waiting >= MAX_WAITING_CHANGES) return open.close(listener);
    listener.waiting += 1;
    changes.push(change);
    if (isCatchingUp) return;
    isCatchingUp = true;
    setImmediate(() => void catchUp());
  }

  async function catchUp(): Promise<void> {
    while (changes.length > 0) {
      const waiting = changes;
      changes = [];
      for (const { listener, tell } of waiting) {
        listener.waiting -= 1;
        if (!open.has(listener)) continue;
        try {
          tell(await envelopeOf(listener));
        } catch {
          // The client reconnects and gets a snapshot.
          open.close(listener);
        }
        await yieldIfLong();
      }
    }
    isCatchingUp = false;
  }

  /** Sends at once, unless the listener has pending changes. */
  function tellInOrder(listener: Listener, tell: () => void): void {
    if (listener.waiting === 0) tell();
    else tellLater({ listener, tell });
  }

  function end(listener: Listener, reason: string): void {
    open.send(listener, eventMessage('revoked', { reason }));
    open.close(listener);
  }

  /** @param goOn called if the key is still valid. */
  function recheckKey(listener: Listener, goOn: () => void): void {
    tellLater({ listener, tell: (identity) => (identity === null ? end(listener, KEY_ENDED) : goOn()) });
  }

  function tell(listener: Listener, event: ShownEvent): void {
    const send = (name: string, data: object) =>
      tellInOrder(listener, () => open.send(listener, eventMessage(name, data)));
    switch (event.type) {
      case 'user.role_added':
      case 'user.role_removed':
        return send('roles', { roles: event.data.current });
      case 'user.scope_added':
      case 'user.scope_removed':
        return send('scopes', { scopes: event.data.current });
      case 'user.membership_changed':
        return send('memberships', { memberships: event.data.memberships });
      case 'user.profile_updated':
      case 'user.username_changed':
      case 'user.avatar_changed':
      case 'user.banner_changed':
      case 'user.identity_changed':
        return tellLater({
          listener,
          tell: (identity) => void (identity && open.send(listener, eventMessage('profile', identity))),
        });
      case 'user.signed_out':
      case 'user.session_revoked':
      case 'user.session_expired':
        if (event.data.sessionId === listener.credentialId) tellInOrder(listener, () => end(listener, endingOf(event)));
        return;
      default:
        // Every event type is either handled here or listed as not shown in core/event.ts.
        event satisfies never;
    }
  }

  return {
    async open(followed) {
      const budgetId = await budgetOf(followed.workspaceId);
      if (open.ofCredential(followed.credentialId).length >= MAX_PER_CREDENTIAL)
        throw new AppError('rate_limited', { hint: 'too_many_streams_in_session', retryAfterSeconds: 15 });
      // Subscribes before reading: changes from here on follow the snapshot.
      const listener = open.add({ ...followed, budgetId });
      const snapshot = await envelopeOf(followed).catch((error: unknown) => {
        open.close(listener);
        throw error;
      });
      // The session or key may have ended since the caller was authenticated.
      if (snapshot === null) {
        open.close(listener);
        throw new AppError('revoked');
      }
      return open.stream(listener, eventMessage('session', snapshot));
    },

    publish(events) {
      if (open.count() === 0) return;
      for (const event of lastOfEach(events.filter(isShown)))
        for (const listener of open.of(event.applicationId, event.data.userId)) tell(listener, event);
      // A ban or pause also ends keys, without an event for each.
      for (const event of events.filter((event) => !isShown(event)))
        for (const listener of open.of(event.applicationId, event.data.userId))
          if (listener.keyHash !== null) recheckKey(listener, () => {});
    },

    recheck(ended) {
      if (open.count() === 0) return;
      for (const { applicationId, userId, reason } of ended)
        for (const listener of open.of(applicationId, userId))
          tellLater({ listener, tell: (identity) => void (identity === null && end(listener, reason)) });
    },

    recheckKeys(keyIds) {
      if (open.count() === 0) return;
      for (const keyId of keyIds) for (const listener of open.ofCredential(keyId)) recheckKey(listener, () => {});
    },

    async heartbeat() {
      for (const listener of open.all()) {
        if (listener.keyHash === null) open.send(listener, HEARTBEAT);
        else recheckKey(listener, () => open.send(listener, HEARTBEAT));
        const pause = yieldIfLong();
        if (pause) await pause;
      }
    },

    closeAll() {
      for (const listener of open.all()) open.close(listener);
    },

    count: () => open.count(),
  };
}

/** Removes duplicates: a change that both adds and removes makes two events with the same outcome. */
function lastOfEach(events: readonly ShownEvent[]): ShownEvent[] {
  const said = new Set<string>();
  const isNew = ({ type, applicationId, data }: ShownEvent) => {
    if (!('current' in data)) return true;
    const outcome = [type.replace(/_(?:added|removed)$/, ''), applicationId, data.userId, ...data.current].join(' ');
    return !said.has(outcome) && said.add(outcome);
  };
  return events.toReversed().filter(isNew).toReversed();
}

function endingOf(
  event: Extract<DomainEvent, { type: 'user.signed_out' | 'user.session_revoked' | 'user.session_expired' }>,
) {
  if (event.type === 'user.session_revoked') return event.data.reason;
  return event.type === 'user.signed_out' ? 'signed_out' : 'expired';
}
