/** What a module is made of, and the world that it is wired to. */
import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import type { BackupSettings } from '../backup/plan.ts';
import type { WorldClock } from '../core/clock.ts';
import type { InstanceKey } from '../core/instance-key.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Random } from '../core/random.ts';
import type { Database, Topic } from '../db/database.ts';
import type { BodyReader } from '../http/body-reader.ts';
import type { InnerCalls } from '../http/inner-calls.ts';
import type { LimitSettings } from '../http/limits.ts';
import type { Operation } from '../http/operation.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import type { PeerAddress } from '../http/request-context.ts';
import type { LastFlush } from '../jobs/last-flush.ts';
import type { LongWorkKind } from '../jobs/long-work.ts';
import type { Job } from '../jobs/scheduler.ts';
import type { SendNow } from '../mail/send-now.ts';
import type { GuardedFetch } from '../outbound/guarded-fetch.ts';
import type { Probes } from '../outbound/probes.ts';
import type { InstanceFacts } from './health/facts.ts';

/** All parts are optional; a module that others stand on shows them its service as a property of its own. */
export interface Module {
  /** In the order of the description. */
  readonly operations?: readonly Operation[];
  readonly jobs?: readonly Job[];
  readonly kinds?: readonly LongWorkKind<never>[];
  readonly listeners?: readonly CommitListener[];
  /** Takes up what a stop or a crash left; done before anything is served. */
  start?(): Promise<void>;
  /** Takes up nothing more, and waits for what is under way. */
  stop?(): Promise<void>;
  /** Writes down what is counted in memory; for a clean stop, after everything else. */
  readonly flush?: LastFlush;
}

/** What a module wants to know of commits. */
export type CommitListener = (db: Pick<Database, 'onCommit'>) => void;

/** @param tell is given all of a change's messages on the topic, once it is durable; it must not throw. */
export function onCommit<Message>(topic: Topic<Message>, tell: (messages: readonly Message[]) => void): CommitListener {
  return (db) => db.onCommit(topic, tell);
}

/** What every module may take from: the world outside, and what this instance was set to. */
export interface World {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  /** The one way out to addresses that others have given. */
  readonly outbound: GuardedFetch;
  /** The places for what goes out there while a caller waits for it. */
  readonly probes: Probes;
  readonly log: Logger;
  /** Where this server is reached, without a trailing slash. */
  readonly baseUrl: () => string;
  /** What those who run the instance may see of it. */
  readonly instance: InstanceFacts;
  /** A server for development or tests, whose pages may name its calls. */
  readonly isDev: boolean;
  /** Mail stays in the outbox, and nobody is there to read it as in development. */
  readonly isMailOff: boolean;
  /** Past the queue, for somebody who waits for what comes of it. */
  readonly sendNow: SendNow;
  /** Where pictures are fetched, without a trailing slash. */
  readonly cdnUrl: () => string;
  readonly isStopping: () => boolean;
  /** Lets a connection stay open without traffic from the client. */
  readonly keepOpen: (request: Request) => void;
  /** For whom several operations are one: calls of this server's own, through the door that all come by. */
  readonly inner: Pick<InnerCalls, 'call'>;
  /** Where figures are kept: `metrics.gauge(name, help, read)` adds one. */
  readonly metrics: Metrics;
  /** Shown by whoever may read them; null where none is set. */
  readonly metricsToken: string | null;
  readonly peerAddress: PeerAddress;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
  /** For an operation that reads its body itself. */
  readonly bodies: BodyReader;
  readonly auditDays: number;
  readonly backups: BackupSettings;
  /** Private addresses that this instance may call all the same. */
  readonly allowedCidrs: BlockList;
  /** Dev and ephemeral instances take http addresses on loopback, and call them… */
  readonly isLoopbackAllowed: boolean;
  /** …and an ephemeral one takes any of them as return URLs, registered or not. */
  readonly isLoopbackOpen: boolean;
  /** The client at an identity provider for applications without one of their own. */
  readonly instanceProvider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
  } | null;
}
