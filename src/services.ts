/** Every service of the product, wired to the world it runs in. */
import { SYSTEM_ACTOR } from './core/actor.ts';
import { requireRelyingParty } from './core/relying-party.ts';
import type { Dependencies } from './dependencies.ts';
import { rateLimiter } from './http/rate-limit.ts';
import { retentionJob } from './jobs/retention.ts';
import { type Job, scheduler } from './jobs/scheduler.ts';
import { sessionExpiryJob } from './jobs/session-expiry.ts';
import { mailQueue } from './mail/queue.ts';
import { confirmationService } from './modules/account/confirmation.ts';
import { deletionService } from './modules/account/deletion.ts';
import { emailChangeService } from './modules/account/email.ts';
import { exportService } from './modules/account/export.ts';
import { ownMembershipService } from './modules/account/membership.ts';
import { proofService } from './modules/account/proof.ts';
import { ownSessionService } from './modules/account/sessions.ts';
import { activityService } from './modules/activity/service.ts';
import { personalKeyService } from './modules/api-keys/personal.ts';
import { apiKeyService } from './modules/api-keys/service.ts';
import { legalUrlService } from './modules/applications/legal-urls.ts';
import { applicationService } from './modules/applications/service.ts';
import { betaService } from './modules/beta/service.ts';
import { codeChallengeService } from './modules/codes/code-challenge.ts';
import { deviceApprovalService } from './modules/device/approval.ts';
import { deviceAuthorizationService } from './modules/device/authorization.ts';
import { grantService } from './modules/grants/service.ts';
import { imageService } from './modules/images/service.ts';
import { importService } from './modules/import/service.ts';
import { lifecycleService } from './modules/lifecycle/service.ts';
import { hub } from './modules/live/hub.ts';
import { passkeyService } from './modules/passkeys/service.ts';
import { passkeySignIn } from './modules/passkeys/sign-in.ts';
import { profileService } from './modules/profile/service.ts';
import { providerService } from './modules/provider/service.ts';
import { sessionService } from './modules/sessions/service.ts';
import { setupService } from './modules/setup/service.ts';
import { otpService } from './modules/sign-in/otp.ts';
import { userService } from './modules/users/service.ts';
import { dispatcher } from './modules/webhooks/dispatcher.ts';
import { webhookService } from './modules/webhooks/service.ts';
import { memberService } from './modules/workspace/members.ts';
import { workspaceService } from './modules/workspace/service.ts';

export type Services = ReturnType<typeof createServices>;

