/** Methods, refusals and limits as people say them. */

export const METHOD_WORDS: Readonly<Record<string, string>> = {
  otp: 'Code by e-mail',
  passkey: 'Passkey',
  provider: 'Identity provider',
  setup: 'Setup link',
};

const REFUSAL_WORDS: Readonly<Record<string, string>> = {
  gate_closed: 'The gate is closed to new people',
  waitlist: 'Not on the allowlist of the private beta',
  membership_blocked: 'Banned, paused or left',
  user_deleted: 'Deleted from this application',
  email_archived: 'An address that was given up',
  application_archived: 'The application is archived or deleted',
  code_invalid: 'Wrong code',
  code_expired: 'Code too old',
  code_exhausted: 'Too many wrong codes',
  code_consumed: 'Code used already',
  rate_limited: 'Too many tries',
  provider_failed: 'The identity provider failed',
  email_unverified: 'The provider has not verified the address',
};

export function refusalWords(reason: string): string {
  const words = REFUSAL_WORDS[reason] ?? reason.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

export const LIMIT_WORDS: Readonly<Record<string, string>> = {
  keyPerMinute: 'Calls of an API key in a minute',
  keyPerDay: 'Calls of an API key in a day',
  sessionPerMinute: 'Checks of a session in a minute',
  codesPerEmail: 'Codes to an address',
  actionCodesPerEmail: 'Codes for something that needs one',
  accountCodesPerPerson: 'Codes for changes of an account',
  wrongCodesPerEmail: 'Wrong codes for an address',
  wrongCodesPerBrowser: 'Wrong codes in a browser',
  wrongCodesPerAddress: 'Wrong codes from a network address',
  wrongCodesInAll: 'Wrong codes in all',
  imagesPerPerson: 'Pictures of a person',
  exportsPerPerson: 'Exports of a person',
};
