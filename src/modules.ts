/** Wires the product's modules to their context and dependencies. A new module is a line in the list. */
import { accountModule } from './modules/account/module.ts';
import { activityModule } from './modules/activity/module.ts';
import { apiKeysModule } from './modules/api-keys/module.ts';
import { applicationsModule } from './modules/applications/module.ts';
import { backupsModule } from './modules/backups/module.ts';
import { betaModule } from './modules/beta/module.ts';
import { codesModule } from './modules/codes/module.ts';
import { descriptionModule } from './modules/description/module.ts';
import { devicesModule } from './modules/devices/module.ts';
import { docsModule } from './modules/docs/module.ts';
import { grantsModule } from './modules/grants/module.ts';
import { healthModule } from './modules/health/module.ts';
import { i18nModule } from './modules/i18n/module.ts';
import { imagesModule } from './modules/images/module.ts';
import { importModule } from './modules/import/module.ts';
import { instancesModule } from './modules/instances/module.ts';
import { lifecycleModule } from './modules/lifecycle/module.ts';
import { callersJob } from './modules/live/callers.ts';
import { liveModule } from './modules/live/module.ts';
import { mailLinesModule } from './modules/mail-lines/module.ts';
import { mailServerModule } from './modules/mail-server/module.ts';
import { mcpModule } from './modules/mcp/module.ts';
import { metricsModule } from './modules/metrics/module.ts';
import type { Module, ModuleContext } from './modules/module.ts';
import { oauthModule } from './modules/oauth/module.ts';
import { openIdTokens } from './modules/openid/id-token.ts';
import { signingKeyService } from './modules/openid/keys.ts';
import { logoutTokenOf } from './modules/openid/logout-delivery.ts';
import { openidModule } from './modules/openid/module.ts';
import { outboxModule } from './modules/outbox/module.ts';
import { passkeysModule } from './modules/passkeys/module.ts';
import { profileModule } from './modules/profile/module.ts';
import { providerModule } from './modules/provider/module.ts';
import { seedModule } from './modules/seed/module.ts';
import { continuationModule } from './modules/continuation/module.ts';
import { pageSessionsModule } from './modules/page-sessions/module.ts';
import { sessionsModule } from './modules/sessions/module.ts';
import { setupModule } from './modules/setup/module.ts';
import { signInModule } from './modules/sign-in/module.ts';
import { statsModule } from './modules/stats/module.ts';
import { type TestTools, testToolsModule } from './modules/test-tools/module.ts';
import { usersModule } from './modules/users/module.ts';
import { verificationModule } from './modules/verification/module.ts';
import { webhooksModule } from './modules/webhooks/module.ts';
import { workspaceModule } from './modules/workspace/module.ts';
import { sessionCookie } from './http/session-cookie.ts';
import { blockedOnPages, readerOfPages } from './pages/reader.ts';
import { pageRoutes } from './pages/routes.ts';
import { consoleRoutes } from './console/route.tsx';
import { consoleOpening } from './modules/workspace/console-opening.ts';
import type { Application } from './store/applications.ts';