/** Wires the services and makes sure that console, workspace and configured owner exist. */
export function createServices(dependencies: Dependencies) {
  const { config, db, clock, random, instanceKey, log, baseUrl } = dependencies;
  const cdnUrl = () => config.cdnUrl ?? `${baseUrl()}/cdn`;
  const isLoopbackAllowed = config.mode !== 'normal';

  const applications = applicationService({ db, clock, random, isLoopbackAllowed });
  const sessions = sessionService({ db, clock, random, cdnUrl });
  const workspaces = workspaceService({ db, applications });
  const challenges = codeChallengeService({ random, instanceKey });
  const apiKeys = apiKeyService({
    db,
    clock,
    random,
    findApplication: applications.find,
    consoleId: workspaces.consoleId,
  });
  const personalKeys = personalKeyService({ db, clock, random });
  const confirmations = confirmationService({ db, challenges, findApplication: applications.find });
  const otp = otpService({
    db,
    challenges,
    sessions,
    findApplication: applications.find,
    findApplicationByClientId: applications.findByClientId,
    limits: config.limits,
    baseUrl,
  });
  const relyingParty = () => requireRelyingParty(baseUrl());
  const provider = providerService({
    db,
    clock,
    random,
    instanceKey,
    sessions,
    log,
    baseUrl,
    outbound: dependencies.outbound,
    instanceProvider: config.provider,
    allowedCidrs: config.allowedCidrs,
    isLoopbackAllowed,
    isLoopbackOpen: config.mode === 'ephemeral',
    findApplication: applications.find,
    findApplicationByClientId: applications.findByClientId,
  });
  const isSessionLive = (sessionId: string) => sessions.envelopeOf(sessionId) !== null;
  const setup = setupService({ db, clock, random, workspaces, sessions, findApplication: applications.find });
  const lifecycle = lifecycleService({ db, applications, challenges, sessions, workspaces });
  const beta = betaService({ db, applications });
  const users = userService({ db, clock, sessions, cdnUrl });
  const legalUrls = legalUrlService({ db, clock, outbound: dependencies.outbound });
  const deliveries = dispatcher({
    db,
    clock,
    random,
    instanceKey,
    outbound: dependencies.outbound,
    log,
    ownerEmails: workspaces.ownerEmails,
  });
  const webhooks = webhookService({
    db,
    clock,
    random,
    instanceKey,
    isLoopbackAllowed: config.mode === 'ephemeral',
    allowedCidrs: config.allowedCidrs,
    wake: deliveries.wake,
  });
  const live = hub(sessions.envelopeOf);
  db.onCommit('events', (events) => {
    deliveries.wake();
    live.publish(events);
  });
  const limiter = rateLimiter({ db, clock });
  const mail = mailQueue({ db, clock, transport: dependencies.mail, log });
  db.onCommit('mail', () => {
    mail.runOnce().catch((err: unknown) => log.error({ err }, 'mail could not be sent; it will be tried again'));
  });

  const flushCounters = () => {
    limiter.flush();
    sessions.flushLastSeen();
  };
  const jobs: Job[] = [
    { name: 'flush counters', everyMs: 1000, runOnce: flushCounters },
    { name: 'launch mails', everyMs: 5000, runOnce: () => beta.continueLaunches(SYSTEM_ACTOR) },
    { name: 'mail', everyMs: 2000, runOnce: () => mail.runOnce() },
    {
      // RETURNING through .get() never triggers SQLite's own checkpoint.
      name: 'checkpoint',
      everyMs: 60_000,
      runOnce: () => void db.sqlite.run('PRAGMA wal_checkpoint(PASSIVE)'),
    },
    sessionExpiryJob({ db, clock }),
    { name: 'event streams', everyMs: 15_000, runOnce: () => live.heartbeat() },
    // Commits wake the dispatcher; this finds what has become due by time.
    { name: 'deliveries', everyMs: 1000, runOnce: () => deliveries.wake() },
    retentionJob({ db, clock, auditDays: config.auditRetentionDays }),
  ];

  const { workspaceId } = workspaces.bootstrap(apiKeys, config);
  return {
    applications,
    legalUrls,
    webhooks,
    deliveries,
    live,
    apiKeys,
    personalKeys,
    deviceAuthorization: deviceAuthorizationService({
      db,
      random,
      instanceKey,
      personalKeys,
      findApplication: applications.find,
      findApplicationByClientId: applications.findByClientId,
      baseUrl,
    }),
    deviceApproval: deviceApprovalService({
      db,
      clock,
      instanceKey,
      workspaces,
      personalKeys,
      findApplication: applications.find,
    }),
    grants: {
      roles: grantService('roles', db),
      scopes: grantService('scopes', db),
      memberships: grantService('memberships', db),
    },
    lifecycle,
    beta,
    users,
    imports: importService(db),
    profiles: profileService({ db, clock }),
    images: imageService({
      db,
      cdnUrl,
      findApplication: applications.find,
      isSessionLive,
    }),
    members: memberService({ db, sessions, consoleId: workspaces.consoleId, baseUrl }),
    activity: activityService(db),
    sessions,
    proofs: proofService(confirmations),
    ownSessions: ownSessionService({ db, clock, sessions }),
    emailChanges: emailChangeService(confirmations),
    ownMemberships: ownMembershipService({
      db,
      sessions,
      findApplication: applications.find,
      consoleId: workspaces.consoleId,
    }),
    exports: exportService(db),
    deletions: deletionService({ confirmations, sessions, auditDays: config.auditRetentionDays }),
    passkeys: passkeyService({
      db,
      random,
      waysIn: provider.waysIn,
      isSessionLive,
      findApplication: applications.find,
      relyingParty,
    }),
    passkeySignIn: passkeySignIn({
      db,
      random,
      sessions,
      relyingParty,
      findApplication: applications.find,
      findApplicationByClientId: applications.findByClientId,
    }),
    otp,
    provider,
    setup,
    workspaces,
    limiter,
    mail,
    flushCounters,
    scheduler: scheduler(jobs, log),
    workspaceId,
  };
}
