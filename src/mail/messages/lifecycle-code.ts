/** The mail to operators with the code for archiving, deleting or hiding an application. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, PRODUCT } from '../letter.tsx';
import { askedLine, type Occurrence } from '../occurrence.ts';

const ACTIONS = { archive: 'archive', delete: 'delete', hide_now: 'hide' } as const;

export interface LifecycleCodeMail {
  readonly locale: Locale;
  readonly kind: keyof typeof ACTIONS;
  readonly applicationName: string;
  readonly code: string;
  readonly lifetimeMinutes: number;
  /** How many days a deleted application stays in the lists before it is hidden. */
  readonly graceDays: number;
  readonly occurrence: Occurrence;
}

/** States what will happen before showing the code. */
export function lifecycleCodeMail(mail: LifecycleCodeMail): MailContent {
  const { locale, kind, applicationName: app, code, lifetimeMinutes, graceDays, occurrence } = mail;
  const text = textsFor(locale);
  const action = ACTIONS[kind];
  return letterMail({
    text,
    sender: PRODUCT,
    subject: text(`email.${action}.subject`, { code, app }),
    heading: text(`email.${action}.heading`, { app }),
    lead: [text(`email.${action}.effect`, { app, days: graceDays }), text('email.codeConfirm')],
    code,
    note: text('email.codeExpiry', { minutes: lifetimeMinutes }),
    asked: askedLine(text, occurrence),
    small: [text('email.lifecycleNotYou')],
  });
}
