/** Makes every mail there is, with the same text in each of its variable parts. */
import type { Locale } from '@/core/locale.ts';
import type { NoticeContext } from '@/mail/account-notices.ts';
import type { MailContent, Sender } from '@/mail/letter.tsx';
import type { Occurrence } from '@/mail/occurrence.ts';
import * as account from '@/mail/messages/account.ts';
import * as change from '@/mail/messages/account-change.ts';
import { backupMail } from '@/mail/messages/backup.ts';
import { betaMail } from '@/mail/messages/beta.ts';
import { heldEventsMail } from '@/mail/messages/held-events.ts';
import { invitationMail } from '@/mail/messages/invitation.ts';
import { lifecycleCodeMail } from '@/mail/messages/lifecycle-code.ts';
import { mailTestMail } from '@/mail/messages/mail-test.ts';
import { quarantineMail } from '@/mail/messages/quarantine.ts';
import { signInCodeMail } from '@/mail/messages/sign-in-code.ts';
import { userInvitationMail } from '@/mail/messages/user-invitation.ts';

/** Values for the variable parts of a mail. */
export interface Filling {
  readonly application: Sender;
  /** Names of workspaces, passkeys, devices and providers. */
  readonly name: string;
  /** Targets of links and webhooks. */
  readonly url: string;
  readonly host: string;
  readonly email: string;
  /** The application's own line. */
  readonly line: string;
}

/** Puts one text into every part, and into the path or query of addresses. */
export function filledWith(text: string): Filling {
  return {
    application: {
      name: text,
      workspaceId: 'ws_1',
      clientId: text,
      supportEmail: text,
      support: `mailto:${text}`,
      logoUrl: `https://x.example/${text}`,
      logoDarkUrl: `https://x.example/dark/${text}`,
      accentColor: text,
    },
    name: text,
    url: `https://id.example/?${text}`,
    host: text,
    email: text,
    line: text,
  };
}

type Maker = (locale: Locale, filling: Filling) => MailContent;

/** Ten in the morning in Vienna. */
export const OCCURRENCE: Occurrence = {
  at: Date.UTC(2026, 10, 23, 9, 42),
  timeZone: 'Europe/Vienna',
  country: 'AT',
  browser: { browser: 'Chrome', system: 'Windows' },
};

const notice = (locale: Locale, { application, url, line }: Filling): NoticeContext => ({
  locale,
  application,
  occurrence: OCCURRENCE,
  line,
  accountUrl: () => url,
});

const CODE = { code: '042917', lifetimeMinutes: 10 } as const;
const RETENTION = { auditDays: 365, mailDays: 30 } as const;

const confirmation =
  (make: (filling: Filling) => account.Confirmation): Maker =>
  (locale, filling) =>
    account.accountCodeMail(notice(locale, filling), { confirmation: make(filling), ...CODE });

const lifecycle =
  (kind: 'archive' | 'delete' | 'hide_now'): Maker =>
  (locale, { application }) =>
    lifecycleCodeMail({
      locale,
      kind,
      applicationName: application.name,
      graceDays: 90,
      occurrence: OCCURRENCE,
      ...CODE,
    });

const invitation =
  (role: 'owner' | 'admin' | 'member'): Maker =>
  (locale, { name, url }) =>
    invitationMail({ locale, workspaceName: name, role, url });

const quarantine =
  (failedAttempts: number | null, isOfLogout = false): Maker =>
  (locale, { application, name, url }) =>
    quarantineMail({ locale, workspaceName: name, applicationName: application.name, url, isOfLogout, failedAttempts });

const held =
  (isSwitchedOff: boolean, count: number): Maker =>
  (locale, { application, name, url }) =>
    heldEventsMail({
      locale,
      workspaceName: name,
      applicationName: application.name,
      url,
      isSwitchedOff,
      count,
      dropsAt: Date.UTC(2026, 4, 1),
      consoleUrl: url,
    });

const backup =
  (isFailed: boolean): Maker =>
  (locale, { name, url, host }) =>
    backupMail({
      locale,
      workspaceName: name,
      host,
      consoleUrl: url,
      news: isFailed
        ? { kind: 'failed', place: name, reason: name, lastGoodAt: Date.UTC(2026, 4, 1) }
        : { kind: 'works', place: name },
    });

