/** Drops held deliveries after 30 days, by whole UTC days with an audit record; owners get one mail a week before. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { startOfDay } from '../../core/calendar.ts';
import { type Clock, DAY, HOUR } from '../../core/clock.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import type { Database, Unit } from '../../db/database.ts';
import { beginTask, type BackgroundTask } from '../../jobs/background-tasks.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { heldEventsMail } from '../../mail/messages/held-events.ts';
import type { WorkspaceMail } from '../../mail/workspace-mail.ts';
import { requireApplication } from '../../store/applications.ts';
import { amendAudit, recordAudit } from '../../store/audit.ts';
import { countPendingDeliveries } from '../../store/deliveries.ts';
import {
  dropHeldDeliveries,
  findRestingEndpoint,
  listRestingEndpoints,
  noteDropNotice,
  type RestingEndpoint,
} from '../../store/held-deliveries.ts';
import { listLongWorksOf } from '../../store/long-works.ts';
import { listOwners } from '../../store/workspace-members.ts';
import { requireWorkspace } from '../../store/workspaces.ts';

/** Minimum retention; deliveries stay to the end of that UTC day. */
export const HELD_KEPT_MS = 30 * DAY;
/** Time between the mail and the first drop, however old the deliveries are. */
const NOTICE_MS = 7 * DAY;
/** Maximum age without a mail: otherwise a workspace that spends all its mails would keep deliveries forever. */
const WAITED_MS = 60 * DAY;
const BATCH = 100;

/** Returns the creation time before which deliveries are dropped; constant within a day. */
const dropsBefore = (now: number) => startOfDay(now) - HELD_KEPT_MS;

interface Drop {
  readonly webhookId: string;
  readonly before: number;
  readonly recordId: string;
}

/** Stops if the endpoint is active again, so that the rest is sent. The cursor counts the dropped deliveries. */
export const DROP_HELD: BackgroundTask<Drop> = {
  name: 'drop_held',
  async step(unit, { data: { webhookId, before, recordId }, cursor }, limit) {
    const isResting = (await findRestingEndpoint(unit, webhookId)) !== undefined;
    const done = isResting ? await dropHeldDeliveries(unit, { webhookId, before, limit }) : 0;
    const dropped = Number(cursor ?? 0) + done;
    if (done > 0) await amendAudit(unit, recordId, { dropped });
    return { done, cursor: String(dropped), isFinished: done < limit };
  },
};

export interface HeldEventsDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly mails: WorkspaceMail;
  readonly baseUrl: () => string;
}

/** Never notifies twice: the change that queues the mail also marks the endpoint. */
export function heldEventsJob({ db, clock, mails, baseUrl }: HeldEventsDependencies): Job {
  const isNoticeDue = ({ dropNoticeAt, oldestAt }: RestingEndpoint, now: number) =>
    dropNoticeAt === null && oldestAt < dropsBefore(now + NOTICE_MS);

  const isDropDue = ({ dropNoticeAt, oldestAt }: RestingEndpoint, now: number) =>
    dropNoticeAt !== null && dropNoticeAt + NOTICE_MS <= now && oldestAt < dropsBefore(now);

  /** Waits while the workspace has no mails left this hour. After `WAITED_MS` the events are dropped without a mail. */
  async function notify(unit: Unit, endpoint: RestingEndpoint, count: number): Promise<void> {
    const { id, applicationId, url, kind, status, oldestAt } = endpoint;
    const { name: applicationName, workspaceId, deletedAt } = await requireApplication(unit, applicationId);
    // The console has no owners, and held deliveries of a deleted application cannot be released. Sign-outs of weeks ago
    // are no loss: the mail about the quarantine is enough.
    const hasOwners = workspaceId !== null && deletedAt === null && kind === 'events';
    const owners = hasOwners ? await listOwners(unit, workspaceId) : [];
    const isSpent = hasOwners && owners.length > (await mails.left(unit, workspaceId));
    if (isSpent && oldestAt > unit.now - WAITED_MS) return;
    await noteDropNotice(unit, id);
    if (!hasOwners || isSpent) return;
    const { name: workspaceName } = await requireWorkspace(unit, workspaceId);
    const dropsAt = unit.now + NOTICE_MS;
    const content = {
      workspaceName,
      applicationName,
      url,
      isSwitchedOff: status === 'disabled',
      count,
      dropsAt,
      consoleUrl: `${baseUrl()}/console/applications/${applicationId}/webhooks/${id}`,
    };
    await mails.queue(
      unit,
      workspaceId,
      owners.map(({ email: to, locale }) => {
        const mail = heldEventsMail({ locale: localeToWriteIn(locale), ...content });
        return { to, ...mail, code: null, expiresAt: dropsAt, origin: { applicationId, workspaceId } };
      }),
    );
  }

  async function notifyOwners({ id }: RestingEndpoint): Promise<void> {
    const count = await countPendingDeliveries(db.reader, id);
    await db.write(SYSTEM_ACTOR, async (unit) => {
      const endpoint = await findRestingEndpoint(unit, id);
      if (endpoint && isNoticeDue(endpoint, unit.now)) await notify(unit, endpoint, count);
    });
  }

  async function isDropping(unit: Unit, { id, applicationId }: RestingEndpoint): Promise<boolean> {
    const running = await listLongWorksOf(unit, DROP_HELD.name, [applicationId]);
    return running.some(({ data }) => (data as Drop).webhookId === id);
  }

  async function drop({ id: webhookId }: RestingEndpoint): Promise<void> {
    await db.write(SYSTEM_ACTOR, async (unit) => {
      const endpoint = await findRestingEndpoint(unit, webhookId);
      if (!endpoint || !isDropDue(endpoint, unit.now)) return;
      const { applicationId } = endpoint;
      if (await isDropping(unit, endpoint)) return;
      const entry = { kind: 'webhook.held_dropped', applicationId, targetId: webhookId } as const;
      const recordId = await recordAudit(unit, { ...entry, ok: false, detail: { dropped: 0 } });
      const data = { webhookId, before: dropsBefore(unit.now), recordId };
      await beginTask(unit, DROP_HELD, { applicationId, data });
    });
  }

  return {
    name: 'held events',
    everyMs: HOUR,
    isExclusive: true,
    async runOnce() {
      let after: string | null = '';
      while (after !== null) {
        const { endpoints, next } = await listRestingEndpoints(db.reader, { after, limit: BATCH });
        const now = clock.now();
        for (const endpoint of endpoints) {
          if (isNoticeDue(endpoint, now)) await notifyOwners(endpoint);
          else if (isDropDue(endpoint, now)) await drop(endpoint);
        }
        after = next;
        await Bun.sleep(0);
      }
    },
  };
}
