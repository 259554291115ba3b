/** Mails of an application to its users, to which it may add a line of its own. */
export const MAIL_KINDS = [
  'sign_in_code',
  'confirmation_code',
  'new_sign_in',
  'account_change',
  'account_deleted',
  'invitation',
  'waitlist_approved',
  'waitlist_declined',
  'waitlist_launched',
] as const;

export type MailKind = (typeof MAIL_KINDS)[number];

/** Six digits in a row look like a code, to people and to the software that fills codes in. */
const LIKE_A_CODE = /\p{Nd}{6}/u;

export function looksLikeCode(line: string): boolean {
  return LIKE_A_CODE.test(line);
}
