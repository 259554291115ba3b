/**
 * Answers what backends ask for each request of theirs, and supervisors every second: verification, introspection and
 * the health check. It takes the steps of `pipeline.ts` in the same order and with the same parts, but without router,
 * target, query and upload, and with no promise but that of the body where the database answers at once.
 * A request that is not one of them gets null, before anything of it is read or counted.
 */
import type { MaybePromise } from '../core/maybe-promise.ts';
import type { Author, Reader } from '../db/database.ts';
import type { NoteAnswer } from './access-log.ts';
import { answerHeaders } from './answer-headers.ts';
import type { AnyPrincipal, Authenticator, Lookup } from './authenticate.ts';
import { type BodyReader, isStale } from './body-reader.ts';
import { jsonResponse } from './compression.ts';
import { allowOrigin, isForBrowsers } from './cors.ts';
import type { ErrorMapper } from './errors.ts';
import { LIMIT_CLASSES } from './limits.ts';
import { type Call, isOfClients, type Operation, type Scope } from './operation.ts';
import { BUSY_PATHS, type Seen, type Settle } from './raw-path.ts';
import type { ContextFactory, PeerAddress, RequestContext } from './request-context.ts';
import type { BodyUse } from './slow-bodies.ts';
import { type Validator, validator } from './validate.ts';

export interface ShortPathDependencies {
  /** All operations of the server; it takes those at `BUSY_PATHS`. */
  readonly operations: readonly Operation[];
  /** Returns false for a `Host` that is not this server's (`host-check.ts`): the general pipeline refuses it. */
  readonly isForUs: (request: Request) => boolean;
  readonly createContext: ContextFactory;
  readonly authenticate: Authenticator;
  readonly reader: Reader;
  readonly bodies: BodyReader;
  readonly respondToError: ErrorMapper;
  readonly noteAnswer: NoteAnswer;
  /** Called once with each answer, in place of a promise around it. By default the answer is returned as it is. */
  readonly settle?: Settle;
}

/**
 * Returns null where the general pipeline must answer. Never throws.
 *
 * @param peer looks up the address of the TCP peer, if it is needed.
 * @param seen how the listener saw the path: only a raw path that matches exactly is answered.
 */
export type ShortPath = (request: Request, peer: PeerAddress, seen: Seen) => MaybePromise<Response> | null;

/** An operation, with what is worked out of it once. */
interface Endpoint {
  readonly operation: Operation;
  readonly validate: Validator<NonNullable<Operation['body']>> | undefined;
  /** Whether browsers may read the answer (CORS). */
  readonly isOpen: boolean;
  /** Whether the client address is needed for a refusal only. */
  readonly isAddressLate: boolean;
}

/** A request with all that its steps need, in one object. */
class Asked implements Lookup {
  isCounted = true;
  sent: unknown = undefined;
  /** Set while the body is read. */
  caller: AnyPrincipal | null = null;
  body: unknown = undefined;

  constructor(
    readonly endpoint: Endpoint,
    readonly context: RequestContext,
    readonly reader: Reader,
  ) {}
}

type Step<Value> = (asked: Asked, value: Value) => MaybePromise<Response>;

type AnyCall = Call<never, Scope, string, unknown, unknown, unknown>;

/** These operations change nothing, so a change in their name is refused. */
const NO_ACTOR: Author = {
  type: 'anonymous',
  userId: null,
  apiKeyId: null,
  requestId: null,
  ip: null,
  ipCountry: null,
  confirm: () => Promise.reject(new Error('an operation of the short path changes data')),
};

const NO_PARAMS = {};

