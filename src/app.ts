/** The application: mounts every operation on one router and answers unknown paths. Never listens. */
import { Elysia } from 'elysia';
import { AppError } from './core/error.ts';
import type { Dependencies } from './dependencies.ts';
import { isCallRefused, type NoteAnswer } from './http/access-log.ts';
import type { MaybePromise } from './core/maybe-promise.ts';
import { authenticator } from './http/authenticate.ts';
import { isForBrowsers, preflight } from './http/cors.ts';
import { errorMapper } from './http/errors.ts';
import { hostCheck } from './http/host-check.ts';
import type { Operation } from './http/operation.ts';
import { pipeline, type PipelineDependencies } from './http/pipeline.ts';
import type { Seen, ServeSome, Settle } from './http/raw-path.ts';
import { type ContextFactory, contextFactory, internalContext } from './http/request-context.ts';
import { pathOf } from './http/request-url.ts';
import { sessionCookie } from './http/session-cookie.ts';
import { shortPath } from './http/short-path.ts';
import { streamSlots } from './http/stream-slots.ts';
import { uploadIntake } from './http/upload.ts';
import { renderProblemPage } from './pages/problem/page.tsx';
import type { WiredServices } from './services.ts';

export interface App {
  readonly operations: readonly Operation[];
  /**
   * @param seen `plain` passes by the short path; `resolved` is refused, as the path had parts such as `..` before the
   * runtime resolved it.
   */
  fetch(request: Request, seen?: Seen): MaybePromise<Response>;
  /** Answers what the short path takes, and settles it; returns null for other requests. */
  readonly fetchShort: ServeSome;
  /** Answers with a refusal, without routing the request. */
  refuse(request: Request, refusal: AppError): Promise<Response>;
}

