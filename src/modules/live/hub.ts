/**
 * Open event streams: who listens for which session or key, and what of the events after a commit concerns them. Holds
 * nothing that is not also in the database: a listener that comes back is told the whole state first.
 */
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
/** Changes of one listener that may wait to be looked up before it is let go; it can come back and be told all. */
const MAX_WAITING_CHANGES = 100;

/** The reason told at the end of a key's stream. */
const KEY_ENDED = 'key_ended';

/** The open streams of this process. */
export interface Hub {
  /**
   * Opens a stream of the changes of one session or key, beginning with a `session` snapshot.
   *
   * @throws {AppError} revoked, rate_limited, unavailable
   */
  open(followed: Followed): Promise<ReadableStream<Uint8Array>>;
  /** Tells what concerns listeners; what takes a look at the database comes a moment later, in the same order. */
  publish(events: readonly DomainEvent[]): void;
  /** Ends the streams whose sessions are over, before the trail of their ends has come to them. */
  recheck(ended: readonly SessionsEnded[]): void;
  /** Ends the streams of these keys that are over, or have another token by now. */
  recheckKeys(keyIds: readonly string[]): void;
  /** Says that the stream lives. A key is judged again: it can end by time, or by what it rests on, unannounced. */
  heartbeat(): Promise<void>;
  closeAll(): void;
  count(): number;
}

/** Something to be told to a listener that takes the identity of now; null when the session or key is over. */
interface Change {
  readonly listener: Listener;
  tell(identity: Envelope | null): void;
}

/**
 * @param envelopeOf the live identity behind a session or key; null when it is over.
 * @param budgetOf the budget that a workspace uses; null stands for the console.
 */
export function hub(
  envelopeOf: (followed: Followed) => Promise<Envelope | null>,
  budgetOf: (workspaceId: string | null) => Promise<string>,
): Hub {
  const open = listeners(MAX_IN_ALL);
  let changes: Change[] = [];
  let isCatchingUp = false;

  /** Behind all that waits already: a listener is told its changes in order. */
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
          // It comes back, and is told the whole state.
          open.close(listener);
        }
        await yieldIfLong();
      }
    }
    isCatchingUp = false;
  }

  /** At once, unless something for the same listener waits already. */
  function tellInOrder(listener: Listener, tell: () => void): void {
    if (listener.waiting === 0) tell();
    else tellLater({ listener, tell });
  }

  function end(listener: Listener, reason: string): void {
    open.send(listener, eventMessage('revoked', { reason }));
    open.close(listener);
  }

  /** @param goOn called where the key is good. */
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
        // Said here, or named among those that no stream shows, in core/event.ts.
        event satisfies never;
    }
  }

  return {
    async open(followed) {
      const budgetId = await budgetOf(followed.workspaceId);
      if (open.ofCredential(followed.credentialId).length >= MAX_PER_CREDENTIAL)
        throw new AppError('rate_limited', { hint: 'too_many_streams_in_session', retryAfterSeconds: 15 });
      // It listens before it looks: whatever changes from here on is told behind the snapshot.
      const listener = open.add({ ...followed, budgetId });
      const snapshot = await envelopeOf(followed).catch((error: unknown) => {
        open.close(listener);
        throw error;
      });
      // The session or key may have ended since the caller was looked at.
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
      // A ban or a pause ends keys too, and no event says so of each.
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

/** A change that gives and takes makes two events with the same outcome; a stream says it once. */
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
