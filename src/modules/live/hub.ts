/**
 * Open event streams: who listens for which session, and what of the events after a commit concerns them. Holds nothing
 * that is not also in the database: a listener that comes back is told the whole state first.
 */
import { AppError } from '../../core/error.ts';
import type { Envelope } from '../../core/envelope.ts';
import type { DomainEvent } from '../../core/event.ts';
import type { SessionPrincipal } from '../../core/principal.ts';

/** How much may wait for a slow reader before it is let go; it can come back and be told the whole state. */
const MAX_WAITING_BYTES = 64 * 1024;
const MAX_PER_SESSION = 20;
const MAX_IN_ALL = 50_000;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(': heartbeat\n\n');

interface Listener {
  readonly sessionId: string;
  readonly person: string;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

export interface Hub {
  /** A stream of one session's changes, beginning with a `session` snapshot. @throws {AppError} revoked, rate_limited, unavailable */
  open(principal: SessionPrincipal): ReadableStream<Uint8Array>;
  publish(events: readonly DomainEvent[]): void;
  heartbeat(): void;
  closeAll(): void;
  count(): number;
}

/** @param envelopeOf the live identity behind a session; null when it is over. */
export function hub(envelopeOf: (sessionId: string) => Envelope | null): Hub {
  const byPerson = new Map<string, Set<Listener>>();
  let total = 0;

  function add(listener: Listener): void {
    let listeners = byPerson.get(listener.person);
    if (!listeners) byPerson.set(listener.person, (listeners = new Set()));
    listeners.add(listener);
    total += 1;
  }

  function remove(listener: Listener): void {
    const listeners = byPerson.get(listener.person);
    if (!listeners?.delete(listener)) return;
    total -= 1;
    if (listeners.size === 0) byPerson.delete(listener.person);
  }

  function close(listener: Listener): void {
    remove(listener);
    try {
      listener.controller.close();
    } catch {
      // The reader has gone already.
    }
  }

  function send(listener: Listener, bytes: Uint8Array): void {
    try {
      if ((listener.controller.desiredSize ?? 0) < -MAX_WAITING_BYTES) close(listener);
      else listener.controller.enqueue(bytes);
    } catch {
      remove(listener);
    }
  }

  function tell(listener: Listener, event: DomainEvent): void {
    switch (event.type) {
      case 'user.role_added':
      case 'user.role_removed':
        return send(listener, message('roles', { roles: event.data.current }));
      case 'user.scope_added':
      case 'user.scope_removed':
        return send(listener, message('scopes', { scopes: event.data.current }));
      case 'user.membership_changed':
        return send(listener, message('memberships', { memberships: event.data.memberships }));
      case 'user.profile_updated':
      case 'user.username_changed':
      case 'user.avatar_changed':
      case 'user.banner_changed':
      case 'user.identity_changed': {
        const envelope = envelopeOf(listener.sessionId);
        return envelope === null ? undefined : send(listener, message('profile', envelope));
      }
      case 'user.signed_out':
      case 'user.session_revoked':
      case 'user.session_expired': {
        if (event.data.sessionId !== listener.sessionId) return;
        send(listener, message('revoked', { reason: endingOf(event) }));
        return close(listener);
      }
    }
  }

  return {
    open(principal) {
      const person = `${principal.applicationId} ${principal.userId}`;
      const ofSession = [...(byPerson.get(person) ?? [])].filter(({ sessionId }) => sessionId === principal.sessionId);
      if (ofSession.length >= MAX_PER_SESSION)
        throw new AppError('rate_limited', {
          message: 'This session has too many open streams.',
          retryAfterSeconds: 15,
        });
      if (total >= MAX_IN_ALL)
        throw new AppError('unavailable', { message: 'Too many open streams; try again later.' });
      // The session may have ended since it was looked at: from here to the listener nothing can come between.
      const snapshot = envelopeOf(principal.sessionId);
      if (snapshot === null) throw new AppError('revoked');
      let listener: Listener;
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            listener = { sessionId: principal.sessionId, person, controller };
            add(listener);
            send(listener, message('session', snapshot));
          },
          cancel() {
            remove(listener);
          },
        },
        { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
      );
    },

    publish(events) {
      if (total === 0) return;
      for (const event of events)
        for (const listener of [...(byPerson.get(`${event.applicationId} ${event.data.userId}`) ?? [])])
          tell(listener, event);
    },

    heartbeat() {
      for (const listeners of byPerson.values()) for (const listener of [...listeners]) send(listener, HEARTBEAT);
    },

    closeAll() {
      for (const listeners of [...byPerson.values()]) for (const listener of [...listeners]) close(listener);
    },

    count: () => total,
  };
}

/** One message of an event stream (WHATWG HTML §9.2). */
function message(name: string, data: object): Uint8Array {
  return encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

function endingOf(
  event: Extract<DomainEvent, { type: 'user.signed_out' | 'user.session_revoked' | 'user.session_expired' }>,
) {
  if (event.type === 'user.session_revoked') return event.data.reason;
  return event.type === 'user.signed_out' ? 'signed_out' : 'expired';
}
