/** Reads request bodies within the limits on memory and time that all requests of an instance share. */
import type { AnyPrincipal } from './authenticate.ts';
import { declaredBytes, MAX_ANONYMOUS_BYTES, MAX_JSON_BYTES, parseSmallBody, readLongBody } from './body.ts';
import { bodyPool, bufferedBytes, RELEASED, SMALL_BODY_BYTES } from './body-pool.ts';
import type { LimitSettings } from './limits.ts';
import type { RequestContext } from './request-context.ts';
import { type BodyUse, Reading, ReadingValue, slowBodies, type SlowBodyLimits } from './slow-bodies.ts';

const MIB = 1024 * 1024;

/** Share of the pool that one authenticated caller may hold, so that no tenant can exhaust it. */
const CALLERS_SHARE = 1 / 4;

/** A body that takes longer leaves time for a ban, a revocation or a lost role. */
const SLOW_BODY_MS = 20;

/** Returns whether the caller of a request must be judged again, now that its body is read. */
export function isStale({ startedAt }: RequestContext): boolean {
  return performance.now() - startedAt > SLOW_BODY_MS;
}

export interface BodyReader {
  /**
   * Reads and parses a body, which counts against the pool until `release`.
   *
   * @param caller null without a credential: such bodies are smaller, and share a pool of their own.
   * @throws {AppError} payload_too_large, unsupported_media_type, invalid_request, request_timeout, rate_limited,
   * unavailable
   */
  read(context: RequestContext, caller: AnyPrincipal | null, isFormAccepted?: boolean): Promise<unknown>;
  /** Works like `read`, and resolves with what `use` makes of the body, or of the error. */
  readFor<Given, Result>(
    context: RequestContext,
    caller: AnyPrincipal | null,
    isFormAccepted: boolean,
    use: BodyUse<unknown, Given, Result>,
    given: Given,
  ): Promise<Result>;
  /** Counts an unread body, which Bun buffers until the answer. @throws {AppError} unavailable */
  leave(context: RequestContext, caller: AnyPrincipal | null): void;
  /** Releases what a request holds. The rest of its body is refused. */
  release(context: RequestContext): void;
}

const AS_IT_IS: BodyUse<unknown, null, unknown> = {
  taken: (body) => body,
  failed(error) {
    throw error;
  },
};

/** A small body, which is read as text. */
class ReadingSmall<Given, Result> extends Reading<string, unknown, Given, Result> {
  constructor(
    private readonly context: RequestContext,
    private readonly declared: number,
    private readonly isFormAccepted: boolean,
    use: BodyUse<unknown, Given, Result>,
    given: Given,
  ) {
    super(context, use, given);
  }

  protected bodyOf(text: string): unknown {
    return parseSmallBody(this.context.request, text, this.declared, this.isFormAccepted);
  }
}

export type BodyLimits = SlowBodyLimits & Pick<LimitSettings, 'anonymousBodiesMib' | 'authenticatedBodiesMib'>;

export function bodyReader(limits: BodyLimits): BodyReader {
  const slow = slowBodies(limits);
  const anonymous = bodyPool(limits.anonymousBodiesMib * MIB);
  const inAll = limits.authenticatedBodiesMib * MIB;
  const authenticated = bodyPool(inAll, Math.max(inAll * CALLERS_SHARE, MAX_JSON_BYTES));

  function take(context: RequestContext, caller: AnyPrincipal | null, bytes: number): void {
    context.bodyHold ??= caller === null ? anonymous.open() : authenticated.open(subjectOf(caller));
    context.bodyHold.take(bytes);
  }

  function readLong(context: RequestContext, caller: AnyPrincipal | null, isFormAccepted: boolean): Promise<unknown> {
    const maxBytes = caller === null ? MAX_ANONYMOUS_BYTES : MAX_JSON_BYTES;
    return readLongBody(context.request, isFormAccepted, maxBytes, (bytes) => take(context, caller, bytes));
  }

  const readFor: BodyReader['readFor'] = <Given, Result>(
    context: RequestContext,
    caller: AnyPrincipal | null,
    isFormAccepted: boolean,
    use: BodyUse<unknown, Given, Result>,
    given: Given,
  ) => {
    // The operation may read a body itself that was counted as unread.
    context.bodyHold?.release();
    context.bodyHold = null;
    const { request } = context;
    const declared = declaredBytes(request);
    if (!(declared <= SMALL_BODY_BYTES))
      return slow.watch(readLong(context, caller, isFormAccepted), new ReadingValue(context, use, given));
    return slow.watch(request.text(), new ReadingSmall(context, declared, isFormAccepted, use, given));
  };

  return {
    readFor,
    read: (context, caller, isFormAccepted = false) => readFor(context, caller, isFormAccepted, AS_IT_IS, null),
    leave(context, caller) {
      const bytes = bufferedBytes(context.request);
      if (bytes > 0) take(context, caller, bytes);
    },
    release(context) {
      context.bodyHold?.release();
      context.bodyHold = RELEASED;
    },
  };
}

/** Returns the subject of the share: the workspace for all its keys, the person for all their sessions and keys. */
function subjectOf(caller: AnyPrincipal): string {
  return caller.kind === 'key' || caller.kind === 'client' ? caller.workspaceId : caller.userId;
}
