/** The mail with a sign-in code, readable at a glance and autofillable. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';

export interface SignInCodeMail {
  readonly locale: Locale;
  readonly application: Sender;
  readonly code: string;
  readonly lifetimeMinutes: number;
  /** Host of the page the code is typed into. */
  readonly host: string;
}

/** Placeholder for the code in a cached letter. Private-use characters, which no displayed name contains. */
const CODE = '\ue000\ue001';
const CODES = new RegExp(CODE, 'g');

/** Cache size, in combinations of application and language, so that requests for codes need no rendering. */
const MAX_LETTERS = 500;
const letters = new Map<string, MailContent>();

/** Renders the letter once without its code, caches it, and fills in the code. */
export function signInCodeMail({ code, ...mail }: SignInCodeMail): MailContent {
  const { name, logoUrl, accentColor } = mail.application;
  const key = JSON.stringify([mail.locale, name, logoUrl, accentColor, mail.lifetimeMinutes, mail.host]);
  let letter = letters.get(key);
  if (!letter) {
    if (letters.size >= MAX_LETTERS) letters.clear();
    letters.set(key, (letter = draw(mail)));
  }
  const filled = (text: string) => text.replace(CODES, code);
  return { subject: filled(letter.subject), text: filled(letter.text), html: filled(letter.html) };
}

/**
 * Renders the letter. The text part ends with `@host #code`, so that browsers offer the code on that host only
 * (https://wicg.github.io/sms-one-time-codes/).
 */
function draw({ locale, application, lifetimeMinutes, host }: Omit<SignInCodeMail, 'code'>): MailContent {
  const text = textsFor(locale);
  const app = application.name.replace(CODES, '');
  return letterMail({
    text,
    sender: application,
    subject: text('email.codeSubject', { code: CODE, app }),
    heading: text('email.codeHeading', { app }),
    lead: [text('email.codeIntro')],
    code: CODE,
    note: text('email.codeExpiry', { minutes: lifetimeMinutes }),
    small: [text('email.codeIgnore', { app })],
    signature: `@${host} #${CODE}`,
  });
}
