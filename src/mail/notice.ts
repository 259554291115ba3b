import { DAY } from '../core/clock.ts';
import type { Unit } from '../db/database.ts';
import type { MailContent } from './letter.tsx';
import type { Application } from '../store/applications.ts';
import { fromApplication, queueMail } from '../store/mails.ts';

const LIFETIME_MS = 3 * DAY;

/** Queues a notice in the caller's change; it expires after three days. */
export async function mailNotice(
  unit: Unit,
  to: string,
  application: Pick<Application, 'id' | 'workspaceId'>,
  content: MailContent,
): Promise<void> {
  const expiresAt = unit.now + LIFETIME_MS;
  await queueMail(unit, { to, ...content, code: null, expiresAt, origin: fromApplication(application) });
}
