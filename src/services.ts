/** Wires everything that runs (modules, limits, mail, background tasks, jobs), and starts and stops it. */
import { DAY, SECOND } from './core/clock.ts';
import { type Deadline, NO_DEADLINE } from './core/deadline.ts';
import { metricsRegistry } from './core/metrics.ts';
import type { Dependencies } from './dependencies.ts';
import { bodyReader } from './http/body-reader.ts';
import { internalCalls } from './http/internal-calls.ts';
import { rateLimiter } from './http/rate-limiter.ts';
import { countLimited, requestMetrics } from './http/request-metrics.ts';
import { instanceFacts, type ProxyWatch } from './instance-facts.ts';
import { clockSteps } from './jobs/clock-steps.ts';
import { flushOnShutdown } from './jobs/shutdown-flush.ts';
import { taskRunner } from './jobs/background-tasks.ts';
import { retentionJob } from './jobs/retention.ts';
import { scheduler } from './jobs/scheduler.ts';
import { workLeases } from './jobs/work-leases.ts';
import { accountNotices } from './mail/account-notices.ts';
import { LONGEST_MAIL_RETRY_MS } from './mail/queue.ts';
import { mailLeases } from './mail/leases.ts';
import { mailOf } from './mail/mail-of.ts';
import { sendNow } from './mail/send-now.ts';
import { wireModules } from './modules.ts';
import { LIFETIMES } from './modules/lifetimes.ts';
import { type Module, onCommit, type ModuleContext } from './modules/module.ts';
import { probePool } from './outbound/probes.ts';
import { findBudget } from './store/budgets.ts';
import { MAIL_QUEUED } from './store/mails.ts';

export type Services = Awaited<ReturnType<typeof createServices>>;

/** Wires the services, resumes interrupted work, and makes sure that console, workspace and configured owner exist. */
export async function createServices(dependencies: Dependencies) {
  const services = wireServices(dependencies);
  await services.start();
  const { workspaceId } = await services.workspaces.bootstrap(services.apiKeys, dependencies.config);
  return { ...services, workspaceId };
}

export type WiredServices = ReturnType<typeof wireServices>;

/** Wires the services without querying the database: they can be described without one. */
export function wireServices(dependencies: Dependencies) {
  const { config, db, clock, leaseHolder, log, baseUrl, testClock, certificate } = dependencies;
  const limiter = rateLimiter({ db, clock }, dependencies.threads?.limits ?? null);
  const leases = mailLeases({ db, clock, leaseHolder });
  const { inUse, onCapture, queue: mail } = mailOf(dependencies, leases);
  const work = workLeases(dependencies);
  const proxies: ProxyWatch = { untrustedHeader: null };
  const internal = internalCalls();
  const metrics = metricsRegistry(dependencies.threads?.samples);
  const context: ModuleContext = {
    ...dependencies,
    metrics,
    metricsToken: config.metricsToken,
    probes: probePool((workspaceId) => findBudget(db.reader, workspaceId)),
    internal,
    leases: work,
    instance: instanceFacts(dependencies, inUse, proxies),
    limiter,
    limits: config.limits,
    bodies: bodyReader(config.limits),
    auditDays: config.auditRetentionDays,
    backups: config,
    allowedCidrs: config.allowedCidrs,
    instanceProvider: config.provider,
    isOpenIdRegistrationOn: config.isOpenIdRegistrationOn,
    isLoopbackAllowed: config.mode !== 'normal',
    isLoopbackOpen: config.mode === 'ephemeral',
    isDev: config.mode !== 'normal',
    isMailOff: async () => config.mode === 'normal' && (await inUse.describe()) === null,
    notices: accountNotices(baseUrl),
    sendNow: sendNow({ db, inUse, onCapture, leases, log }),
    cdnUrl: () => config.cdnUrl ?? `${baseUrl()}/cdn`,
  };
  const { modules, operations, services } = wireModules(context, testClock && { clock: testClock, runJobs: runDue });
  const tasks = taskRunner({ db, log, leases: work, tasks: modules.flatMap((module) => module.tasks ?? []) });

  const steps = clockSteps({ db, clock, log, longestMailWaitMs: LONGEST_MAIL_RETRY_MS, lifetimes: LIFETIMES });

  /** In the order in which their jobs run; retention runs last. */
  const parts: readonly Module[] = [
    {
      jobs: [{ name: 'flush counters', everyMs: SECOND, runOnce: () => limiter.flush() }],
      start: () => limiter.load(),
      flush: { of: 'rate-limit counters', run: limiter.flushAll },
    },
    {
      // Commits wake the queue; the job finds mails due by time, and those of a dead instance.
      jobs: [
        { name: 'mail', everyMs: 2 * SECOND, runOnce: () => mail.wake() },
        { name: 'mail leases', everyMs: 2 * SECOND, runOnce: () => leases.renew() },
      ],
      listeners: [onCommit(MAIL_QUEUED, () => mail.wake())],
      start: () => mail.start(),
      // A mail server that stalls must not keep the process alive; mails it has not accepted stay queued.
      stop: () => mail.close(SECOND),
    },
    { jobs: [steps.job], start: () => steps.start() },
    ...(certificate
      ? [{ jobs: [{ name: 'certificate', everyMs: DAY, runOnce: async () => certificate.look() }] }]
      : []),
    { jobs: [{ name: 'checkpoint', everyMs: SECOND, runOnce: () => db.maintain() }] },
    {
      jobs: [{ name: 'background tasks', everyMs: 5 * SECOND, isDueAtStart: true, runOnce: () => tasks.runOnce() }],
      stop: () => tasks.stop(),
    },
    ...modules,
    { jobs: [retentionJob({ db, clock, auditDays: context.auditDays })] },
  ];
  for (const listen of parts.flatMap(({ listeners }) => listeners ?? [])) listen(db);
  const jobs = scheduler(
    parts.flatMap((part) => part.jobs ?? []),
    { log, leases: work, isDatabaseDown: () => db.status().outage !== null },
  );

  /** Runs everything due, jobs first: their events are then delivered, and the resulting mails sent. */
  async function runDue(): Promise<void> {
    await jobs.runAll();
    await tasks.runOnce();
    await services.deliveries.runOnce();
    await jobs.runAll();
    await mail.runOnce();
  }

  return {
    ...services,
    limiter,
    bodies: context.bodies,
    internal,
    proxies,
    metrics,
    noteRequest: requestMetrics(metrics),
    noteLimited: countLimited(metrics),
    mail,
    tasks,
    scheduler: jobs,
    operations: operations(),
    async flushCounters() {
      await limiter.flush();
      await services.verification.flushLastSeen();
      await services.counts.flush();
    },
    /** Resumes work that a stop or a crash interrupted. Call it before anything is served. */
    async start() {
      for (const part of parts) await part.start?.();
    },
    /** Starts nothing more, and waits for running work. */
    async stop() {
      try {
        await Promise.all([...parts.map((part) => part.stop?.()), jobs.stop()]);
      } finally {
        await work.releaseAll();
      }
    },
    /** Writes counts from memory for a clean stop, and logs those not written by the deadline. */
    async flushAll(deadline: Deadline = NO_DEADLINE) {
      const flushes = parts.flatMap(({ flush }) => flush ?? []);
      await flushOnShutdown(flushes, deadline, log);
    },
  };
}
