/** Every service of the product, wired to the world it runs in. */
import type { Dependencies } from './dependencies.ts';
import { rateLimiter } from './http/rate-limit.ts';
import { retentionJob } from './jobs/retention.ts';
import { type Job, scheduler } from './jobs/scheduler.ts';
import { mailQueue } from './mail/queue.ts';
import { apiKeyService } from './modules/api-keys/service.ts';
import { applicationService } from './modules/applications/service.ts';
import { sessionService } from './modules/sessions/service.ts';
import { setupService } from './modules/setup/service.ts';
import { codeChallengeService } from './modules/sign-in/code-challenge.ts';
import { otpService } from './modules/sign-in/otp.ts';
import { workspaceService } from './modules/workspace/service.ts';

export type Services = ReturnType<typeof createServices>;

/** Wires the services and makes sure that console, workspace and configured owner exist. */
export function createServices(dependencies: Dependencies) {
  const { config, db, clock, random, instanceKey, log, baseUrl } = dependencies;
  const cdnUrl = () => config.cdnUrl ?? `${baseUrl()}/cdn`;
  const isLoopbackAllowed = config.mode !== 'normal';

  const applications = applicationService({ db, isLoopbackAllowed });
  const workspaces = workspaceService({ db, applications });
  const sessions = sessionService({ db, clock, random, cdnUrl });
  const apiKeys = apiKeyService({
    db,
    clock,
    random,
    findApplication: applications.find,
    consoleId: workspaces.consoleId,
  });
  const otp = otpService({
    db,
    challenges: codeChallengeService({ random, instanceKey }),
    sessions,
    findApplication: applications.find,
    findApplicationByClientId: applications.findByClientId,
    limits: config.limits,
    baseUrl,
  });
  const setup = setupService({ db, clock, random, workspaces, sessions, findApplication: applications.find });
  const limiter = rateLimiter({ db, clock });
  const mail = mailQueue({ db, clock, transport: dependencies.mail, log });
  db.onCommit('mail', () => void mail.runOnce());

  const flushCounters = () => {
    limiter.flush();
    sessions.flushLastSeen();
  };
  const jobs: Job[] = [
    { name: 'flush counters', everyMs: 1000, runOnce: flushCounters },
    { name: 'mail', everyMs: 2000, runOnce: () => mail.runOnce() },
    {
      // RETURNING through .get() never triggers SQLite's own checkpoint.
      name: 'checkpoint',
      everyMs: 60_000,
      runOnce: () => void db.sqlite.run('PRAGMA wal_checkpoint(PASSIVE)'),
    },
    retentionJob({ db, clock }),
  ];

  const { workspaceId } = workspaces.bootstrap(apiKeys, config);
  return {
    applications,
    apiKeys,
    sessions,
    otp,
    setup,
    workspaces,
    limiter,
    mail,
    flushCounters,
    scheduler: scheduler(jobs, log),
    workspaceId,
  };
}
