/** Mails that notify a person of changes to their account: address and sign-in methods. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import type { Texts } from '../../i18n/texts.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';

/** An added or removed sign-in method. Names are the person's own. */
export type AccountChange =
  | { readonly kind: 'passkey_added' | 'passkey_removed' | 'device_connected'; readonly name: string }
  | {
      readonly kind: 'provider_linked' | 'provider_unlinked';
      readonly provider: string;
      /** Address at the provider, if it gives one. */
      readonly email: string | null;
    };

const SERVICES = {
  passkey_added: 'passkeyAdded',
  passkey_removed: 'passkeyRemoved',
  provider_linked: 'providerLinked',
  provider_unlinked: 'providerUnlinked',
  device_connected: 'deviceConnected',
} as const;

/** @param application where the change was made. */
export function accountChangeMail(locale: Locale, application: Sender, change: AccountChange): MailContent {
  const text = textsFor(locale);
  const app = application.name;
  return letterMail({
    text,
    sender: application,
    ...titleOf(text(`email.${SERVICES[change.kind]}.title`)),
    lead: [leadOf(change, text, app)],
    small: [text('email.accountReason', { app }), text('email.changeNotYou', { app })],
  });
}

function leadOf(change: AccountChange, text: Texts, app: string): string {
  if ('name' in change) return text(`email.${SERVICES[change.kind]}.lead`, { name: change.name, app });
  const { kind, provider, email } = change;
  if (email === null) return text(`email.${SERVICES[kind]}.lead`, { provider });
  return text(`email.${SERVICES[kind]}.leadAs`, { provider, email });
}

export interface UndoLink {
  readonly url: string;
  readonly days: number;
}

/** Notifies the previous address, without disclosing the new one. */
export function emailChangedMail(locale: Locale, application: Sender, { url, days }: UndoLink): MailContent {
  const text = textsFor(locale);
  return letterMail({
    text,
    sender: application,
    ...titleOf(text('email.emailChanged.title')),
    lead: [text('email.emailChanged.lead'), text('email.emailChanged.undo', { days })],
    link: { label: text('email.emailChanged.action'), url },
    small: [text('email.emailChanged.wasYou'), text('email.emailChanged.secret')],
  });
}

/** @param isBack true if the reader's address belongs to the account again, false if it no longer does. */
export function emailUndoneMail(locale: Locale, application: Sender, isBack: boolean): MailContent {
  const text = textsFor(locale);
  return letterMail({
    text,
    sender: application,
    ...titleOf(text('email.emailUndone.title')),
    lead: [text(isBack ? 'email.emailUndone.back' : 'email.emailUndone.gone'), text('email.emailUndone.effect')],
    small: [text('email.emailUndone.notYou')],
  });
}

/** Notifies a person on their first sign-in with an address that already had an account. */
export function addressProvedMail(locale: Locale, application: Sender): MailContent {
  const text = textsFor(locale);
  return letterMail({
    text,
    sender: application,
    ...titleOf(text('email.addressProved.title')),
    lead: [text('email.addressProved.lead', { app: application.name })],
    small: [text('email.addressProved.notYou')],
  });
}

/** Notifies the holder of an address that somebody else wants for their account. */
export function addressTakenMail(locale: Locale, application: Sender): MailContent {
  const text = textsFor(locale);
  return letterMail({
    text,
    sender: application,
    ...titleOf(text('email.addressTaken.title')),
    lead: [text('email.addressTaken.lead', { app: application.name })],
    small: [text('email.addressTaken.notYou')],
  });
}

function titleOf(title: string): { subject: string; heading: string } {
  return { subject: title, heading: title };
}
