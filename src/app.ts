/** The application: every operation mounted on one router, and what is answered where there is none. Never listens. */
import { Elysia } from 'elysia';
import type { AdjustableClock } from './core/clock.ts';
import { CONSOLE_CLIENT_ID } from './core/console.ts';
import { normalizeEmail } from './core/email.ts';
import { AppError } from './core/error.ts';
import type { Dependencies } from './dependencies.ts';
import { authenticator } from './http/authenticate.ts';
import { errorMapper } from './http/errors.ts';
import { LIMITS } from './http/limits.ts';
import type { Operation } from './http/operation.ts';
import { pipeline, type PipelineDependencies } from './http/pipeline.ts';
import { applyLimit } from './http/rate-limit.ts';
import { contextFactory, type PeerAddress, type RequestContext } from './http/request-context.ts';
import { pathOf } from './http/request-url.ts';
import { sessionCookie } from './http/session-cookie.ts';
import { uploadIntake } from './http/upload.ts';
import { accountRoutes } from './modules/account/routes.ts';
import { activityRoutes } from './modules/activity/routes.ts';
import { apiKeyRoutes } from './modules/api-keys/routes.ts';
import { applicationRoutes } from './modules/applications/routes.ts';
import { betaRoutes } from './modules/beta/routes.ts';
import { descriptionRoutes } from './modules/description/routes.ts';
import { deviceAccountRoutes } from './modules/devices/account-routes.ts';
import { guessLimit } from './modules/devices/guesses.ts';
import { deviceRoutes } from './modules/devices/routes.ts';
import { grantRoutes } from './modules/grants/routes.ts';
import { healthRoutes } from './modules/health/routes.ts';
import { imageRoutes } from './modules/images/routes.ts';
import { importRoutes } from './modules/import/routes.ts';
import { lifecycleRoutes } from './modules/lifecycle/routes.ts';
import { liveRoutes } from './modules/live/routes.ts';
import { passkeyRoutes } from './modules/passkeys/routes.ts';
import { profileRoutes } from './modules/profile/routes.ts';
import { flowCookie } from './modules/provider/flow-cookie.ts';
import { providerRoutes } from './modules/provider/routes.ts';
import { sessionRoutes } from './modules/sessions/routes.ts';
import { verificationRoutes } from './modules/verification/routes.ts';
import { setupRoutes } from './modules/setup/routes.ts';
import { consoleSessionKeeper } from './modules/sign-in/console-session.ts';
import { signInRoutes } from './modules/sign-in/routes.ts';
import { testToolRoutes } from './modules/test-tools/routes.ts';
import { userRoutes } from './modules/users/routes.ts';
import { webhookRoutes } from './modules/webhooks/routes.ts';
import { workspaceRoutes } from './modules/workspace/routes.ts';
import { pageRoutes, renderErrorPage } from './pages/routes.ts';
import type { WiredServices } from './services.ts';

export interface AppOptions {
  readonly peerAddress: PeerAddress;
  readonly isStopping: () => boolean;
  /** Lets a connection stay open without traffic from the client. */
  readonly keepOpen: (request: Request) => void;
  /** Given in an ephemeral instance only; its presence opens the test endpoints. */
  readonly testClock: AdjustableClock | null;
}

export interface App {
  readonly operations: readonly Operation[];
  fetch(request: Request): Promise<Response>;
}

export function createApp(dependencies: Dependencies, services: WiredServices, options: AppOptions): App {
  const { config, clock, log, accessLog, baseUrl, db } = dependencies;
  const cookie = sessionCookie(baseUrl());
  const operations: Operation[] = listOperations(dependencies, services, options, () => operations);
  const createContext = contextFactory(config, { clock, log, peerAddress: options.peerAddress });
  const respondToError = errorMapper({ log, renderPage: renderErrorPage });
  const { limiter } = services;
  const pipelineDependencies: PipelineDependencies = {
    createContext,
    authenticate: authenticator({
      credentials: services.verification.credentials,
      limiter,
      limits: config.limits,
      cookie,
      baseUrl: baseUrl(),
    }),
    db,
    limiter,
    limits: config.limits,
    uploads: uploadIntake(),
    respondToError,
    accessLog,
  };

  // Elysia would look for the path from the eleventh character on and miss it behind a short host name.
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
      accessLog(context, '(none)', response.status);
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
  router.compile();

  return {
    operations,
    async fetch(request) {
      const response = await router.handle(request);
      if (request.method !== 'HEAD') return response;
      // A stream that nobody will read must not stay open.
      await response.body?.cancel();
      return new Response(null, response);
    },
  };
}

