/**
 * Open event streams: who listens for which session, and what of the events after a commit concerns them. Holds nothing
 * that is not also in the database: a listener that comes back is told the whole state first.
 */
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import { type DomainEvent, isShown, type ShownEvent } from '../../core/event.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { yieldIfLong } from '../../core/turn.ts';
import { eventMessage, HEARTBEAT } from '../../http/event-stream.ts';
import type { SessionsEnded } from '../../store/sessions.ts';
import { type Listener, listeners } from './listeners.ts';

const MAX_PER_SESSION = 20;
const MAX_IN_ALL = 50_000;
/** Changes of one listener that may wait to be looked up before it is let go; it can come back and be told all. */
const MAX_WAITING_CHANGES = 100;

/** The open streams of this process. */
export interface Hub {
  /** A stream of one session's changes, beginning with a `session` snapshot. @throws {AppError} revoked, rate_limited, unavailable */
  open(principal: SessionPrincipal): Promise<ReadableStream<Uint8Array>>;
  /** Tells what concerns listeners; what takes a look at the database comes a moment later, in the same order. */
  publish(events: readonly DomainEvent[]): void;
  /** Ends the streams whose sessions are over, before the trail of their ends has come to them. */
  recheck(ended: readonly SessionsEnded[]): void;
  heartbeat(): Promise<void>;
  closeAll(): void;
  count(): number;
}

/** Something to be told to a listener that takes its session's identity of now; null when that is over. */
interface Change {
  readonly listener: Listener;
  tell(identity: Envelope | null): void;
}

/**
 * @param envelopeOf the live identity behind a session; null when it is over.
 * @param budgetOf the budget that a workspace uses; null stands for the console.
 */
export function hub(
  envelopeOf: (sessionId: string) => Promise<Envelope | null>,
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
          tell(await envelopeOf(listener.sessionId));
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
        if (event.data.sessionId === listener.sessionId) tellInOrder(listener, () => end(listener, endingOf(event)));
        return;
      default:
        // Said here, or named among those that no stream shows, in core/event.ts.
        event satisfies never;
    }
  }

  return {
    async open({ applicationId, workspaceId, userId, sessionId }) {
      const budgetId = await budgetOf(workspaceId);
      if (open.ofSession(applicationId, userId, sessionId) >= MAX_PER_SESSION)
        throw new AppError('rate_limited', { hint: 'too_many_streams_in_session', retryAfterSeconds: 15 });
      // It listens before it looks: whatever changes from here on is told behind the snapshot.
      const listener = open.add({ applicationId, userId, sessionId, budgetId });
      const snapshot = await envelopeOf(sessionId).catch((error: unknown) => {
        open.close(listener);
        throw error;
      });
      // The session may have ended since the caller was looked at.
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
    },

    recheck(ended) {
      if (open.count() === 0) return;
      for (const { applicationId, userId, reason } of ended)
        for (const listener of open.of(applicationId, userId))
          tellLater({ listener, tell: (identity) => void (identity === null && end(listener, reason)) });
    },

    async heartbeat() {
      for (const listener of open.all()) {
        open.send(listener, HEARTBEAT);
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
