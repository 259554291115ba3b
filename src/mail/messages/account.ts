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
  passkey_removed: 'A passkey was removed from your account; sessions made with it have ended.',
  provider_linked: 'A sign-in provider was connected to your account.',
  provider_unlinked: 'A sign-in provider was disconnected from your account; sessions made with it have ended.',
  device_connected: 'A device was connected to your account.',
  email_change_undone:
    'The change of your e-mail address was undone; whoever was signed in to your account has been signed out.',
} as const;

export type AccountChange = keyof typeof CHANGES;

/**
 * For the holder of the address before. It does not say which one is the new one.
 *
 * @param undoUrl where they can undo it, for so many days.
 */
export function emailChangedMail(undoUrl: string, days: number): MailContent {
  return noticeMail({
    locale: 'en',
    subject: 'The e-mail address of your account was changed',
    heading: 'The e-mail address of your account was changed',
    before: [
      'This address can no longer be used to sign in.',
      `If it was not you, undo it within ${days} days: your account gets this address back, and everybody is signed out.`,
      undoUrl,
    ],
    after: [
      'If it was you, there is nothing to do.',
      'The link works once, for whoever opens it: pass it on to nobody.',
    ],
  });
}

/** For whoever signs in for the first time by an address that had an account before. */
export function addressProvedMail(): MailContent {
  return noticeMail({
    locale: 'en',
    subject: 'Your e-mail address was confirmed',
    heading: 'Your e-mail address was confirmed',
    before: [
      'You have signed in with this address for the first time, but it had an account before. The ways to sign in that had been ' +
        'added to it were removed, and whoever was signed in was signed out.',
    ],
    after: ['If it was you who added them, add them again. If not, there is nothing to do.'],
  });
}

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
      change === 'email_change_undone'
        ? 'If not, tell the people who run the applications that you use at once.'
        : 'If not, sign in, undo it and end all other sessions.',
    ],
  });
}
