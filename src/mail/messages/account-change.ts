/** Mails that notify a person of changes to their account: address, sign-in methods, and new browsers. */
import type { Texts } from '../../i18n/texts.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import type { NoticedPart, NoticeContext } from '../account-notices.ts';
import { type Letter, letterMail, type MailContent } from '../letter.tsx';
import { factsOf } from '../occurrence.ts';

/** An added or removed sign-in method. Names are the person's own; null for a passkey that has none. */
export type AccountChange =
  | { readonly kind: 'passkey_added' | 'passkey_removed'; readonly name: string | null }
  | { readonly kind: 'device_connected'; readonly name: string }
  | ProviderChange;

interface ProviderChange {
  readonly kind: 'provider_linked' | 'provider_unlinked';
  readonly provider: string;
  /** Address at the provider, if it gives one. */
  readonly email: string | null;
}

const SERVICES = {
  passkey_added: 'passkeyAdded',
  passkey_removed: 'passkeyRemoved',
  provider_linked: 'providerLinked',
  provider_unlinked: 'providerUnlinked',
  device_connected: 'deviceConnected',
} as const;

export function accountChangeMail(context: NoticeContext, change: AccountChange): MailContent {
  return noticeOf(context, (text, app) => ({
    ...titleOf(text(`email.${SERVICES[change.kind]}.title`)),
    lead: [leadOf(change, text, app)],
    link: linkTo(context, text, change.kind === 'device_connected' ? 'devices' : 'sign-in'),
    small: [text('email.accountReason', { app }), text('email.changeNotYou', { app })],
  }));
}

function leadOf(change: AccountChange, text: Texts, app: string): string {
  if ('provider' in change) return providerLead(change, text);
  if (change.kind === 'device_connected') return text('email.deviceConnected.lead', { name: change.name, app });
  const { kind, name } = change;
  if (name === null) return text(`email.${SERVICES[kind]}.leadUnnamed`);
  return text(`email.${SERVICES[kind]}.lead`, { name });
}

function providerLead({ kind, provider, email }: ProviderChange, text: Texts): string {
  if (email === null) return text(`email.${SERVICES[kind]}.lead`, { provider });
  return text(`email.${SERVICES[kind]}.leadAs`, { provider, email });
}

/** Notifies a person of a sign-in in a browser where they had not signed in before. */
export function newSignInMail(context: NoticeContext): MailContent {
  return noticeOf(context, (text, app) => ({
    ...titleOf(text('email.newSignIn.title', { app })),
    lead: [text('email.newSignIn.lead')],
    link: linkTo(context, text, 'devices'),
    small: [text('email.accountReason', { app }), text('email.newSignIn.notYou')],
  }));
}

export interface UndoLink {
  readonly url: string;
  readonly days: number;
}

/** Notifies the previous address, without disclosing the new one. */
export function emailChangedMail(context: NoticeContext, { url, days }: UndoLink): MailContent {
  return noticeOf(context, (text) => ({
    ...titleOf(text('email.emailChanged.title')),
    lead: [text('email.emailChanged.lead'), text('email.emailChanged.undo', { days })],
    link: { label: text('email.emailChanged.action'), url },
    small: [text('email.emailChanged.wasYou'), text('email.emailChanged.secret')],
  }));
}

/**
 * Says neither where nor with what to an address that no longer belongs to the account: its holder may be an attacker.
 *
 * @param isBack true if the reader's address belongs to the account again, false if it no longer does.
 */
export function emailUndoneMail(context: NoticeContext, isBack: boolean): MailContent {
  return noticeOf(context, (text) => ({
    ...titleOf(text('email.emailUndone.title')),
    lead: [text(isBack ? 'email.emailUndone.back' : 'email.emailUndone.gone'), text('email.emailUndone.effect')],
    ...(isBack ? { link: linkTo(context, text, 'sign-in') } : { facts: [] }),
    small: [text('email.emailUndone.notYou')],
    isHelpNamed: true,
  }));
}

/** Notifies a person on their first sign-in with an address that already had an account. */
export function addressProvedMail(context: NoticeContext): MailContent {
  return noticeOf(context, (text, app) => ({
    ...titleOf(text('email.addressProved.title')),
    lead: [text('email.addressProved.lead', { app })],
    link: linkTo(context, text, 'sign-in'),
    small: [text('email.addressProved.notYou')],
  }));
}

/** Notifies the holder of an address that somebody else wants for their account. */
export function addressTakenMail(context: NoticeContext): MailContent {
  return noticeOf(context, (text, app) => ({
    ...titleOf(text('email.addressTaken.title')),
    lead: [text('email.addressTaken.lead', { app })],
    small: [text('email.addressTaken.notYou')],
  }));
}

type Words = Omit<Letter, 'text' | 'sender' | 'line'>;

/** Renders a notice that says when, where and with what it happened. */
function noticeOf(
  { locale, application, occurrence, line }: NoticeContext,
  words: (text: Texts, app: string) => Words,
): MailContent {
  const text = textsFor(locale);
  const facts = factsOf(text, occurrence);
  return letterMail({ text, sender: application, facts, line, ...words(text, application.name) });
}

const LABELS = { 'sign-in': 'email.lookSignIn', devices: 'email.lookDevices' } as const;

function linkTo({ accountUrl }: NoticeContext, text: Texts, part: NoticedPart) {
  return { label: text(LABELS[part]), url: accountUrl(part) };
}

function titleOf(title: string): { subject: string; heading: string } {
  return { subject: title, heading: title };
}
