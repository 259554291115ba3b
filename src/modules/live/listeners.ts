/** Open streams by application and person, with their write buffers. What they get is decided by the hub. */

import { streamShares } from '../../http/stream-shares.ts';
import type { Followed } from '../verification/service.ts';

/** Bytes buffered for a slow reader before it is disconnected; on reconnect it gets a snapshot. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Messages buffered until a stream's first message. */
const MAX_EARLY = 100;

/** The followed session or key, and the budget that its stream counts against. */
interface Whose extends Followed {
  readonly budgetId: string;
}

export interface Listener extends Whose {
  /** Queued changes that need a database read. */
  waiting: number;
}

interface Stream extends Listener {
  /** Null until the stream starts; messages sent before follow its first message. */
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  early: Uint8Array[];
}

export interface Listeners {
  /** @throws {AppError} unavailable at the limit, unless a budget with more streams gives one up. */
  add(whose: Whose): Listener;
  /** Returns the listener's stream, starting with its first message. */
  stream(listener: Listener, first: Uint8Array): ReadableStream<Uint8Array>;
  /** Sends, or disconnects a reader that is too slow. */
  send(listener: Listener, bytes: Uint8Array): void;
  close(listener: Listener): void;
  has(listener: Listener): boolean;
  /** @param userId null for everyone in the application. */
  of(applicationId: string, userId: string | null): Listener[];
  ofCredential(credentialId: string): Listener[];
  all(): Listener[];
  count(): number;
}

/** Drops a listener that cannot be written to; no call throws for it. @param max total number of listeners. */
export function listeners(max: number): Listeners {
  const open = new Map<string, Map<string, Set<Stream>>>();
  const shares = streamShares<Stream>(max, close);
  const byCredential = new Map<string, Set<Stream>>();

  const setOf = ({ applicationId, userId }: Followed) => open.get(applicationId)?.get(userId);

  function remove(listener: Listener): void {
    const { applicationId, userId } = listener;
    const people = open.get(applicationId);
    const streams = people?.get(userId);
    if (!people || !streams?.delete(listener as Stream)) return;
    shares.remove(listener as Stream);
    const same = byCredential.get(listener.credentialId);
    same?.delete(listener as Stream);
    if (same?.size === 0) byCredential.delete(listener.credentialId);
    if (streams.size === 0) people.delete(userId);
    if (people.size === 0) open.delete(applicationId);
  }

  function close(listener: Listener): void {
    remove(listener);
    try {
      (listener as Stream).controller?.close();
    } catch {
      // The reader has gone already.
    }
  }

  function send(listener: Listener, bytes: Uint8Array): void {
    const { controller, early } = listener as Stream;
    if (controller === null) return early.length < MAX_EARLY ? void early.push(bytes) : close(listener);
    try {
      if ((controller.desiredSize ?? 0) < -MAX_WAITING_BYTES) close(listener);
      else controller.enqueue(bytes);
    } catch {
      remove(listener);
    }
  }

  return {
    add(whose) {
      const { applicationId, userId, credentialId } = whose;
      const listener: Stream = { ...whose, waiting: 0, controller: null, early: [] };
      shares.add(listener);
      const people = open.get(applicationId) ?? new Map<string, Set<Stream>>();
      open.set(applicationId, people);
      people.set(userId, (people.get(userId) ?? new Set<Stream>()).add(listener));
      byCredential.set(credentialId, (byCredential.get(credentialId) ?? new Set<Stream>()).add(listener));
      return listener;
    },
    stream(listener, first) {
      const own = listener as Stream;
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const wasClosed = !setOf(own)?.has(own);
            own.controller = controller;
            for (const bytes of [first, ...own.early.splice(0)]) send(own, bytes);
            if (wasClosed) close(own);
          },
          cancel: () => remove(own),
        },
        { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
      );
    },
    send,
    close,
    has: (listener) => setOf(listener)?.has(listener as Stream) ?? false,
    of(applicationId, userId) {
      const people = open.get(applicationId);
      if (userId !== null) return [...(people?.get(userId) ?? [])];
      return [...(people?.values() ?? [])].flatMap((streams) => [...streams]);
    },
    ofCredential: (credentialId) => [...(byCredential.get(credentialId) ?? [])],
    all: () => [...open.values()].flatMap((people) => [...people.values()].flatMap((streams) => [...streams])),
    count: shares.count,
  };
}
