/** The mail that carries a sign-in code: readable at a glance and autofillable. */
import { format } from '../../core/format.ts';
import type { Locale } from '../../core/locale.ts';
import { catalogueFor } from '../../i18n/catalogue.ts';
import { type MailContent, noticeMail } from './notice.ts';

/** A code, and where it is typed. */
export interface SignInCodeMail {
  readonly locale: Locale;
  readonly applicationName: string;
  readonly code: string;
  readonly lifetimeMinutes: number;
  /** Host of the page the code is typed into. */
  readonly host: string;
}

/**
 * The last line of the text part is `@host #code`, which lets a browser offer the code on that host only
 * (https://wicg.github.io/sms-one-time-codes/).
 */
export function signInCodeMail({ locale, applicationName, code, lifetimeMinutes, host }: SignInCodeMail): MailContent {
  const { locale: language, texts } = catalogueFor(locale);
  const { email } = texts;
  const app = applicationName.replace(/\s+/g, ' ');
  return noticeMail({
    locale: language,
    subject: format(email.subject, { code, app }),
    heading: format(email.heading, { app }),
    before: [email.intro],
    code,
    after: [format(email.expiry, { minutes: lifetimeMinutes }), email.ignore],
    signature: `@${host} #${code}`,
  });
}
