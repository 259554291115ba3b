/** Mails to operators when a backup fails and when backups work again. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { dayIn, letterMail, type MailContent, PRODUCT } from '../letter.tsx';

export type BackupNews =
  | {
      readonly kind: 'failed';
      readonly place: string;
      /** With the remedy, in English. */
      readonly reason: string;
      /** In epoch milliseconds; null if no backup ever succeeded. */
      readonly lastGoodAt: number | null;
    }
  | { readonly kind: 'works'; readonly place: string };

export interface BackupMail {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly host: string;
  readonly consoleUrl: string;
  readonly news: BackupNews;
}

export function backupMail({ locale, workspaceName: workspace, host, consoleUrl, news }: BackupMail): MailContent {
  const text = textsFor(locale);
  const isFailed = news.kind === 'failed';
  const title = isFailed ? text('email.backup.failed', { host }) : text('email.backup.works', { host });
  const { place } = news;
  return letterMail({
    text,
    sender: PRODUCT,
    subject: title,
    heading: title,
    lead: isFailed
      ? [
          text('email.backup.notMade', { place }),
          news.reason,
          news.lastGoodAt === null
            ? text('email.backup.noGood')
            : text('email.backup.lastGood', { date: dayIn(text.locale, news.lastGoodAt) }),
          text('email.backup.retried'),
        ]
      : [text('email.backup.made', { place })],
    link: { label: text('email.backup.open'), url: consoleUrl },
    small: [text('email.ownerReason', { workspace })],
  });
}
