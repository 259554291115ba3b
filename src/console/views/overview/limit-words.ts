/** Names of the limits. */

export const LIMIT_WORDS: Readonly<Record<string, string>> = {
  keyPerMinute: 'Calls of an API key per minute',
  keyPerDay: 'Calls of an API key per day',
  clientPerMinute: 'Introspections and revocations per minute',
  sessionPerMinute: 'Checks of a session per minute',
  codesPerEmail: 'Codes to an address',
  actionCodesPerEmail: 'Codes for confirming an action',
  accountCodesPerPerson: 'Codes for account changes',
  wrongCodesPerEmail: 'Wrong codes for an address',
  wrongCodesPerBrowser: 'Wrong codes in a browser',
  wrongCodesPerAddress: 'Wrong codes from a network address',
  wrongCodesInAll: 'Wrong codes in total',
  imagesPerPerson: 'Pictures of a person',
  exportsPerPerson: 'Exports of a person',
};
