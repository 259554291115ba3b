/** Mails that tell a person what happened to their account, in their language, with time, place and browser. */
import { DAY } from '../core/clock.ts';
import { type Locale, localeToWriteIn } from '../core/locale.ts';
import type { MailKind } from '../core/mail-kinds.ts';
import type { Unit } from '../db/database.ts';
import type { Application } from '../store/applications.ts';
import { findMailLine } from '../store/mail-lines.ts';
import { fromApplication, queueMail } from '../store/mails.ts';
import { applicationSender } from './application-sender.ts';
import type { MailContent, Sender } from './letter.tsx';
import { type Occurrence, occurrenceOf } from './occurrence.ts';
import { accountLink } from './page-links.ts';

const LIFETIME_MS = 3 * DAY;

export interface NoticeReader {
  readonly email: string;
  /** The person's own locale and IANA time zone; null if unknown. */
  readonly locale: string | null;
  readonly timezone: string | null;
}

/** Reader, application and circumstances of a mail about an account. */
export interface NoticeContext {
  readonly locale: Locale;
  readonly application: Sender;
  readonly occurrence: Occurrence;
  /** The application's own line in this mail and language; null for none. */
  readonly line: string | null;
  /** Returns the address of a part of the reader's account in the application. */
  readonly accountUrl: (part: NoticedPart) => string;
}

export interface NoticeOptions {
  /** The kind whose line of the application it has; by default that of account changes. */
  readonly mail?: MailKind;
  /** The language of the page, for readers without their own. */
  readonly requested?: string | null;
}

export type NoticedPart = 'sign-in' | 'devices';

export type AccountNotices = ReturnType<typeof accountNotices>;

export function accountNotices(baseUrl: () => string) {
  /** @param requested the language of the page, for readers without their own. */
  async function contextOf(
    unit: Unit,
    reader: Omit<NoticeReader, 'email'>,
    application: Application,
    { mail = 'account_change', requested }: NoticeOptions = {},
  ): Promise<NoticeContext> {
    const locale = localeToWriteIn(reader.locale, requested);
    return {
      locale,
      application: applicationSender(application, baseUrl()),
      occurrence: occurrenceOf(unit, reader.timezone),
      line: (await findMailLine(unit, { applicationId: application.id, mail, locale })) ?? null,
      accountUrl: (part) => accountLink(baseUrl(), application.clientId, part),
    };
  }

  return {
    contextOf,

    /** Queues a notice in the caller's change; it expires after three days. */
    async send(
      unit: Unit,
      reader: NoticeReader,
      application: Application,
      make: (context: NoticeContext) => MailContent,
      options?: NoticeOptions,
    ): Promise<void> {
      const content = make(await contextOf(unit, reader, application, options));
      const expiresAt = unit.now + LIFETIME_MS;
      await queueMail(unit, {
        to: reader.email,
        ...content,
        code: null,
        expiresAt,
        origin: fromApplication(application),
      });
    },
  };
}