/** @param settle of the requests that `fetchShort` answers. */
export function createApp(
  dependencies: Dependencies,
  { operations, limiter, bodies, verification, counts, proxies, internal, noteRequest, noteLimited }: WiredServices,
  settle?: Settle,
): App {
  const { config, clock, log, accessLog, baseUrl, db, peerAddress } = dependencies;
  const noteAnswer: NoteAnswer = (context, route, status) => {
    const durationMs = performance.now() - context.startedAt;
    noteRequest(context, route, status, durationMs);
    accessLog(context, route, status, durationMs);
    if (context.countedKeyId !== null) counts.keyCalled(context.countedKeyId, isCallRefused(context, status));
  };
  const cookie = sessionCookie(baseUrl());
  const createOuter = contextFactory(config, {
    clock,
    log,
    peerAddress,
    isHttps: baseUrl().startsWith('https:'),
    onUntrusted: (header) => void (proxies.untrustedHeader = header),
  });
  const createContext: ContextFactory = (request, ...from) => {
    const outer = internal.outerOf(request);
    return outer === undefined ? createOuter(request, ...from) : internalContext(outer, request);
  };
  const hostRefusal = hostCheck({ host: config.host, baseUrl: baseUrl(), isPrivate: config.mode === 'ephemeral' });
  const respondToError = errorMapper({ log, renderPage: renderProblemPage, noteLimited });
  const pipelineDependencies: PipelineDependencies = {
    createContext,
    authenticate: authenticator({
      credentials: verification.credentials,
      limiter,
      limits: config.limits,
      noteRefusal: counts.noteRefusal,
      noteVerdict: verification.noteSessionVerdict,
      cookie,
      baseUrl: baseUrl(),
    }),
    db,
    limiter,
    limits: config.limits,
    noteRefusal: counts.noteRefusal,
    uploads: uploadIntake(),
    bodies,
    streams: streamSlots(config.limits),
    keepOpen: dependencies.keepOpen,
    respondToError,
    noteAnswer,
  };

  // By default Elysia searches for the path from the eleventh character on, and misses it behind a short host name.
  const router = new Elysia({ handler: { standardHostname: false } }).onError(
    { as: 'global' },
    ({ request, error, code }) => {
      const context = createContext(request);
      const allowed = methodsAt(operations, pathOf(request));
      const isKnownPath = code === 'NOT_FOUND' && allowed.length > 0;
      if (isKnownPath) context.headers['Allow'] = allowed.join(', ');
      const refusal = isKnownPath ? new AppError('method_not_allowed') : new AppError('not_found');
      const response = respondToError(
        code === 'NOT_FOUND' ? refusal : error,
        context,
        wantsPage(request) ? 'page' : 'envelope',
      );
      noteAnswer(context, '(none)', response.status);
      return response;
    },
  );
  for (const operation of operations) {
    const handle = pipeline(operation, pipelineDependencies);
    // HEAD is GET without its body (RFC 9110 §9.3.2).
    const methods = operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method];
    for (const method of methods)
      router.route(method, operation.path, ({ request, params }) => handle(request, params as Record<string, string>));
  }
  const open = Map.groupBy(operations.filter(isForBrowsers), ({ path }) => path);
  for (const [path, opened] of open)
    router.route('OPTIONS', path, ({ request }) => {
      const context = createContext(request);
      const response = preflight([...new Set(opened.map(({ method }) => method))], context.headers);
      noteAnswer(context, path, response.status);
      return response;
    });
  router.compile();
  internal.serve(router.handle.bind(router));

  async function refuse(request: Request, refusal: AppError): Promise<Response> {
    const context = createContext(request);
    const response = respondToError(refusal, context, wantsPage(request) ? 'page' : 'envelope');
    noteAnswer(context, '(none)', response.status);
    return response;
  }

  const shortPathWith = (settling: { readonly settle?: Settle }) =>
    shortPath({
      ...pipelineDependencies,
      operations,
      isForUs: (request) => hostRefusal(request) === null,
      createContext: createOuter,
      reader: db.reader,
      ...settling,
    });
  const short = shortPathWith({});
  const settled = settle ? shortPathWith({ settle }) : short;

  return {
    operations,
    refuse,
    fetchShort: (request, seen) => settled(request, peerAddress, seen),
    fetch(request, seen = 'plain') {
      const answered = short(request, peerAddress, seen);
      if (answered !== null) return answered;
      const refusal =
        seen === 'resolved' ? new AppError('invalid_request', { hint: 'path_not_plain' }) : hostRefusal(request);
      const answer = refusal === null ? router.handle(request) : refuse(request, refusal);
      return request.method === 'HEAD' ? withoutBody(answer) : answer;
    },
  };
}

async function withoutBody(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  const { status, headers } = response;
  if (response.body === null) {
    const bare = new Response(null, response);
    // The router has set a Content-Length for the missing body; an event stream has none.
    if (headers.get('content-type')?.startsWith('text/event-stream')) bare.headers.delete('content-length');
    return bare;
  }
  // HEAD sends the Content-Length of GET (RFC 9110 §8.6). Bun derives it from the body and sends none for HEAD.
  const { size } = await response.blob();
  const length = new Headers(headers);
  length.set('Content-Length', String(size));
  return new Response(null, { status, headers: length });
}

/** Returns the methods that operations accept at exactly this path. */
function methodsAt(operations: readonly Operation[], path: string): string[] {
  const parts = path.split('/');
  const methods = operations
    .filter((operation) => {
      const pattern = operation.path.split('/');
      return (
        pattern.length === parts.length && pattern.every((part, index) => part.startsWith(':') || part === parts[index])
      );
    })
    .map(({ method }) => method as string);
  if (methods.includes('GET')) methods.push('HEAD');
  return [...new Set(methods)].sort();
}

/** A browser that opens an unknown address gets a page; programs get JSON. */
function wantsPage(request: Request): boolean {
  return request.method === 'GET' && (request.headers.get('accept') ?? '').startsWith('text/html');
}
