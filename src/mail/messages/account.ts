/** Mails about a person's own account: confirmation codes, and the deletion. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import type { Texts } from '../../i18n/texts.ts';
import type { NoticeContext } from '../account-notices.ts';
import { letterMail, type LetterList, type MailContent } from '../letter.tsx';
import { askedLine, factsOf } from '../occurrence.ts';

export type Confirmation =
  | {
      readonly kind: 'proof';
      readonly purpose: 'session' | 'account_export' | 'profile';
      readonly minutes: number;
    }
  | { readonly kind: 'proof'; readonly purpose: 'account_deletion' | 'provider_removal' }
  | { readonly kind: 'proof'; readonly purpose: 'email_change'; readonly email: string }
  | { readonly kind: 'email_change' }
  | { readonly kind: 'account_deletion'; readonly retention: Retention };

/** How many days records of a deleted account are kept. */
export interface Retention {
  readonly auditDays: number;
  readonly mailDays: number;
}

export interface AccountCodeMail {
  readonly confirmation: Confirmation;
  readonly code: string;
  readonly lifetimeMinutes: number;
}

const SERVICES = { proof: 'proof', email_change: 'emailChange', account_deletion: 'deletion' } as const;

/** States what the code does before showing it. The subject contains the code too, to be read from a notification. */
export function accountCodeMail(
  { locale, application, occurrence, line }: NoticeContext,
  { confirmation, code, lifetimeMinutes }: AccountCodeMail,
): MailContent {
  const { kind } = confirmation;
  const text = textsFor(locale);
  const app = application.name;
  return letterMail({
    text,
    sender: application,
    subject: text(`email.${SERVICES[kind]}.subject`, { code }),
    heading: text(`email.${SERVICES[kind]}.heading`),
    lead: [...effectOf(confirmation, text, app), text('email.codeEnter', { app })],
    code,
    note: text('email.codeExpiry', { minutes: lifetimeMinutes }),
    asked: askedLine(text, occurrence),
    line,
    small:
      kind === 'email_change'
        ? [text('email.emailChange.ignore')]
        : [text('email.accountReason', { app }), text('email.codeNotYou')],
  });
}

function effectOf(confirmation: Confirmation, text: Texts, app: string): (string | LetterList)[] {
  const { kind } = confirmation;
  if (kind === 'email_change') return [text('email.emailChange.lead', { app })];
  if (kind === 'account_deletion')
    return [text('email.deletion.lead', { app }), ...deletionLists(text, confirmation.retention)];
  const email = 'email' in confirmation ? confirmation.email : '';
  const minutes = 'minutes' in confirmation ? confirmation.minutes : 0;
  return [text(`email.proof.${confirmation.purpose}`, { app, email, minutes })];
}

/** Lists what a deletion deletes and keeps, so that the person has it in writing. */
export function deletionStatement(locale: Locale, { auditDays, mailDays }: Retention) {
  const text = textsFor(locale);
  return {
    deleted: [
      text('email.deletion.deletedProfile'),
      text('email.deletion.deletedWays'),
      text('email.deletion.deletedPlaces'),
      text('email.deletion.deletedSessions'),
    ],
    kept: [
      text('email.deletion.keptEmail'),
      text('email.deletion.keptMemberships'),
      text('email.deletion.keptRecords', { days: auditDays }),
      text('email.deletion.keptMails', { days: mailDays }),
      text('email.deletion.keptElsewhere'),
    ],
  };
}

function deletionLists(text: Texts, retention: Retention): LetterList[] {
  const { deleted, kept } = deletionStatement(text.locale as Locale, retention);
  return [
    { title: text('email.deletion.deletedTitle'), items: deleted },
    { title: text('email.deletion.keptTitle'), items: kept },
  ];
}

export function accountDeletedMail(
  { locale, application, occurrence, line }: NoticeContext,
  retention: Retention,
): MailContent {
  const text = textsFor(locale);
  const app = application.name;
  return letterMail({
    text,
    sender: application,
    subject: text('email.deleted.title'),
    heading: text('email.deleted.title'),
    lead: [text('email.deleted.lead', { app }), ...deletionLists(text, retention)],
    facts: factsOf(text, occurrence),
    line,
    small: [text('email.deleted.notYou', { app })],
    isHelpNamed: true,
  });
}