export function shortPath(dependencies: ShortPathDependencies): ShortPath {
  const { isForUs, createContext, authenticate, reader, bodies, respondToError, noteAnswer } = dependencies;
  const { settle = (_, answer) => answer } = dependencies;
  const endpoints = endpointsOf(dependencies.operations);
  const headersOf = answerHeaders();

  const callerOf = (asked: Asked) => authenticate(asked.endpoint.operation.access, asked);

  /** Judges a caller again who was counted before. */
  function callerAgain(asked: Asked): ReturnType<typeof callerOf> {
    asked.isCounted = false;
    return callerOf(asked);
  }

  /** Takes a step once what it needs is there. Resolves with refusals too. */
  async function later<Value>(asked: Asked, value: Promise<Value>, step: Step<Value>): Promise<Response> {
    try {
      return await step(asked, await value);
    } catch (error) {
      return refused(asked, error);
    }
  }

  function answer(asked: Asked): MaybePromise<Response> {
    const caller = callerOf(asked);
    return caller instanceof Promise ? later(asked, caller, answerTo) : answerTo(asked, caller);
  }

  function answerTo(asked: Asked, caller: AnyPrincipal | null): MaybePromise<Response> {
    const { endpoint, context } = asked;
    if (endpoint.validate === undefined) return handled(asked, caller);
    asked.caller = caller;
    return bodies.readFor(context, caller, endpoint.operation.isFormAccepted ?? false, withBody, asked);
  }

  const withBody: BodyUse<unknown, Asked, Response> = {
    taken(sent, asked) {
      asked.body = asked.endpoint.validate?.(sent);
      if (!isStale(asked.context)) return handled(asked, asked.caller);
      const caller = callerAgain(asked);
      return caller instanceof Promise ? later(asked, caller, handled) : handled(asked, caller);
    },
    failed: (error, asked) => refused(asked, error),
  };

  /** Reads the body first, as it may hold the credential; what is wrong with it is reported after authentication. */
  async function answerClient(asked: Asked): Promise<Response> {
    const { endpoint, context } = asked;
    try {
      const reading = bodies.read(context, null, endpoint.operation.isFormAccepted);
      asked.sent = await reading.catch(() => undefined);
      const caller = await callerOf(asked);
      asked.body = endpoint.validate?.(await reading);
      return await handled(asked, isStale(context) ? await callerAgain(asked) : caller);
    } catch (error) {
      return refused(asked, error);
    }
  }

  function handled(asked: Asked, principal: AnyPrincipal | null): MaybePromise<Response> {
    const call = {
      actor: NO_ACTOR,
      application: null,
      workspaceId: null,
      params: NO_PARAMS,
      query: undefined,
      file: undefined,
      principal,
      body: asked.body,
      context: asked.context,
    } as AnyCall;
    const result = asked.endpoint.operation.handle(call);
    return result instanceof Promise ? later(asked, result, answered) : answered(asked, result);
  }

  function answered(asked: Asked, result: unknown): MaybePromise<Response> {
    const response = jsonResponse(asked.context, result, headersOf);
    return response instanceof Promise ? later(asked, response, finished) : finished(asked, response);
  }

  function finished({ endpoint, context }: Asked, response: Response): MaybePromise<Response> {
    bodies.release(context);
    if (endpoint.isOpen) allowOrigin(context.request, response);
    noteAnswer(context, endpoint.operation.path, response.status);
    return settle(context.request, response);
  }

  function refused(asked: Asked, error: unknown): MaybePromise<Response> {
    const { endpoint, context } = asked;
    return finished(asked, respondToError(error, context, endpoint.operation.style ?? 'envelope'));
  }

  return (request, peer, seen) => {
    const endpoint = endpoints.get(seen);
    if (endpoint?.operation.method !== request.method || !isForUs(request)) return null;
    const asked = new Asked(endpoint, createContext(request, endpoint.isAddressLate, peer), reader);
    if (isOfClients(endpoint.operation.access)) return answerClient(asked);
    try {
      return answer(asked);
    } catch (error) {
      return refused(asked, error);
    }
  };
}

function endpointsOf(operations: readonly Operation[]): ReadonlyMap<Seen, Endpoint> {
  const endpoints = new Map<Seen, Endpoint>();
  for (const path of BUSY_PATHS)
    for (const operation of operations)
      if (operation.path === path && isShort(operation)) endpoints.set(path, endpointOf(operation));
  return endpoints;
}

/** Returns whether an operation takes no step but those here. */
export function isShort({ method, access, scope, style, limit, query, upload, mediaType }: Operation): boolean {
  const isPlain = scope === 'instance' && style !== undefined && style !== 'envelope' && style !== 'page';
  const { address, person } = LIMIT_CLASSES[limit];
  const hasMore = query ?? upload ?? mediaType ?? address ?? person;
  const isVerification = method === 'POST' && (access === 'token' || access === 'key' || access === 'client');
  return isPlain && hasMore === undefined && (isVerification || (method === 'GET' && access === 'none'));
}

function endpointOf(operation: Operation): Endpoint {
  const { access, body } = operation;
  return {
    operation,
    validate: body && validator(body),
    isOpen: isForBrowsers(operation),
    isAddressLate: access === 'key' || access === 'token',
  };
}
