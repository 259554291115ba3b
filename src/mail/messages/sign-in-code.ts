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

/** Stands for the code in a letter that is kept: of the private use area, and in no name that is shown. */
const CODE = '\ue000\ue001';
const CODES = new RegExp(CODE, 'g');

/** Letters of applications and languages; whoever asks for codes waits for none of them to be drawn again. */
const MAX_LETTERS = 500;
const letters = new Map<string, MailContent>();

/** Without its code it is the same for everybody, and is drawn once. */
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
 * The last line of the text part is `@host #code`, which lets a browser offer the code on that host only
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
