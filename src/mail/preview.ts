/** Draws a mail of an application with sample values, to show its line before it is kept. */
import type { Locale } from '../core/locale.ts';
import type { MailKind } from '../core/mail-kinds.ts';
import type { NoticeContext } from './account-notices.ts';
import type { MailContent, Sender } from './letter.tsx';
import { accountCodeMail, accountDeletedMail } from './messages/account.ts';
import { accountChangeMail, newSignInMail } from './messages/account-change.ts';
import { betaMail } from './messages/beta.ts';
import { signInCodeMail } from './messages/sign-in-code.ts';
import { userInvitationMail } from './messages/user-invitation.ts';
import { accountLink, signInLink } from './page-links.ts';

export interface PreviewedMail {
  readonly mail: MailKind;
  readonly locale: Locale;
  readonly application: Sender;
  readonly line: string | null;
  readonly baseUrl: string;
  readonly at: number;
}

const CODE = { code: '042917', lifetimeMinutes: 10 } as const;
const RETENTION = { auditDays: 365, mailDays: 30 } as const;

export function previewMail({ mail, locale, application, line, baseUrl, at }: PreviewedMail): MailContent {
  const { clientId } = application;
  const occurrence = { at, timeZone: null, country: 'AT', browser: { browser: 'Chrome', system: 'Windows' } } as const;
  const accountUrl: NoticeContext['accountUrl'] = (part) => accountLink(baseUrl, clientId, part);
  const context = { locale, application, occurrence, line, accountUrl };
  const ofWaitlist = (kind: 'approved' | 'declined' | 'launched') =>
    betaMail(kind, locale, application, signInLink(baseUrl, clientId), line);
  const draw: Readonly<Record<MailKind, () => MailContent>> = {
    sign_in_code: () =>
      signInCodeMail({ locale, application, occurrence, line, host: new URL(baseUrl).hostname, ...CODE }),
    confirmation_code: () =>
      accountCodeMail(context, { confirmation: { kind: 'proof', purpose: 'session', minutes: 10 }, ...CODE }),
    new_sign_in: () => newSignInMail(context),
    account_change: () => accountChangeMail(context, { kind: 'passkey_added', name: null }),
    account_deleted: () => accountDeletedMail(context, RETENTION),
    invitation: () => userInvitationMail({ locale, application, line, signInUrl: signInLink(baseUrl, clientId) }),
    waitlist_approved: () => ofWaitlist('approved'),
    waitlist_declined: () => ofWaitlist('declined'),
    waitlist_launched: () => ofWaitlist('launched'),
  };
  return draw[mail]();
}
