/** Every service of the product, wired to the world it runs in. */
import { requireRelyingParty } from './core/relying-party.ts';
import type { Dependencies } from './dependencies.ts';
import { rateLimiter } from './http/rate-limit.ts';
import { longWorkRunner } from './jobs/long-work.ts';
import { retentionJob } from './jobs/retention.ts';
import { type Job, scheduler } from './jobs/scheduler.ts';
import { sessionExpiryJob } from './jobs/session-expiry.ts';
import { mailQueue } from './mail/queue.ts';
import { confirmationService } from './modules/account/confirmation.ts';
import { deletionService } from './modules/account/deletion.ts';
import { emailChangeService } from './modules/account/email.ts';
import { exportService } from './modules/account/export.ts';
import { forgetSessions } from './modules/account/forget-sessions.ts';
import { ownMembershipService } from './modules/account/membership.ts';
import { overviewService } from './modules/account/overview.ts';
import { proofService } from './modules/account/proof.ts';
import { ownSessionService } from './modules/account/sessions.ts';
import { activityService } from './modules/activity/service.ts';
import { personalKeyService } from './modules/devices/personal-keys.ts';
import { apiKeyService } from './modules/api-keys/service.ts';
import { keyEndings } from './modules/api-keys/trails.ts';
import { legalUrlService } from './modules/applications/legal-urls.ts';
import { applicationService } from './modules/applications/service.ts';
import { betaService } from './modules/beta/service.ts';
import { decidePending, launch } from './modules/beta/trails.ts';
import { codeChallengeService } from './modules/codes/code-challenge.ts';
import { deviceApprovalService } from './modules/devices/approval.ts';
import { deviceAuthorizationService } from './modules/devices/authorization.ts';
import { grantService } from './modules/grants/service.ts';
import { announceRename, withdrawGrant } from './modules/grants/trails.ts';
import { imageService } from './modules/images/service.ts';
import { importService } from './modules/import/service.ts';
import { lifecycleService } from './modules/lifecycle/service.ts';
import { hub } from './modules/live/hub.ts';
import { passkeyService } from './modules/passkeys/service.ts';
import { passkeySignIn } from './modules/passkeys/sign-in.ts';
import { profileService } from './modules/profile/service.ts';
import { providerService } from './modules/provider/service.ts';
import { sessionEndings } from './modules/sessions/end.ts';
import { sessionService } from './modules/sessions/service.ts';
import { verificationService } from './modules/verification/service.ts';
import { setupService } from './modules/setup/service.ts';
import { otpService } from './modules/sign-in/otp.ts';
import { userService } from './modules/users/service.ts';
import { dispatcher } from './modules/webhooks/dispatcher.ts';
import { DELETE_WEBHOOK } from './modules/webhooks/removal.ts';
import { webhookService } from './modules/webhooks/service.ts';
import { memberService } from './modules/workspace/members.ts';
import { workspaceService } from './modules/workspace/service.ts';
import { DELIVERY_QUEUED } from './store/deliveries.ts';
import { EVENT_EMITTED } from './store/events.ts';
import { MAIL_QUEUED } from './store/mails.ts';
import { SESSIONS_ENDED } from './store/sessions.ts';

export type Services = Awaited<ReturnType<typeof createServices>>;

/** Wires the services and makes sure that console, workspace and configured owner exist. */
export async function createServices(dependencies: Dependencies) {
  const services = wireServices(dependencies);
  await services.limiter.load();
  const { workspaceId } = await services.workspaces.bootstrap(services.apiKeys, dependencies.config);
  return { ...services, workspaceId };
}

export type WiredServices = ReturnType<typeof wireServices>;