const changed =
  (make: (filling: Filling) => change.AccountChange): Maker =>
  (locale, filling) =>
    change.accountChangeMail(notice(locale, filling), make(filling));

/** By the name of its function and its subject; every function of `mail/messages` is listed. */
export const LETTERS: Readonly<Record<string, Maker>> = {
  signInCodeMail: (locale, { application, host, line }) =>
    signInCodeMail({ locale, application, host, line, occurrence: OCCURRENCE, ...CODE }),
  'accountCodeMail session': confirmation(() => ({ kind: 'proof', purpose: 'session', minutes: 10 })),
  'accountCodeMail move': confirmation(({ email }) => ({ kind: 'proof', purpose: 'email_change', email })),
  'accountCodeMail deletion': confirmation(() => ({ kind: 'proof', purpose: 'account_deletion' })),
  'accountCodeMail export': confirmation(() => ({ kind: 'proof', purpose: 'account_export', minutes: 10 })),
  'accountCodeMail provider': confirmation(() => ({ kind: 'proof', purpose: 'provider_removal' })),
  'accountCodeMail profile': confirmation(() => ({ kind: 'proof', purpose: 'profile', minutes: 10 })),
  'accountCodeMail new address': confirmation(() => ({ kind: 'email_change' })),
  'accountCodeMail delete': confirmation(() => ({ kind: 'account_deletion', retention: RETENTION })),
  accountDeletedMail: (locale, filling) => account.accountDeletedMail(notice(locale, filling), RETENTION),
  'accountChangeMail passkey': changed(({ name }) => ({ kind: 'passkey_added', name })),
  'accountChangeMail unnamed passkey': changed(() => ({ kind: 'passkey_added', name: null })),
  newSignInMail: (locale, filling) => change.newSignInMail(notice(locale, filling)),
  'accountChangeMail no passkey': changed(({ name }) => ({ kind: 'passkey_removed', name })),
  'accountChangeMail provider': changed(({ name, email }) => ({ kind: 'provider_linked', provider: name, email })),
  'accountChangeMail unnamed provider': changed(({ name: provider }) => ({
    kind: 'provider_linked',
    provider,
    email: null,
  })),
  'accountChangeMail no provider': changed(({ name, email }) => ({ kind: 'provider_unlinked', provider: name, email })),
  'accountChangeMail no unnamed provider': changed(({ name: provider }) => ({
    kind: 'provider_unlinked',
    provider,
    email: null,
  })),
  'accountChangeMail device': changed(({ name }) => ({ kind: 'device_connected', name })),
  emailChangedMail: (locale, filling) =>
    change.emailChangedMail(notice(locale, filling), { url: filling.url, days: 7 }),
  'emailUndoneMail back': (locale, filling) => change.emailUndoneMail(notice(locale, filling), true),
  'emailUndoneMail gone': (locale, filling) => change.emailUndoneMail(notice(locale, filling), false),
  addressProvedMail: (locale, filling) => change.addressProvedMail(notice(locale, filling)),
  addressTakenMail: (locale, filling) => change.addressTakenMail(notice(locale, filling)),
  'betaMail approved': (locale, { application, url, line }) => betaMail('approved', locale, application, url, line),
  'betaMail declined': (locale, { application, url, line }) => betaMail('declined', locale, application, url, line),
  'betaMail launched': (locale, { application, url, line }) => betaMail('launched', locale, application, url, line),
  'invitationMail owner': invitation('owner'),
  'invitationMail admin': invitation('admin'),
  'invitationMail member': invitation('member'),
  userInvitationMail: (locale, { application, url: signInUrl, line }) =>
    userInvitationMail({ locale, application, signInUrl, line }),
  'lifecycleCodeMail archive': lifecycle('archive'),
  'lifecycleCodeMail delete': lifecycle('delete'),
  'lifecycleCodeMail hide': lifecycle('hide_now'),
  mailTestMail: (locale, { name, host }) => mailTestMail({ locale, workspaceName: name, host }),
  'quarantineMail gone': quarantine(null),
  'quarantineMail failed': quarantine(15),
  'quarantineMail of logout': quarantine(15, true),
  'backupMail failed': backup(true),
  'backupMail works': backup(false),
  'heldEventsMail quarantined': held(false, 1),
  'heldEventsMail switched off': held(true, 1200),
};
