/**
 * Answers what backends ask for each request of theirs, and supervisors every second: verification, introspection and
 * the health check. It takes the steps of `pipeline.ts` in the same order and with the same parts, but without router,
 * target, query and upload, and with no promise but that of the body where the database answers at once.
 * A request that is not one of them gets null, before anything of it is read or counted.
 */
import { type MaybePromise, whenReady, whenReadyWith } from '../core/maybe-promise.ts';
import type { Author, Reader } from '../db/database.ts';
import type { NoteAnswer } from './access-log.ts';
import { answerHeaders } from './answer-headers.ts';
import type { AnyPrincipal, Authenticator } from './authenticate.ts';
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

/** A request whose body is being read. */
interface Asked {
  readonly endpoint: Endpoint;
  readonly context: RequestContext;
  readonly caller: AnyPrincipal | null;
}

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

  /** @param isCounted false where the same request was counted before. */
  function callerOf({ operation: { access } }: Endpoint, context: RequestContext, isCounted: boolean, sent?: unknown) {
    return authenticate(access, { context, reader, isCounted, sent });
  }

  function answerOf(
    endpoint: Endpoint,
    context: RequestContext,
    caller: ReturnType<typeof callerOf>,
    body: unknown,
  ): MaybePromise<Response> {
    return ended(
      endpoint,
      context,
      whenReady(caller, (principal) => handled(endpoint, context, principal, body)),
    );
  }

  /** Resolves with refusals too: another promise around it would cost as much as a lookup. */
  function answerBody(endpoint: Endpoint, context: RequestContext): MaybePromise<Response> {
    const caller = callerOf(endpoint, context, true);
    return caller instanceof Promise ? answerLater(endpoint, context, caller) : answerTo(endpoint, context, caller);
  }

  async function answerLater(endpoint: Endpoint, context: RequestContext, caller: ReturnType<typeof callerOf>) {
    try {
      return await answerTo(endpoint, context, await caller);
    } catch (error) {
      return refused(endpoint, context, error);
    }
  }

  const withBody: BodyUse<unknown, Asked, Response> = {
    taken(sent, { endpoint, context, caller }) {
      const body = endpoint.validate?.(sent);
      return answerOf(endpoint, context, isStale(context) ? callerOf(endpoint, context, false) : caller, body);
    },
    failed: (error, { endpoint, context }) => refused(endpoint, context, error),
  };

  function answerTo(endpoint: Endpoint, context: RequestContext, caller: AnyPrincipal | null): Promise<Response> {
    const isFormAccepted = endpoint.operation.isFormAccepted ?? false;
    return bodies.readFor(context, caller, isFormAccepted, withBody, { endpoint, context, caller });
  }

  /** Reads the body first, as it may hold the credential; what is wrong with it is reported after authentication. */
  async function answerClient(endpoint: Endpoint, context: RequestContext): Promise<Response> {
    try {
      const reading = bodies.read(context, null, endpoint.operation.isFormAccepted);
      const sent = await reading.catch(() => undefined);
      const caller = await callerOf(endpoint, context, true, sent);
      const body = endpoint.validate?.(await reading);
      const current = isStale(context) ? await callerOf(endpoint, context, false, sent) : caller;
      return finished(endpoint, context, await handled(endpoint, context, current, body));
    } catch (error) {
      return refused(endpoint, context, error);
    }
  }

  const responseOf = (result: unknown, context: RequestContext) => jsonResponse(context, result, headersOf);

  function handled(
    { operation }: Endpoint,
    context: RequestContext,
    principal: AnyPrincipal | null,
    body: unknown,
  ): MaybePromise<Response> {
    const call = {
      actor: NO_ACTOR,
      application: null,
      workspaceId: null,
      params: NO_PARAMS,
      query: undefined,
      file: undefined,
      principal,
      body,
      context,
    } as AnyCall;
    return whenReadyWith(operation.handle(call), context, responseOf);
  }

  function ended(endpoint: Endpoint, context: RequestContext, answer: MaybePromise<Response>): MaybePromise<Response> {
    if (!(answer instanceof Promise)) return finished(endpoint, context, answer);
    return answer.then(
      (response) => finished(endpoint, context, response),
      (error: unknown) => refused(endpoint, context, error),
    );
  }

  function finished(
    { operation, isOpen }: Endpoint,
    context: RequestContext,
    response: Response,
  ): MaybePromise<Response> {
    bodies.release(context);
    if (isOpen) allowOrigin(context.request, response);
    noteAnswer(context, operation.path, response.status);
    return settle(context.request, response);
  }

  function refused(endpoint: Endpoint, context: RequestContext, error: unknown): MaybePromise<Response> {
    return finished(endpoint, context, respondToError(error, context, endpoint.operation.style ?? 'envelope'));
  }

  return (request, peer, seen) => {
    const endpoint = endpoints.get(seen);
    if (endpoint?.operation.method !== request.method || !isForUs(request)) return null;
    const context = createContext(request, endpoint.isAddressLate, peer);
    if (isOfClients(endpoint.operation.access)) return answerClient(endpoint, context);
    try {
      if (endpoint.validate) return answerBody(endpoint, context);
      return answerOf(endpoint, context, callerOf(endpoint, context, true), undefined);
    } catch (error) {
      return refused(endpoint, context, error);
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
