/** Usernames: one normal form and one set of rules, for import, check and the account wizard alike. */

/** Names that could be mistaken for the product, its operator or a path. */
const RESERVED = new Set(
  `about abuse access account accounts admin administrator admins api app apps assets auth authentication authorize
  billing blog bot callback cdn cgi config console contact dashboard data default delete demo dev developer developers
  device devices dns docs download email everyone example faq favicon feed file files forgot ftp gatehouse group groups
  guest help home host hostmaster http https id identity image images imap info invite invites ipv4 ipv6 is isatap
  it javascript legal list local localhost login logout mail mailer-daemon management master me media member members
  message messages metrics mis moderator mx my new news nobody noc noreply no-reply notification notifications null oauth
  official oidc openid operator owner owners passkey passkeys password policy pop pop3 postmaster press privacy
  private profile public register registration reset robots root rss sales scope scopes security self server service
  services session sessions settings setup sign-in sign-out sign-up signin signout signup sitemap smtp sql ssl staff
  static status store subscribe sudo superuser support sys sysadmin system team teams terms test tests token tokens undefined
  unsubscribe update upload uploads usenet user username users verify webhook webhooks webmaster wiki workspace
  workspaces www`
    .split(/\s+/)
    .filter(Boolean),
);

/** For errors. */
export const USERNAME_RULES =
  'Give 3 to 30 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter; no reserved word.';

const SHAPE = /^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/;
const MIN_LENGTH = 3;
const MAX_LENGTH = 30;
/** Longest input worth normalising; a longer one cannot be claimed anyway. */
const MAX_INPUT = 200;

/** Returns the form that is compared and stored: NFKC, trimmed, lower-cased. */
export function normalizeUsername(text: string): string {
  if (text.length > MAX_INPUT) return text.slice(0, MAX_INPUT);
  return text.normalize('NFKC').trim().toLowerCase();
}

export type UsernameProblem = 'reserved' | 'malformed';

/**
 * Returns why a normalised name cannot be claimed; null if it can. The form is 3 to 30 of a-z, 0-9, `.`, `_` and `-`,
 * starting with a letter, without doubled or trailing punctuation.
 */
export function usernameProblem(username: string): UsernameProblem | null {
  if (RESERVED.has(username)) return 'reserved';
  const isOfLength = username.length >= MIN_LENGTH && username.length <= MAX_LENGTH;
  return isOfLength && SHAPE.test(username) ? null : 'malformed';
}

export function isClaimableUsername(username: string): boolean {
  return usernameProblem(username) === null;
}

/** Returns a claimable name close to what was typed, such as `ada-lovelace` for “Ada Lovelace”; null if none is. */
export function suggestedUsername(text: string): string | null {
  const plain = normalizeUsername(text).normalize('NFKD').replace(/\p{M}/gu, '');
  const joined = plain.replace(/['’]/g, '').replace(/[^a-z0-9]+/g, '-');
  const suggestion = joined
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_LENGTH)
    .replace(/-+$/, '');
  return isClaimableUsername(suggestion) ? suggestion : null;
}
