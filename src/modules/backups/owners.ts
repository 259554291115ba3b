/** Mails the owners of the first workspace when backups start to fail and when they work again. */
import { DAY } from '../../core/clock.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import type { Unit } from '../../db/database.ts';
import { type BackupNews, backupMail } from '../../mail/messages/backup.ts';
import { queueMail } from '../../store/mails.ts';
import { listOwners } from '../../store/workspace-members.ts';
import { findFirstWorkspaceId, requireWorkspace } from '../../store/workspaces.ts';

const LIFETIME_MS = 3 * DAY;

/** Queues the mails in the caller's transaction. */
export type NotifyOwners = (unit: Unit, news: BackupNews) => Promise<void>;

export function notifyOwners(baseUrl: () => string): NotifyOwners {
  return async (unit, news) => {
    const workspaceId = await findFirstWorkspaceId(unit);
    if (workspaceId === undefined) return;
    const { name: workspaceName } = await requireWorkspace(unit, workspaceId);
    const consoleUrl = `${baseUrl()}/console/workspaces/${workspaceId}/backups`;
    const host = new URL(baseUrl()).host;
    for (const { email: to, locale } of await listOwners(unit, workspaceId)) {
      const content = backupMail({ locale: localeToWriteIn(locale), workspaceName, host, consoleUrl, news });
      const expiresAt = unit.now + LIFETIME_MS;
      await queueMail(unit, { to, ...content, code: null, expiresAt, origin: { applicationId: null, workspaceId } });
    }
  };
}