/** Wires the modules; starts nothing and queries no database. @param testTools null unless ephemeral. */
export function wireModules(context: ModuleContext, testTools: TestTools | null) {
  // Modules that others depend on, each below its own dependencies.
  const codes = codesModule(context);
  const challenges = codes.service;
  const sessions = sessionsModule(context);
  const verification = verificationModule(context);
  const beta = betaModule(context);
  const applications = applicationsModule(context, beta);
  const apiKeys = apiKeysModule(context);
  const workspace = workspaceModule(context, { applications: applications.service });
  const { consoleId, hasOwner } = workspace.service;
  const { service: browser, ofConsole: consoleSessions } = pageSessionsModule(context, verification.service);
  const signIn = signInModule(context, {
    challenges,
    sessions: sessions.service,
    standings: beta.standings,
    browserSessions: browser,
    consoleId,
  });
  const { setSignInCookies, pageBrowserOf } = signIn;
  const provider = providerModule(context, { sessions: sessions.service, setSignInCookies, pageBrowserOf });
  const { lastMethodGuard, clients } = provider.service;
  const { usableIdentities } = clients;
  const { service: continuation } = continuationModule(context, {
    browser,
    sessions: sessions.service,
    usableIdentities,
  });
  const setup = setupModule(context, { sessions: sessions.service, workspaces: workspace.service });
  const account = accountModule(context, { challenges });
  const devices = devicesModule(context);
  const grants = grantsModule(context);
  const users = usersModule(context);
  const activity = activityModule(context);
  const live = liveModule(context, { verification: verification.service });
  const keys = signingKeyService(context);
  const tokens = openIdTokens({ keys, clock: context.clock });
  const webhooks = webhooksModule(context, { logoutToken: logoutTokenOf({ reader: context.db.reader, tokens }) });
  const stats = statsModule(context);
  const openid = openidModule(context, {
    keys,
    tokens,
    sessions: sessions.service,
    verification: verification.service,
    personalKeys: devices.personalKeys,
    deviceAuthorization: devices.authorization,
    noteRefusal: stats.counts.noteRefusal,
    browser,
    consoleSessions,
    continuation,
  });
  const imports = importModule(context);
  const seed = seedModule(context, {
    applications: applications.service,
    beta: beta.service,
    clients,
    grants: grants.service,
    openid: openid.settings,
    imports: imports.service,
    webhooks: webhooks.service,
    apiKeys: apiKeys.service,
  });
  const backups = backupsModule(context);
  const outbox = outboxModule(context, { consoleId });
  const health = healthModule(context, { backups: backups.service.standing });
  const cookie = sessionCookie(context.baseUrl());
  const operations = () => modules.flatMap((module) => module.operations ?? []);

  const pages = {
    ...context,
    isSetupTokenValid: setup.service.isValid,
    emailUndo: account.emailUndo,
    hasOwner,
    cookie,
    openingOf: consoleOpening({
      sessionOf: (request) => consoleSessions.find(request, context.db.reader),
      account: account.overview,
      workspaces: workspace.service,
      applications: applications.service,
    }),
    readerOf: readerOfPages({ db: context.db, cookie, credentials: verification.service.credentials }),
    isBlockedOn: blockedOnPages({ cookie, look: verification.service.lookAtPage }),
    wrongTriesPerCode: context.limits.wrongTriesPerCode,
    providerFor: (application: Application) => clients.effectiveOf(context.db.reader, application),
    findDeviceGrant: devices.approval.applicationOf,
    signOut: sessions.service.signOut,
    lookAtPage: verification.service.lookAtPage,
    browser,
    continuation,
    docs: docsModule(context, operations).docs,
    isTrial: applications.trials.isValid,
    authorization: openid.authorization,
    consents: openid.consents,
    endSession: openid.endSession,
  };

  /** In the order of the API description. */
  const modules: readonly Module[] = [
    signIn,
    passkeysModule(context, { sessions: sessions.service, lastMethodGuard, setSignInCookies, pageBrowserOf }),
    provider,
    verification,
    sessions,
    live,
    account,
    profileModule(context),
    imagesModule(context),
    devices,
    openid,
    oauthModule(context, {
      verification: verification.service,
      sessions: sessions.service,
      personalKeys: devices.personalKeys,
    }),
    applications,
    mailLinesModule(context),
    lifecycleModule(context, { challenges }),
    activity,
    stats,
    apiKeys,
    beta,
    grants,
    users,
    imports,
    webhooks,
    workspace,
    seed,
    outbox,
    mailServerModule(context, outbox),
    setup,
    codes,
    i18nModule(),
    descriptionModule(context, { operations }),
    mcpModule(context, { operations }),
    health,
    backups,
    instancesModule(context),
    metricsModule(context, {
      queueCounts: health.queueCounts,
      streams: { session: live.hub.count, activity: activity.streams.count, events: webhooks.streams.count },
    }),
    {
      jobs:
        context.db.engine === 'sqlite'
          ? []
          : [callersJob(context.db, context.clock, [live.hub, activity.streams, webhooks.streams])],
    },
    { operations: [...pageRoutes(pages), ...consoleRoutes(pages)] },
    ...(testTools ? [testToolsModule(context, testTools)] : []),
  ];

  return {
    modules,
    operations,
    /** Services called by name from outside the modules: by the router, by commands and by tests. */
    services: {
      activity: activity.streams,
      apiKeys: apiKeys.service,
      applications: applications.service,
      backups: backups.service,
      counts: stats.counts,
      deliveries: webhooks.deliveries,
      eventStreams: webhooks.streams,
      deviceApproval: devices.approval,
      grants: grants.service,
      live: live.hub,
      personalKeys: devices.personalKeys,
      provider: provider.service,
      seed: seed.service,
      sessions: sessions.service,
      setup: setup.service,
      users: users.service,
      verification: verification.service,
      workspaces: workspace.service,
    },
  };
}
