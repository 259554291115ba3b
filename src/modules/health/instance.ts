/**
 * How the instance is, for those who run it: the owners of its first workspace, which was there before anybody could make
 * another. What it is set to and how much of everybody's work waits is not for the owners of other workspaces.
 */
import { type Clock, isoTime, SECOND } from '../../core/clock.ts';
import type { Principal } from '../../core/principal.ts';
import type { Database } from '../../db/database.ts';
import { SCHEMA_VERSION } from '../../db/migrate.ts';
import { countLongWorks, countQueuedMails, countWaitingDeliveries } from '../../store/queues.ts';
import { findFirstWorkspaceId } from '../../store/workspaces.ts';
import type { InstanceFacts } from './facts.ts';
import type { InstanceHealthRecord } from './model.ts';
import { type Queues, warningsOf } from './warnings.ts';

export interface InstanceHealthDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly baseUrl: () => string;
  readonly instance: InstanceFacts;
}

/** What waits is counted so often at the most, however many look. */
const COUNTED_EVERY_MS = 5 * SECOND;

export type InstanceHealth = ReturnType<typeof instanceHealthService>;

/** Reads only. */
export function instanceHealthService({ db, clock, baseUrl, instance }: InstanceHealthDependencies) {
  let counted: { readonly at: number; readonly queues: Promise<Queues> } | undefined;

  async function count(): Promise<Queues> {
    const [mails, deliveries, longWork] = await Promise.all([
      countQueuedMails(db.reader),
      countWaitingDeliveries(db.reader),
      countLongWorks(db.reader),
    ]);
    return { mails, deliveries, longWork };
  }

  function countNowAndThen(): Promise<Queues> {
    const now = clock.now();
    if (counted && Math.abs(now - counted.at) < COUNTED_EVERY_MS) return counted.queues;
    const queues = count();
    counted = { at: now, queues };
    queues.catch(() => (counted = undefined));
    return queues;
  }

  async function isOperator(principal: Principal): Promise<boolean> {
    if (principal.kind === 'key') return false;
    const first = await findFirstWorkspaceId(db.reader);
    return principal.workspaces.some(({ workspaceId, role }) => workspaceId === first && role === 'owner');
  }

  /** What everybody may know who owns something here. */
  function present(): Omit<InstanceHealthRecord, 'isOperator'> {
    const { version, startedAt, mode, mail } = instance;
    return {
      version,
      startedAt: isoTime(startedAt),
      uptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAt) / SECOND)),
      mode,
      engine: 'sqlite',
      baseUrl: baseUrl(),
      mail: { transport: mail.transport, server: null, from: null },
      database: null,
      queues: null,
      settings: null,
      warnings: null,
    };
  }

  return {
    async get(principal: Principal): Promise<InstanceHealthRecord> {
      if (!(await isOperator(principal))) return { ...present(), isOperator: false };
      const [size, queues] = await Promise.all([db.measure(), countNowAndThen()]);
      const status = db.status();
      const { mails, deliveries, longWork } = queues;
      const { mail, settings } = instance;
      return {
        ...present(),
        isOperator: true,
        mail,
        database: {
          bytes: size.bytes,
          walBytes: status.logBytes,
          freeBytes: size.freeBytes,
          schemaVersion: SCHEMA_VERSION,
        },
        queues: {
          changes: status.queued,
          mailsQueued: { code: mails.code.count, notice: mails.notice.count, bulk: mails.bulk.count },
          deliveriesQueued: deliveries.queued.count,
          deliveriesHeld: deliveries.held.count,
          longWork: longWork.count,
        },
        settings: [...settings],
        warnings: warningsOf({
          now: clock.now(),
          facts: instance,
          baseUrl: baseUrl(),
          database: { ...status, ...size },
          queues,
        }),
      };
    },
  };
}
