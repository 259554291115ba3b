/**
 * Carries out a call: authenticate, limit, resolve the target, authorise, read and validate, handle, answer. The order
 * keeps strangers' bodies from being validated and hides targets out of reach.
 */
import { AppError } from '../core/error.ts';
import { type Principal } from '../core/principal.ts';
import { applicationAccess, workspaceRole, workspaceAccess } from '../core/access-control.ts';
import type { Author, Database, Reader } from '../db/database.ts';
import { type Application, findApplication, findApplicationByClientId } from '../store/applications.ts';
import type { NoteAnswer } from './access-log.ts';
import { type AnyPrincipal, type Authenticator, CallActor, type Lookup } from './authenticate.ts';
import { parametersOf } from './body.ts';
import { type BodyReader, isStale } from './body-reader.ts';
import { compressor, jsonResponse } from './compression.ts';
import { allowOrigin, isForBrowsers } from './cors.ts';
import type { ErrorMapper } from './errors.ts';
import { eventStreamResponse } from './event-stream.ts';
import { JsonText } from './json-text.ts';
import { LIMIT_CLASSES, LIMITS, type LimitSettings, type NoteRefusal } from './limits.ts';
import {
  type Call,
  isList,
  isOfClients,
  type Operation,
  parametersOfList,
  type Scope,
  WORKSPACE_PARAMETER,
} from './operation.ts';
import { applyLimit, type RateLimiter } from './rate-limit.ts';
import { addressPrefix } from '../core/ip-address.ts';
import type { ContextFactory, RequestContext } from './request-context.ts';
import { queryOf } from './request-url.ts';
import { type StreamSlots, withEnd } from './stream-slots.ts';
import type { UploadIntake } from './upload.ts';
import { queryValidator, unknownParameters, validator } from './validate.ts';

export interface PipelineDependencies {
  readonly createContext: ContextFactory;
  readonly authenticate: Authenticator;
  readonly db: Database;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
  readonly noteRefusal: NoteRefusal;
  readonly uploads: UploadIntake;
  readonly bodies: BodyReader;
  readonly streams: StreamSlots;
  readonly keepOpen: (request: Request) => void;
  readonly respondToError: ErrorMapper;
  readonly noteAnswer: NoteAnswer;
}

/** Body that was read before authentication. */
interface Ahead {
  readonly sent?: unknown;
  readonly ahead?: Promise<unknown>;
}

const NOTHING: Ahead = {};

interface Admission {
  readonly principal: AnyPrincipal | null;
  readonly application: Application | null;
  readonly workspaceId: string | null;
}

export type Handler = (request: Request, params: Record<string, string>) => Promise<Response>;

