/** Tells a person by mail of what was done to their account. */
import { DAY } from '../../core/clock.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import type { MailContent } from '../../mail/messages/notice.ts';

const LIFETIME_MS = 3 * DAY;

export function mailNotice(unit: Unit, to: string, content: MailContent): void {
  unit.mail({ to, ...content, code: null, expiresAt: unit.now + LIFETIME_MS });
}
