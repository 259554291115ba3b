/** The application: mounts every operation on one router and answers unknown paths. Never listens. */
import { Elysia } from 'elysia';
import { AppError } from './core/error.ts';
import type { Dependencies } from './dependencies.ts';
import type { NoteAnswer } from './http/access-log.ts';
import { authenticator } from './http/authenticate.ts';
import { isForBrowsers, preflight } from './http/cors.ts';
import { errorMapper } from './http/errors.ts';
import { hostCheck } from './http/host-check.ts';
import type { Operation } from './http/operation.ts';
import { type Handler, pipeline, type PipelineDependencies } from './http/pipeline.ts';
import { isBusyPath, type Seen } from './http/raw-path.ts';
import { type ContextFactory, contextFactory, internalContext } from './http/request-context.ts';
import { pathOf } from './http/request-url.ts';
import { sessionCookie } from './http/session-cookie.ts';
import { streamSlots } from './http/stream-slots.ts';
import { uploadIntake } from './http/upload.ts';
import { renderProblemPage } from './pages/problem/page.tsx';
import type { WiredServices } from './services.ts';

export interface App {
  readonly operations: readonly Operation[];
  /** @param seen `resolved` is refused: the path had parts such as `..` before the runtime resolved it. */
  fetch(request: Request, seen?: Seen): Promise<Response>;
  /** Answers with a refusal, without routing the request. */
  refuse(request: Request, refusal: AppError): Promise<Response>;
}

export function createApp(
  dependencies: Dependencies,
  { operations, limiter, bodies, verification, counts, proxies, internal, noteRequest, noteLimited }: WiredServices,
): App {
  const { config, clock, log, accessLog, baseUrl, db, peerAddress } = dependencies;
  const noteAnswer: NoteAnswer = (context, route, status) => {
    const durationMs = performance.now() - context.startedAt;
    noteRequest(context, route, status, durationMs);
    accessLog(context, route, status, durationMs);
  };
  const cookie = sessionCookie(baseUrl());
  const createOuter = contextFactory(config, {
    clock,
    log,
    peerAddress,
    isHttps: baseUrl().startsWith('https:'),
    onUntrusted: (header) => void (proxies.untrustedHeader = header),
  });
  const createContext: ContextFactory = (request, isAddressLate) => {
    const outer = internal.outerOf(request);
    return outer === undefined ? createOuter(request, isAddressLate) : internalContext(outer, request);
  };
  const isForUs = hostCheck({ host: config.host, baseUrl: baseUrl(), isPrivate: config.mode === 'ephemeral' });
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
  /** Handlers of the busy paths, which the runtime's router has matched already; these paths have no parameters. */
  const busy = new Map<Seen, { readonly method: string; readonly handle: Handler }>();
  for (const operation of operations) {
    const handle = pipeline(operation, pipelineDependencies);
    if (isBusyPath(operation.path)) busy.set(operation.path, { method: operation.method, handle });
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

  /** Returns null if the request is for us. Two `Host` headers arrive joined by a comma (RFC 9112 §3.2). */
  function hostRefusal({ headers }: Request): AppError | null {
    const host = headers.get('host');
    if (host?.includes(',')) return new AppError('invalid_request', { hint: 'host_twice' });
    return isForUs(host) ? null : new AppError('forbidden', { hint: 'host_unknown' });
  }

  async function refuse(request: Request, refusal: AppError): Promise<Response> {
    const context = createContext(request);
    const response = respondToError(refusal, context, wantsPage(request) ? 'page' : 'envelope');
    noteAnswer(context, '(none)', response.status);
    return response;
  }

  return {
    operations,
    refuse,
    fetch(request, seen = 'plain') {
      const refusal =
        seen === 'resolved' ? new AppError('invalid_request', { hint: 'path_not_plain' }) : hostRefusal(request);
      const found = refusal === null ? busy.get(seen) : undefined;
      if (found?.method === request.method) return found.handle(request, {});
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
