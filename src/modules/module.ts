import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import type { BackupSettings } from '../backup/plan.ts';
import type { WorldClock } from '../core/clock.ts';
import type { InstanceKey } from '../core/instance-key.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Random } from '../core/random.ts';
import type { Database, Topic } from '../db/database.ts';
import type { BodyReader } from '../http/body-reader.ts';
import type { InternalCalls } from '../http/internal-calls.ts';
import type { LimitSettings } from '../http/limits.ts';
import type { Operation } from '../http/operation.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import type { PeerAddress } from '../http/request-context.ts';
import type { ShutdownFlush } from '../jobs/shutdown-flush.ts';
import type { BackgroundTask } from '../jobs/background-tasks.ts';
import type { Job } from '../jobs/scheduler.ts';
import type { WorkLeases } from '../jobs/work-leases.ts';
import type { AccountNotices } from '../mail/account-notices.ts';
import type { SendNow } from '../mail/send-now.ts';
import type { GuardedFetch } from '../outbound/guarded-fetch.ts';
import type { Probes } from '../outbound/probes.ts';
import type { InstanceFacts } from './health/facts.ts';

/** All parts are optional; a module that others depend on exposes its service as an additional property. */
export interface Module {
  /** In the order of the API description. */
  readonly operations?: readonly Operation[];
  readonly jobs?: readonly Job[];
  readonly tasks?: readonly BackgroundTask<never, string | null, unknown>[];
  readonly listeners?: readonly CommitListener[];
  /** Resumes work left by a stop or crash; runs before anything is served. */
  start?(): Promise<void>;
  /** Accepts no new work, and waits for running work. */
  stop?(): Promise<void>;
  /** Writes in-memory counts to the database; runs last, on a clean stop. */
  readonly flush?: ShutdownFlush;
}

export type CommitListener = (db: Pick<Database, 'onCommit' | 'onNewsMissed'>) => void;

/** @param tell gets all of a transaction's messages on the topic, once committed; it must not throw. */
export function onCommit<Message>(topic: Topic<Message>, tell: (messages: readonly Message[]) => void): CommitListener {
  return (db) => db.onCommit(topic, tell);
}

/** @param find polls for what news may have missed; where it fails, its job polls again. */
export function onNewsMissed(find: () => Promise<void>): CommitListener {
  return (db) => db.onNewsMissed(() => void find().catch(() => {}));
}

/** Context of every module: shared services and the settings of this instance. */
export interface ModuleContext {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  /** Identifies this instance as the holder of leases; the same after a restart on its data folder. */
  readonly leaseHolder: string;
  /** The only client for URLs given by others. */
  readonly outbound: GuardedFetch;
  /** Concurrency limit for outbound requests that a caller waits for. */
  readonly probes: Probes;
  readonly log: Logger;
  /** This server's public URL, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly instance: InstanceFacts;
  /** Whether this server is for development or tests; its pages may then name their API calls. */
  readonly isDev: boolean;
  /** Whether mail stays in the outbox outside development, where nobody reads it. */
  readonly isMailOff: () => Promise<boolean>;
  /** Mails to people about what happened to their account. */
  readonly notices: AccountNotices;
  /** Sends mail past the queue, for callers that wait for the result. */
  readonly sendNow: SendNow;
  /** Public URL of pictures, without a trailing slash. */
  readonly cdnUrl: () => string;
  readonly isStopping: () => boolean;
  /** Runs this server's own operations through the usual request pipeline, for callers that combine several. */
  readonly internal: Pick<InternalCalls, 'call'>;
  /** Metrics registry: `metrics.gauge(name, help, read)` adds a metric. */
  readonly metrics: Metrics;
  readonly metricsToken: string | null;
  readonly peerAddress: PeerAddress;
  readonly limiter: RateLimiter;
  /** For work that one instance at a time does. */
  readonly leases: WorkLeases;
  readonly limits: LimitSettings;
  /** For operations that read their body themselves. */
  readonly bodies: BodyReader;
  readonly auditDays: number;
  readonly backups: BackupSettings;
  /** Private addresses that this instance may call nevertheless. */
  readonly allowedCidrs: BlockList;
  /** Whether OAuth clients may register themselves. */
  readonly isOpenIdRegistrationOn: boolean;
  /** Whether http URLs on loopback are accepted and called (dev and ephemeral instances). */
  readonly isLoopbackAllowed: boolean;
  /** Whether any loopback return URL is accepted, registered or not (ephemeral instances). */
  readonly isLoopbackOpen: boolean;
  /** Default client at an identity provider, for applications without their own. */
  readonly instanceProvider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
  } | null;
}