/** The whole API, in the order of its description. */
function listOperations(
  { config, db, random, baseUrl }: Dependencies,
  services: WiredServices,
  { isStopping, testClock, keepOpen }: AppOptions,
  operations: () => readonly Operation[],
): Operation[] {
  const {
    applications,
    legalUrls,
    lifecycle,
    activity,
    apiKeys,
    beta,
    grants,
    users,
    imports,
    members,
    webhooks,
    live,
    deliveries,
  } = services;
  const { otp, setup, workspaces, scheduler, limiter, longWork, mail } = services;
  const cookie = sessionCookie(baseUrl());
  const keepConsoleSession = consoleSessionKeeper(cookie, workspaces.consoleId);

  /** @throws {AppError} rate_limited */
  function limitInterest(text: string, { headers }: RequestContext): void {
    const email = normalizeEmail(text) ?? text;
    applyLimit(headers, limiter.consume(LIMITS.interestPerEmail, email, config.limits.interestPerEmail));
  }

  /** Jobs first: what they emit is delivered as well, and what that mails is sent. */
  async function runDue(): Promise<void> {
    await scheduler.runAll();
    await longWork.runOnce();
    await deliveries.runOnce();
    await scheduler.runAll();
    await mail.runOnce();
  }

  return [
    ...signInRoutes({ otp, keepConsoleSession }),
    ...passkeyRoutes({ passkeys: services.passkeys, passkeySignIn: services.passkeySignIn, keepConsoleSession }),
    ...providerRoutes({ ...services.provider, flowCookie: flowCookie(baseUrl(), random), keepConsoleSession }),
    ...verificationRoutes(services.verification),
    ...sessionRoutes(services.sessions),
    ...liveRoutes({ hub: live, keepOpen }),
    ...accountRoutes(services),
    ...profileRoutes(services.profiles),
    ...imageRoutes(services.images),
    ...deviceRoutes({ deviceAuthorization: services.deviceAuthorization, baseUrl }),
    ...deviceAccountRoutes({
      deviceApproval: services.deviceApproval,
      personalKeys: services.personalKeys,
      countGuess: guessLimit(limiter, config.limits),
    }),
    ...applicationRoutes(applications, legalUrls),
    ...lifecycleRoutes(lifecycle),
    ...activityRoutes(activity),
    ...apiKeyRoutes(apiKeys),
    ...betaRoutes(beta, limitInterest),
    ...grantRoutes('roles', grants.roles),
    ...grantRoutes('scopes', grants.scopes),
    ...grantRoutes('memberships', grants.memberships),
    ...userRoutes(users),
    ...importRoutes(imports),
    ...webhookRoutes(webhooks),
    ...workspaceRoutes(workspaces, members),
    ...setupRoutes({ setup, cookie }),
    ...descriptionRoutes({ operations, baseUrl, limits: config.limits }),
    ...healthRoutes({ db, isStopping }),
    ...pageRoutes({
      db,
      isSetupTokenValid: setup.isValid,
      hasOwner: workspaces.hasOwner,
      consoleClientId: CONSOLE_CLIENT_ID,
      isLoopbackAllowed: config.mode !== 'normal',
      isLoopbackOpen: config.mode === 'ephemeral',
      baseUrl,
      limiter,
      limits: config.limits,
      providerFor: (application) => services.provider.clients.effectiveOf(db.reader, application),
      findDeviceGrant: services.deviceApproval.applicationOf,
    }),
    ...(testClock ? testToolRoutes({ db, clock: testClock, runJobs: runDue }) : []),
  ];
}

/** The methods that some operation takes at this very path. */
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
