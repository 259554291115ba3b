/** The mail that carries a sign-in code: readable at a glance and autofillable. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';

/** A code, and where it is typed. */
export interface SignInCodeMail {
  readonly locale: Locale;
  readonly application: Sender;
  readonly code: string;
  readonly lifetimeMinutes: number;
  /** Host of the page the code is typed into. */
  readonly host: string;
}

/**
 * The last line of the text part is `@host #code`, which lets a browser offer the code on that host only
 * (https://wicg.github.io/sms-one-time-codes/).
 */
export function signInCodeMail({ locale, application, code, lifetimeMinutes, host }: SignInCodeMail): MailContent {
  const text = textsFor(locale);
  const app = application.name;
  return letterMail({
    text,
    sender: application,
    subject: text('email.codeSubject', { code, app }),
    heading: text('email.codeHeading', { app }),
    lead: [text('email.codeIntro')],
    code,
    note: text('email.codeExpiry', { minutes: lifetimeMinutes }),
    small: [text('email.codeIgnore', { app })],
    signature: `@${host} #${code}`,
  });
}
