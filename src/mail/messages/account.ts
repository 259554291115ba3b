/** Mails about a person's own account: codes that confirm a change, and notices that one was made; in English. */
import { type MailContent, noticeMail } from './notice.ts';

const NOT_YOU =
  'If you did not ask for it, somebody is signed in to your account: end all sessions in your account’s settings.';

const CONFIRMATIONS = {
  proof: { action: 'confirm that it is you', heading: 'Confirm that it is you', ifNotYou: NOT_YOU },
  email_change: {
    action: 'confirm your new e-mail address',
    heading: 'Confirm your new e-mail address',
    ifNotYou: 'If you did not ask for it, ignore this e-mail: without the code nothing changes.',
  },
  account_deletion: { action: 'delete your account', heading: 'Delete your account', ifNotYou: NOT_YOU },
} as const;

/** A code, and what it confirms. */
export interface AccountCodeMail {
  readonly kind: keyof typeof CONFIRMATIONS;
  readonly applicationName: string;
  readonly code: string;
  readonly lifetimeMinutes: number;
  /** What else the reader has to know before they enter the code. */
  readonly explanation?: readonly string[];
}

/** The code stands in the subject too, so that it can be read from a notification. */
export function accountCodeMail(mail: AccountCodeMail): MailContent {
  const { kind, applicationName, code, lifetimeMinutes, explanation = [] } = mail;
  const { action, heading, ifNotYou } = CONFIRMATIONS[kind];
  return noticeMail({
    locale: 'en',
    subject: `${code} is the code to ${action}`,
    heading,
    before: [...explanation, `Enter this code in ${applicationName}:`],
    code,
    after: [`It expires in ${lifetimeMinutes} minutes and works once.`, ifNotYou],
  });
}

const CHANGES = {
  passkey_added: 'A passkey was added to your account.',
  passkey_removed: 'A passkey was removed from your account.',
  provider_linked: 'A sign-in provider was connected to your account.',
  provider_unlinked: 'A sign-in provider was disconnected from your account.',
  device_connected: 'A device was connected to your account.',
  email_changed: 'The e-mail address of your account was changed; this one can no longer be used to sign in.',
} as const;

export type AccountChange = keyof typeof CHANGES;

/** For the holder of an address that somebody else wants for their account. */
export function addressTakenMail(): MailContent {
  return noticeMail({
    locale: 'en',
    subject: 'Somebody asked to use your e-mail address',
    heading: 'This address has an account already',
    before: [
      'Somebody asked to use this e-mail address for another account. It belongs to yours, or did before, so nothing was changed.',
    ],
    after: ['If it was you, choose another address for your other account.'],
  });
}

/** What was deleted and what is kept, for the person to have in writing. */
export function accountDeletedMail({
  deleted,
  kept,
}: {
  deleted: readonly string[];
  kept: readonly string[];
}): MailContent {
  return noticeMail({
    locale: 'en',
    subject: 'Your account was deleted',
    heading: 'Your account was deleted',
    before: ['This was deleted for good:', ...deleted, 'This is kept:', ...kept],
    after: ['There is nothing more to do.'],
  });
}

/** @param detail which one, in the reader's words: the name of a passkey, of a provider or of a device. */
export function accountChangeMail(change: AccountChange, detail: string | null): MailContent {
  return noticeMail({
    locale: 'en',
    subject: CHANGES[change].replace(/[.;].*$/, ''),
    heading: CHANGES[change].replace(/[.;].*$/, ''),
    before: [CHANGES[change], ...(detail ? [detail] : [])],
    after: [
      'If it was you, there is nothing to do.',
      change === 'email_changed'
        ? 'If not, tell the people who run the applications that you use at once.'
        : 'If not, sign in, undo it and end all other sessions.',
    ],
  });
}
