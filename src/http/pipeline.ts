/**
 * Carries out a call of an operation: authenticate, limit, resolve what it acts on, authorise, read and validate, handle,
 * answer. The order is the guarantee: nothing of a stranger's body is judged, and what is out of reach does not exist.
 */
import type { Logger } from 'pino';
import { AppError } from '../core/error.ts';
import { accessTo, type Principal, workspaceAccess } from '../core/principal.ts';
import type { Application } from '../db/schema/applications.ts';
import { actorOf, type Authenticator, rateLimited } from './authenticate.ts';
import { readJsonBody } from './body.ts';
import type { ErrorMapper } from './errors.ts';
import { BUCKETS, type LimitSettings } from './limits.ts';
import type { Call, Operation } from './operation.ts';
import { announceLimit, type RateLimiter } from './rate-limit.ts';
import { addressBlock, type ContextFactory, type RequestContext } from './request-context.ts';
import { queryValidator, validator } from './validate.ts';

export interface PipelineDependencies {
  readonly createContext: ContextFactory;
  readonly authenticate: Authenticator;
  readonly findApplication: (id: string) => Application | undefined;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
  readonly respondToError: ErrorMapper;
  readonly log: Logger;
}

export type Handler = (request: Request, params: Record<string, string>) => Promise<Response>;

const JSON_TYPE = 'application/json; charset=utf-8';

/** Compiles an operation into a request handler that never throws. */
export function pipeline(operation: Operation, dependencies: PipelineDependencies): Handler {
  const { createContext, authenticate, limiter, limits, respondToError, log } = dependencies;
  const { access, style = 'envelope', limit } = operation;
  const validateBody = operation.body && validator(operation.body);
  const validateQuery = operation.query && queryValidator(operation.query);

  function resolveApplication(principal: Principal, id: string): Application {
    const application = dependencies.findApplication(id);
    const granted = application && accessTo(principal, application);
    if (!application || granted == null) throw new AppError('not_found');
    if (access === 'full' && granted !== 'full') throw new AppError('admin_scope_required');
    return application;
  }

  function resolveWorkspace(principal: Principal): string {
    const workspaceId = principal.kind === 'key' ? principal.workspaceId : principal.workspaces[0]?.workspaceId;
    const granted = workspaceId && workspaceAccess(principal, workspaceId);
    if (!workspaceId || !granted)
      throw new AppError('forbidden', { message: 'This needs a key of the whole workspace, or a member of it.' });
    if (access === 'full' && granted !== 'full') throw new AppError('admin_scope_required');
    return workspaceId;
  }

  function limitAddress(context: RequestContext): void {
    const bucket = limit === 'code_send' ? BUCKETS.codeAddress : limit === 'setup' ? BUCKETS.setup : null;
    const allowed = limit === 'code_send' ? limits.codesPerAddress : limits.setupPerAddressPerMinute;
    if (bucket === null || allowed === null) return;
    const state = limiter.consume(bucket, addressBlock(context.ip), allowed);
    if (!state.isAllowed) throw rateLimited(context, state);
    announceLimit(context.headers, state);
  }

  async function readBody(request: Request): Promise<unknown> {
    if (!validateBody) return undefined;
    const body = await readJsonBody(request);
    return validateBody(body === undefined && operation.isBodyOptional ? {} : body);
  }

  async function call(context: RequestContext, params: Record<string, string>): Promise<Response> {
    const principal = authenticate(access, context);
    limitAddress(context);
    const application =
      operation.scope === 'application' && principal ? resolveApplication(principal, params['id']!) : null;
    const workspaceId = operation.scope === 'workspace' && principal ? resolveWorkspace(principal) : null;
    const query = validateQuery?.(queryOf(context.request));
    const body = await readBody(context.request);
    const actor = actorOf(principal, context);
    const result = await operation.handle({
      principal,
      actor,
      application,
      workspaceId,
      params,
      query,
      body,
      context,
    } as Call<never, never, unknown, unknown>);
    if (result instanceof Response) return result;
    context.headers['Content-Type'] = JSON_TYPE;
    const answer = style === 'envelope' ? { success: true, data: result ?? null } : result;
    return new Response(JSON.stringify(answer), { headers: context.headers });
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

function queryOf(request: Request): Record<string, string> {
  const at = request.url.indexOf('?');
  return at < 0 ? {} : Object.fromEntries(new URLSearchParams(request.url.slice(at + 1)));
}