/** Returns a request handler that never throws. */
export function pipeline(operation: Operation, dependencies: PipelineDependencies): Handler {
  const { createContext, authenticate, limiter, limits, noteRefusal, uploads, bodies, streams, keepOpen } =
    dependencies;
  const { respondToError, noteAnswer } = dependencies;
  const { reader } = dependencies.db;
  const compress = compressor();
  const isOpen = isForBrowsers(operation);
  const { access, style = 'envelope', limit, upload: uploadRule } = operation;
  const validateBody = operation.body && validator(operation.body);
  const validateQuery = operation.query && queryValidator(operation.query);
  const refuseUnknown = isList(operation) ? unknownParameters(parametersOfList(operation)) : null;

  /** A verification records nothing, so the client address is needed only if its credential is invalid. */
  const isVerification = operation.method === 'POST' && (access === 'key' || access === 'token');
  const isStream = operation.mediaType === 'text/event-stream';
  const canBeSlow = access !== 'none' && (validateBody !== undefined || uploadRule !== undefined);
  const { address: addressLimit, person: personLimit } = LIMIT_CLASSES[limit];

  /** Returns the application named in a page's URL, for the link back from an error page. Never throws. */
  async function applicationNamedIn(request: Request): Promise<Application | null> {
    const clientId = queryOf(request).get('clientId');
    if (clientId === null) return null;
    try {
      return (await findApplicationByClientId(reader, clientId)) ?? null;
    } catch {
      // The database itself may be the problem.
      return null;
    }
  }

  async function resolveApplication(reader: Reader, principal: Principal, id: string): Promise<Application> {
    const application = await findApplication(reader, id);
    const granted = application && applicationAccess(principal, application);
    if (!application || granted == null) throw new AppError('not_found');
    if (access === 'full' && granted !== 'full') throw new AppError('admin_scope_required');
    return application;
  }

  /** @param asked the workspace named in the query, for people who are members of several. */
  function resolveWorkspace(principal: Principal, asked: string | null): string {
    const own = principal.kind === 'key' ? principal.workspaceId : principal.workspaces[0]?.workspaceId;
    const workspaceId = asked ?? own;
    const granted = workspaceId && workspaceAccess(principal, workspaceId);
    if (asked !== null && asked !== own && !granted) throw new AppError('not_found');
    if (!workspaceId || !granted) throw new AppError('forbidden', { hint: 'workspace_access_needed' });
    if (operation.consoleRole && workspaceRole(principal, workspaceId) !== operation.consoleRole)
      throw new AppError('forbidden', { hint: 'owner_needed' });
    if (access === 'full' && granted !== 'full') throw new AppError('admin_scope_required');
    return workspaceId;
  }

  async function limitAddress(context: RequestContext): Promise<void> {
    const allowed = addressLimit ? limits[addressLimit] : null;
    if (!addressLimit || allowed === null) return;
    applyLimit(context.headers, await limiter.consume(LIMITS[addressLimit], addressPrefix(context.ip), allowed));
  }

  async function limitPerson(context: RequestContext, principal: AnyPrincipal | null): Promise<void> {
    if (!personLimit || !principal || principal.kind === 'client') return;
    const state = await limiter.consume(LIMITS[personLimit], principal.userId, limits[personLimit]);
    if (!state.isAllowed) noteRefusal(principal.applicationId, personLimit);
    applyLimit(context.headers, state);
  }

  // A verification answers at once, so Bun buffers no body while it runs.
  const leavesBody =
    !isVerification && operation.method !== 'GET' && validateBody === undefined && uploadRule === undefined;
  const readBody = (context: RequestContext, caller: AnyPrincipal | null) =>
    bodies.read(context, caller, operation.isFormAccepted);

  /** Reads the body before authentication, as it may hold the credential. Other errors are reported afterwards. */
  async function sentBy(context: RequestContext): Promise<Ahead> {
    const ahead = readBody(context, null);
    return { ahead, sent: await ahead.catch(() => undefined) };
  }

  /** A list refuses unknown parameters: it would ignore a misspelt filter and show everything. */
  function validate(request: Request): unknown {
    if (validateQuery === undefined && refuseUnknown === null) return undefined;
    const parameters = parametersOf(queryOf(request));
    refuseUnknown?.(parameters);
    return validateQuery?.(parameters);
  }

  /** Authenticates the caller and resolves the target, both live. */
  async function admit(look: Lookup, params: Record<string, string>): Promise<Admission> {
    const { context, reader } = look;
    const principal = await authenticate(access, look);
    if (addressLimit && look.isCounted) await limitAddress(context);
    const application =
      operation.scope === 'application' && principal
        ? await resolveApplication(reader, managing(principal), params['id'] ?? '')
        : null;
    const workspaceId =
      operation.scope === 'workspace' && principal
        ? resolveWorkspace(managing(principal), askedWorkspace(context.request))
        : null;
    return { principal, application, workspaceId };
  }

  async function openStream(given: Call<never, Scope, string, unknown, unknown, unknown>): Promise<Response> {
    const { context, principal } = given as { context: RequestContext; principal: AnyPrincipal | null };
    const release = streams.take({ userId: personOf(principal), ip: context.ip });
    try {
      const stream = (await operation.handle(given)) as ReadableStream<Uint8Array>;
      keepOpen(context.request);
      return eventStreamResponse(context, withEnd(stream, release));
    } catch (error) {
      release();
      throw error;
    }
  }

  async function call(context: RequestContext, params: Record<string, string>): Promise<Response> {
    const { request } = context;
    const { sent, ahead } = isOfClients(access) ? await sentBy(context) : NOTHING;
    const first = await admit({ context, reader, isCounted: true, sent }, params);
    const query = validate(request);
    const upload = uploadRule && uploads.open(request, uploadRule, personOf(first.principal) ?? context.ip);
    try {
      if (personLimit) await limitPerson(context, first.principal);
      if (leavesBody) bodies.leave(context, first.principal);
      const sentBody = validateBody && (await (ahead ?? readBody(context, first.principal)));
      const body = validateBody?.(sentBody === undefined && operation.isBodyOptional ? {} : sentBody);
      const file = upload && (await upload.read());
      // Every change checks once more when its turn comes.
      const again = (look: Reader) => admit({ context, reader: look, isCounted: false, sent }, params);
      const { principal, application, workspaceId } = canBeSlow && isStale(context) ? await again(reader) : first;
      const actor: Author = new CallActor(principal, context);
      if (principal !== null)
        actor.confirm = async (unit) => {
          const { principal: caller } = await again(unit);
          return caller === null || caller.kind === 'client' ? undefined : caller;
        };
      const resolved = {
        principal,
        actor,
        application,
        workspaceId,
        params,
        query,
        body,
        file,
        context,
      } as Call<never, Scope, string, unknown, unknown, unknown>;
      // HEAD opens no stream: the router would read all of it for its length, without end.
      if (isStream) return request.method === 'HEAD' ? eventStreamResponse(context, null) : await openStream(resolved);
      const result = await operation.handle(resolved);
      if (result instanceof Response) return compress(request, result);
      const isWhole = style !== 'envelope' || result instanceof JsonText;
      const answer = isWhole ? result : { success: true, data: result ?? null };
      return operation.isCreated ? created(context, answer) : jsonResponse(context, answer);
    } finally {
      upload?.close();
    }
  }

  return async (request, params) => {
    const context = createContext(request, isVerification);
    let response: Response;
    try {
      response = await call(context, params);
    } catch (error) {
      if (style === 'page') context.application ??= await applicationNamedIn(context.request);
      response = respondToError(error, context, style);
    } finally {
      bodies.release(context);
    }
    if (isOpen) allowOrigin(request, response);
    for (const cookie of context.cookies) response.headers.append('Set-Cookie', cookie);
    noteAnswer(context, operation.path, response.status);
    return response;
  };
}

/** Refuses an OAuth client: its secret grants no management access, even if an operation allows it. @throws {AppError} forbidden */
function managing(principal: AnyPrincipal): Principal {
  if (principal.kind === 'client') throw new AppError('forbidden');
  return principal;
}

async function created(context: RequestContext, value: unknown): Promise<Response> {
  const { body, headers } = await jsonResponse(context, value);
  return new Response(body, { status: 201, headers });
}

function personOf(principal: AnyPrincipal | null): string | null {
  return principal === null || principal.kind === 'client' ? null : principal.userId;
}

function askedWorkspace(request: Request): string | null {
  return parametersOf(queryOf(request))[WORKSPACE_PARAMETER] ?? null;
}