/** Wires the services. The database is not asked: they can be described without one. */
export function wireServices(dependencies: Dependencies) {
  const { config, db, clock, random, instanceKey, log, baseUrl } = dependencies;
  const cdnUrl = () => config.cdnUrl ?? `${baseUrl()}/cdn`;
  const isLoopbackAllowed = config.mode !== 'normal';

  const applications = applicationService({ db, clock, random, isLoopbackAllowed });
  const verification = verificationService({ db, clock, cdnUrl });
  const sessions = sessionService({ db, random });
  const workspaces = workspaceService({ db, applications });
  const challenges = codeChallengeService({ random, instanceKey, limits: config.limits });
  const apiKeys = apiKeyService({ db, clock, random });
  const personalKeys = personalKeyService({ db, clock, random });
  const confirmations = confirmationService({ db, challenges });
  const otp = otpService({ db, challenges, sessions, limits: config.limits, baseUrl });
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
  });
  const setup = setupService({ db, clock, random, workspaces, sessions });
  const lifecycle = lifecycleService({ db, challenges });
  const beta = betaService(db);
  const users = userService({ db, clock, cdnUrl });
  const legalUrls = legalUrlService({ db, clock, outbound: dependencies.outbound });
  const deliveries = dispatcher({
    db,
    clock,
    random,
    instanceKey,
    outbound: dependencies.outbound,
    log,
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
  const live = hub(verification.envelopeOf);
  db.onCommit(DELIVERY_QUEUED, (webhookIds) => deliveries.wake(webhookIds));
  db.onCommit(EVENT_EMITTED, (events) => live.publish(events));
  db.onCommit(SESSIONS_ENDED, (ended) => live.recheck(ended));
  const limiter = rateLimiter({ db, clock });
  const mail = mailQueue({ db, clock, transport: dependencies.mail, log });
  db.onCommit(MAIL_QUEUED, () => mail.wake());
  const longWork = longWorkRunner({
    db,
    log,
    kinds: [
      sessionEndings,
      announceRename,
      withdrawGrant,
      keyEndings,
      forgetSessions,
      decidePending,
      launch,
      DELETE_WEBHOOK,
    ],
  });

  const flushCounters = async () => {
    await limiter.flush();
    await verification.flushLastSeen();
  };
  const jobs: Job[] = [
    { name: 'flush counters', everyMs: 1000, runOnce: () => limiter.flush() },
    { name: 'last seen', everyMs: 1000, runOnce: () => verification.flushLastSeen() },
    // Commits wake the queue; this finds what has become due by time.
    { name: 'mail', everyMs: 2000, runOnce: () => mail.wake() },
    { name: 'checkpoint', everyMs: 1000, runOnce: () => db.maintain() },
    { name: 'long work', everyMs: 5000, runOnce: () => longWork.runOnce() },
    sessionExpiryJob({ db, clock }),
    { name: 'event streams', everyMs: 15_000, runOnce: () => live.heartbeat() },
    // Commits wake the dispatcher; this finds what has become due by time.
    { name: 'deliveries', everyMs: 1000, runOnce: () => deliveries.wake() },
    retentionJob({ db, clock, auditDays: config.auditRetentionDays }),
  ];

  return {
    longWork,
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
      limits: config.limits,
      baseUrl,
    }),
    deviceApproval: deviceApprovalService({ db, clock, instanceKey, personalKeys }),
    grants: {
      roles: grantService('roles', db),
      scopes: grantService('scopes', db),
      memberships: grantService('memberships', db),
    },
    lifecycle,
    beta,
    users,
    imports: importService(db),
    profiles: profileService(db),
    images: imageService({ db, cdnUrl }),
    members: memberService({ db, consoleId: workspaces.consoleId, baseUrl }),
    activity: activityService(db),
    verification,
    sessions,
    overview: overviewService({ db, clock }),
    proofs: proofService(confirmations),
    ownSessions: ownSessionService({ db, clock }),
    emailChanges: emailChangeService(confirmations),
    ownMemberships: ownMembershipService(db),
    exports: exportService(db),
    deletions: deletionService({ confirmations, auditDays: config.auditRetentionDays }),
    passkeys: passkeyService({ db, random, waysIn: provider.waysIn, relyingParty }),
    passkeySignIn: passkeySignIn({ db, random, sessions, relyingParty }),
    otp,
    provider,
    setup,
    workspaces,
    limiter,
    mail,
    flushCounters,
    /** Writes down all that is counted in memory; for a clean stop. */
    async flushAll() {
      await limiter.flushAll();
      await verification.flushLastSeen(true);
    },
    /** Takes up what a stop or a crash left under way. */
    async begin() {
      await mail.start();
      await deliveries.start();
    },
    scheduler: scheduler(jobs, log),
  };
}
