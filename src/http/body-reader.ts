/** Reads request bodies within the limits on memory and time that all requests of an instance share. */
import type { AnyPrincipal } from './authenticate.ts';
import { MAX_JSON_BYTES, MAX_STRANGERS_BYTES, readBodyOf } from './body.ts';
import { bodyRoom, bufferedBytes } from './body-room.ts';
import type { LimitSettings } from './limits.ts';
import type { RequestContext } from './request-context.ts';
import { slowBodies, type SlowBodyLimits } from './slow-bodies.ts';

const MIB = 1024 * 1024;

/** One caller holds at most this part of the callers' room, so that no tenant keeps the others out. */
const CALLERS_SHARE = 1 / 4;

export interface BodyReader {
  /**
   * Reads and parses a body. What it holds is released with the context's `bodyHold`, after the answer.
   *
   * @param caller null for anybody who has shown no credential, whose bodies are smaller and share a room of their own.
   * @throws {AppError} payload_too_large, unsupported_media_type, invalid_request, request_timeout, rate_limited, unavailable
   */
  read(context: RequestContext, caller: AnyPrincipal | null, isFormAccepted?: boolean): Promise<unknown>;
  /**
   * Accounts for the body of an operation that reads none: the runtime buffers it until the answer.
   *
   * @throws {AppError} unavailable
   */
  leave(context: RequestContext, caller: AnyPrincipal | null): void;
}

export type BodyLimits = SlowBodyLimits & Pick<LimitSettings, 'strangersBodiesMib' | 'callersBodiesMib'>;

export function bodyReader(limits: BodyLimits): BodyReader {
  const slow = slowBodies(limits);
  const strangers = bodyRoom(limits.strangersBodiesMib * MIB);
  const inAll = limits.callersBodiesMib * MIB;
  const callers = bodyRoom(inAll, Math.max(inAll * CALLERS_SHARE, MAX_JSON_BYTES));

  /** Replaces what the request holds: an operation may read a body that was accounted for as unread. */
  function take(context: RequestContext, caller: AnyPrincipal | null, bytes: number): void {
    context.bodyHold ??= caller === null ? strangers.open() : callers.open(subjectOf(caller));
    context.bodyHold.take(bytes);
  }

  return {
    read(context, caller, isFormAccepted = false) {
      context.bodyHold?.release();
      context.bodyHold = null;
      const maxBytes = caller === null ? MAX_STRANGERS_BYTES : MAX_JSON_BYTES;
      const hold = (bytes: number) => take(context, caller, bytes);
      return slow.watch(readBodyOf(context.request, isFormAccepted, maxBytes, hold), context);
    },
    leave(context, caller) {
      const bytes = bufferedBytes(context.request);
      if (bytes > 0) take(context, caller, bytes);
    },
  };
}

/** A workspace for all of its keys, and a person for all of their sessions and keys. */
function subjectOf(caller: AnyPrincipal): string {
  return caller.kind === 'key' || caller.kind === 'client' ? caller.workspaceId : caller.userId;
}
