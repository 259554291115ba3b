/**
 * Carries out a call of an operation: authenticate, limit, resolve what it acts on, authorise, read and validate, handle,
 * answer. The order is the guarantee: nothing of a stranger's body is judged, and what is out of reach does not exist.
 */
import type { Logger } from 'pino';
import { AppError } from '../core/error.ts';
import { accessTo, type ConsoleRole, type Principal, workspaceAccess } from '../core/principal.ts';
import type { Application } from '../db/schema/applications.ts';
import { actorOf, type Authenticator } from './authenticate.ts';
import { readBodyOf } from './body.ts';
import type { ErrorMapper } from './errors.ts';
import { ADDRESS_LIMITS, type LimitClass, type LimitSettings, PERSON_LIMITS } from './limits.ts';
import type { Call, Operation } from './operation.ts';
import { applyLimit, type Bucket, type RateLimiter } from './rate-limit.ts';
import { addressBlock, type ContextFactory, type RequestContext } from './request-context.ts';
import { queryOf } from './request-url.ts';
import type { Upload, UploadIntake } from './upload.ts';
import { queryValidator, validator } from './validate.ts';

export interface PipelineDependencies {
  readonly createContext: ContextFactory;
  readonly authenticate: Authenticator;
  readonly findApplication: (id: string) => Application | undefined;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
  readonly uploads: UploadIntake;
  readonly respondToError: ErrorMapper;
  readonly log: Logger;
}

/** Who calls, and what on. */
interface Admission {
  readonly principal: Principal | null;
  readonly application: Application | null;
  readonly workspaceId: string | null;
}

export type Handler = (request: Request, params: Record<string, string>) => Promise<Response>;

/** From here on a body counts as slow where the call changes nothing. */
const SLOW_BODY_MS = 20;

const JSON_TYPE = 'application/json; charset=utf-8';

/** Compiles an operation into a request handler that never throws. */
export function pipeline(operation: Operation, dependencies: PipelineDependencies): Handler {
  const { createContext, authenticate, limiter, limits, uploads, respondToError, log } = dependencies;
  const { access, style = 'envelope', limit, upload: uploadRule } = operation;
  const validateBody = operation.body && validator(operation.body);
  const validateQuery = operation.query && queryValidator(operation.query);

  const mayChange = access === 'full' || access === 'session';
  const hasInput = validateBody !== undefined || uploadRule !== undefined;
  const addressLimit = addressLimitOf(limit, limits);
  const personLimit = PERSON_LIMITS[limit];

  function resolveApplication(principal: Principal, id: string): Application {
    const application = dependencies.findApplication(id);
    const granted = application && accessTo(principal, application);
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
    if (!workspaceId || !granted)
      throw new AppError('forbidden', { message: 'This needs a key of the whole workspace, or a member of it.' });
    if (operation.consoleRole && roleIn(principal, workspaceId) !== operation.consoleRole)
      throw new AppError('forbidden', {
        message: 'Only an owner of the workspace, signed in to the console, can do this.',
      });
    if (access === 'full' && granted !== 'full') throw new AppError('admin_scope_required');
    return workspaceId;
  }

  function limitAddress(context: RequestContext): void {
    if (!addressLimit) return;
    applyLimit(context.headers, limiter.consume(addressLimit.bucket, addressBlock(context.ip), addressLimit.allowed));
  }

  function limitPerson(context: RequestContext, principal: Principal | null): void {
    if (!personLimit || !principal) return;
    const { bucket, setting } = personLimit;
    applyLimit(context.headers, limiter.consume(bucket, principal.userId, limits[setting]));
  }

  async function readBody(request: Request): Promise<unknown> {
    if (!validateBody) return undefined;
    const body = await readBodyOf(request, operation.isFormAccepted ?? false);
    return validateBody(body === undefined && operation.isBodyOptional ? {} : body);
  }

  /** Who calls, and what on. Everything is looked up live. @param isCounted false the second time in one call. */
  function admit(context: RequestContext, params: Record<string, string>, isCounted: boolean): Admission {
    const principal = authenticate(access, context, isCounted);
    if (isCounted) limitAddress(context);
    const application =
      operation.scope === 'application' && principal ? resolveApplication(principal, params['id']!) : null;
    const workspaceId =
      operation.scope === 'workspace' && principal
        ? resolveWorkspace(principal, askedWorkspace(context.request))
        : null;
    return { principal, application, workspaceId };
  }

  async function call(context: RequestContext, params: Record<string, string>): Promise<Response> {
    const admitted = admit(context, params, true);
    const query = validateQuery?.(Object.fromEntries(queryOf(context.request)));
    const upload = uploadRule && uploads.open(context.request, uploadRule, admitted.principal?.userId ?? context.ip);
    try {
      return await answer(context, params, admitted, query, upload);
    } finally {
      upload?.close();
    }
  }

  async function answer(
    context: RequestContext,
    params: Record<string, string>,
    first: Admission,
    query: unknown,
    upload: Upload | undefined,
  ): Promise<Response> {
    limitPerson(context, first.principal);
    const body = await readBody(context.request);
    const file = await upload?.read();
    // A slow body leaves time for a ban, a revocation or a lost role: who calls is judged as of now.
    const isStale = mayChange || performance.now() - context.startedAt > SLOW_BODY_MS;
    const isJudgedAgain = hasInput && access !== 'none' && isStale;
    const { principal, application, workspaceId } = isJudgedAgain ? admit(context, params, false) : first;
    const actor = actorOf(principal, context);
    const result = await operation.handle({
      principal,
      actor,
      application,
      workspaceId,
      params,
      query,
      body,
      file,
      context,
    } as Call<never, never, unknown, unknown, unknown>);
    if (result instanceof Response) return result;
    context.headers['Content-Type'] = JSON_TYPE;
    const json = style === 'envelope' ? { success: true, data: result ?? null } : result;
    return new Response(JSON.stringify(json), { headers: context.headers });
  }

  return async (request, params) => {
    const context = createContext(request);
    let response: Response;
    try {
      response = await call(context, params);
    } catch (error) {
      response = respondToError(error, context, style);
    }
    logRequest(log, context, operation.path, response.status);
    return response;
  };
}

function roleIn(principal: Principal, workspaceId: string): ConsoleRole | null {
  if (principal.kind !== 'session') return null;
  return principal.workspaces.find((entry) => entry.workspaceId === workspaceId)?.role ?? null;
}

function askedWorkspace(request: Request): string | null {
  return queryOf(request).get('workspaceId');
}

/** Which limit per client address a class carries, if any. */
function addressLimitOf(limit: LimitClass, limits: LimitSettings): { bucket: Bucket; allowed: number } | null {
  const declared = ADDRESS_LIMITS[limit];
  const allowed = declared ? limits[declared.setting] : null;
  return declared && allowed !== null ? { bucket: declared.bucket, allowed } : null;
}

/** One line a request. The route's pattern stands for the path, so no id, code or token of it is written down. */
export function logRequest(log: Logger, context: RequestContext, route: string, status: number): void {
  log.info({
    requestId: context.requestId,
    method: context.request.method,
    route,
    status,
    durationMs: Math.round((performance.now() - context.startedAt) * 100) / 100,
    principal: context.principalId,
    ip: context.ip,
  });
}
