/** The mail with a sign-in code, readable at a glance and autofillable. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';
import { askedLine, type Occurrence } from '../occurrence.ts';

export interface SignInCodeMail {
  readonly locale: Locale;
  readonly application: Sender;
  readonly code: string;
  readonly lifetimeMinutes: number;
  readonly occurrence: Occurrence;
  /** The application's own; null for none. */
  readonly line: string | null;
  /** Host of the page the code is typed into. */
  readonly host: string;
  /** Asked for by a hosted page, whose sign-in other applications may continue: the mail says so. */
  readonly isOfPage?: boolean;
}

/** Placeholder for the code in a cached letter. Private-use characters, which no displayed name contains. */
const CODE = '\ue000\ue001';
const CODES = new RegExp(CODE, 'g');
const PLACEHOLDERS = /[\ue000-\ue003]/g;

/** Placeholder for the line that says who asked. */
const ASKED = '\ue002\ue003';

/** Cache size, in combinations of application and language, so that requests for codes need no rendering. */
const MAX_LETTERS = 500;
const letters = new Map<string, MailContent>();

/** Renders the letter once without its code and who asked for it, caches it, and fills in both. */
export function signInCodeMail({ code, occurrence, ...mail }: SignInCodeMail): MailContent {
  const { name, workspaceId, supportEmail, logoUrl, logoDarkUrl, accentColor } = mail.application;
  const look = [name, workspaceId, supportEmail, logoUrl, logoDarkUrl, accentColor];
  const key = JSON.stringify([mail.locale, look, mail.line, mail.lifetimeMinutes, mail.host, mail.isOfPage]);
  let letter = letters.get(key);
  if (!letter) {
    if (letters.size >= MAX_LETTERS) letters.clear();
    letters.set(key, (letter = draw(mail)));
  }
  const asked = askedLine(textsFor(mail.locale), occurrence);
  const filled = (text: string, line: string) => text.replace(CODES, code).replace(ASKED, () => line);
  return {
    ...letter,
    subject: filled(letter.subject, ''),
    text: filled(letter.text, asked),
    html: filled(letter.html, Bun.escapeHTML(asked)),
  };
}

/**
 * Renders the letter. The text part ends with `@host #code`, so that browsers offer the code on that host only
 * (https://wicg.github.io/sms-one-time-codes/).
 */
function draw({
  locale,
  application,
  line,
  lifetimeMinutes,
  host,
  isOfPage = false,
}: Omit<SignInCodeMail, 'code' | 'occurrence'>): MailContent {
  const text = textsFor(locale);
  const app = application.name.replace(PLACEHOLDERS, '');
  const expiry = text('email.codeExpiry', { minutes: lifetimeMinutes });
  return letterMail({
    text,
    sender: application,
    subject: text('email.codeSubject', { code: CODE, app }),
    heading: text('email.codeHeading', { app }),
    lead: [text('email.codeIntro')],
    code: CODE,
    note: isOfPage ? `${expiry} ${text('email.codeHost', { host })}` : expiry,
    asked: ASKED,
    line: line && line.replace(PLACEHOLDERS, ''),
    small: [text('email.codeIgnore', { app })],
    signature: `@${host} #${CODE}`,
  });
}
