/** Instance health for the owners of the first workspace; others must not see settings and all tenants' queues. */
import { isoTime, SECOND, type WorldClock } from '../../core/clock.ts';
import type { Principal } from '../../core/principal.ts';
import type { Database } from '../../db/database.ts';
import { findInstances } from '../instances/overview.ts';
import { hasAnyUser } from '../../store/members.ts';
import { listQuarantinedEndpoints } from '../../store/webhooks.ts';
import type { InstanceFacts, MailFacts } from './facts.ts';
import type { InstanceHealthRecord } from './model.ts';
import { isOperator } from './operator.ts';
import { presentDatabase, presentInstance } from './present.ts';
import type { QueueCounts } from './queue-counts.ts';
import { type BackupStanding, warningsOf } from './warnings.ts';

export interface InstanceHealthDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  /** Id of this instance among those on the database. */
  readonly leaseHolder: string;
  readonly baseUrl: () => string;
  readonly instance: InstanceFacts;
  readonly queueCounts: QueueCounts;
  readonly backups: () => Promise<BackupStanding | null>;
}

/** More are found in the applications' lists. */
const MAX_ENDPOINTS = 20;

export type InstanceHealth = ReturnType<typeof instanceHealthService>;

export function instanceHealthService({
  db,
  clock,
  leaseHolder,
  baseUrl,
  instance,
  queueCounts,
  backups,
}: InstanceHealthDependencies) {
  /** Returns the part that an owner of the workspace may see. */
  async function present(
    workspaceId: string,
    { transport, source }: MailFacts,
  ): Promise<Omit<InstanceHealthRecord, 'isOperator'>> {
    const { version, startedAt, mode } = instance;
    return {
      version,
      startedAt: isoTime(startedAt),
      uptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAt) / SECOND)),
      mode,
      engine: db.engine,
      baseUrl: baseUrl(),
      quarantined: await listQuarantinedEndpoints(db.reader, { workspaceId, limit: MAX_ENDPOINTS }),
      mail: { transport, source, server: null, from: null },
      database: null,
      instances: null,
      queues: null,
      settings: null,
      warnings: null,
    };
  }

  return {
    /** @param workspaceId whose quarantined endpoints are listed. */
    async get(principal: Principal, workspaceId: string): Promise<InstanceHealthRecord> {
      const mail = await instance.mail();
      const shown = await present(workspaceId, mail);
      if (!(await isOperator(db.reader, principal))) return { ...shown, isOperator: false };
      const [size, instances, queues, standing, hasUsers] = await Promise.all([
        db.measure(),
        findInstances(db.reader, clock),
        queueCounts.recent(),
        backups(),
        hasAnyUser(db.reader),
      ]);
      const status = db.status();
      const { mails, deliveries, longWork } = queues;
      const { settings } = instance;
      return {
        ...shown,
        isOperator: true,
        mail,
        database: presentDatabase(db.schemaVersion, status, size),
        instances: instances.map((one) => presentInstance(one, leaseHolder)),
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
          mail,
          baseUrl: baseUrl(),
          database: { ...status, ...size },
          instances,
          queues,
          backups: standing,
          hasUsers,
        }),
      };
    },
  };
}
