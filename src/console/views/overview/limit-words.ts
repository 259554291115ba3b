/** Names of the limits. */

export const LIMIT_WORDS: Readonly<Record<string, string>> = {
  keyPerMinute: 'Calls of an API key in a minute',
  keyPerDay: 'Calls of an API key in a day',
  clientPerMinute: 'Introspections and revocations in a minute',
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
