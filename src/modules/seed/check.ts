/** Validates a seed file without a server: its schema, duplicates and missing secrets. */
import type { FieldProblem } from '../../core/error.ts';
import { AppError } from '../../core/error.ts';
import { normalizeEmail } from '../../core/email.ts';
import { isSecret } from '../../core/secret.ts';
import { USERNAME_RULES } from '../../core/username.ts';
import { yieldIfLong } from '../../core/event-loop.ts';
import { validator } from '../../http/validate.ts';
import type { ImportRow } from '../import/model.ts';
import { cleanRow } from '../import/rows.ts';
import { eventProblems } from '../webhooks/service.ts';
import { type SeedApplication, SeedDocument, type SeedUser } from './model.ts';

/** Returns an environment variable's value; undefined if it is not set. */
export type Secrets = (name: string) => string | undefined;

const MAX_PROBLEMS = 20;
const ROWS_A_LOOK = 200;

const ROW_PROBLEMS: Readonly<Record<string, FieldProblem>> = {
  email_invalid: { path: 'email', message: 'Give an e-mail address, such as ada@example.com.' },
  username_invalid: { path: 'username', message: USERNAME_RULES },
  locale_invalid: { path: 'locale', message: 'Give a language tag, such as de-AT.' },
  timezone_invalid: { path: 'timezone', message: 'Give an IANA time zone, such as Europe/Vienna.' },
  'field_invalid:metadata': { path: 'metadata', message: 'Give a JSON object of at most 4096 bytes.' },
  language_invalid: { path: 'languages', message: 'Give language tags, such as de-AT.' },
};

/** The schema has checked everything else before. @param error such as `field_invalid:profile.fullName`. */
const nameProblem = (error: string): FieldProblem => ({
  path: error.slice(error.lastIndexOf('.') + 1),
  message: 'Give a name of at most 100 characters, on one line.',
});

const validate = validator(SeedDocument);

/** The first 20 problems, each with its path. */
export class Problems {
  readonly found: FieldProblem[] = [];

  add(path: string, message: string): void {
    if (this.found.length < MAX_PROBLEMS) this.found.push({ path, message });
  }

  /** @throws {AppError} invalid_request if there are any. */
  refuse(): void {
    if (this.found.length > 0) throw new AppError('invalid_request', { fields: this.found });
  }
}

/** Checks only the schema. @throws {AppError} invalid_request with the path of each problem. */
export function checkForm(value: unknown): SeedDocument {
  return validate(value);
}

/** Checks everything but the schema. @param place prefix of every path: empty, or ending with a dot. */
export async function checkDocument(document: SeedDocument, place: string, secrets: Secrets): Promise<Problems> {
  const problems = new Problems();
  const { applications = [], apiKeys = [] } = document;
  unique(
    problems,
    applications,
    (at) => `${place}applications.${at}.slug`,
    ({ slug }) => slug,
  );
  const tokens: [path: string, name: string][] = apiKeys.map(({ token }, at) => [
    `${place}apiKeys.${at}.token.env`,
    token.env,
  ]);
  for (const [at, application] of applications.entries()) {
    const path = `${place}applications.${at}`;
    await checkApplication(problems, application, path, secrets);
    for (const [index, { token }] of (application.apiKeys ?? []).entries())
      tokens.push([`${path}.apiKeys.${index}.token.env`, token.env]);
  }
  checkTokens(problems, tokens, secrets);
  return problems;
}

/** Checks one application in the same way; `place` is its path. */
export async function checkApplicationAlone(
  application: SeedApplication,
  place: string,
  secrets: Secrets,
): Promise<Problems> {
  const problems = new Problems();
  await checkApplication(problems, application, place, secrets);
  const tokens = (application.apiKeys ?? []).map(({ token }, at): [string, string] => [
    `${place}.apiKeys.${at}.token.env`,
    token.env,
  ]);
  checkTokens(problems, tokens, secrets);
  return problems;
}

export function namesOfSecrets({ applications = [], apiKeys = [] }: SeedDocument): string[] {
  const references = applications.flatMap(({ apiKeys: keys = [], webhooks = [], identityProvider }) => [
    ...(identityProvider ? [identityProvider.clientSecret] : []),
    ...webhooks.flatMap(({ secret }) => secret ?? []),
    ...keys.map(({ token }) => token),
  ]);
  return [...new Set([...references, ...apiKeys.map(({ token }) => token)].map(({ env }) => env))];
}

export function importRowOf({ email, roles, scopes, groups, externalId, metadata, ...profile }: SeedUser): ImportRow {
  return {
    email,
    ...(roles && { roleSlugs: roles }),
    ...(scopes && { scopeSlugs: scopes }),
    ...(groups && { membershipSlugs: groups }),
    ...(externalId && { externalId }),
    ...(metadata && { metadata }),
    profile,
  };
}

async function checkApplication(
  problems: Problems,
  application: SeedApplication,
  path: string,
  secrets: Secrets,
): Promise<void> {
  const { roles = [], scopes = [], groups = [], webhooks = [], allowlist = [], identityProvider } = application;
  for (const [section, grants] of Object.entries({ roles, scopes, groups }))
    unique(
      problems,
      grants,
      (at) => `${path}.${section}.${at}.slug`,
      ({ slug }) => slug,
    );
  if (identityProvider && !secrets(identityProvider.clientSecret.env))
    problems.add(`${path}.identityProvider.clientSecret.env`, unset(identityProvider.clientSecret.env));
  for (const [at, { events, secret }] of webhooks.entries()) {
    for (const problem of eventProblems(events))
      problems.add(`${path}.webhooks.${at}.${problem.path}`, problem.message);
    if (secret) checkSigningSecret(problems, `${path}.webhooks.${at}.secret.env`, secret.env, secrets);
  }
  await checkAllowlist(problems, allowlist, `${path}.allowlist`);
  await checkUsers(problems, application.users ?? [], `${path}.users`);
}

async function checkAllowlist(problems: Problems, allowlist: readonly string[], path: string): Promise<void> {
  const seen = new Map<string, number>();
  for (const [at, email] of allowlist.entries()) {
    const address = normalizeEmail(email);
    const first = address === null ? undefined : seen.get(address);
    if (address === null) problems.add(`${path}.${at}`, 'Give an e-mail address, such as ada@example.com.');
    else if (first === undefined) seen.set(address, at);
    else problems.add(`${path}.${at}`, `The same as ${path}.${first}; give each once.`);
    if (at % ROWS_A_LOOK === 0) await yieldIfLong();
  }
}

async function checkUsers(problems: Problems, users: readonly SeedUser[], path: string): Promise<void> {
  const emails = new Map<string, number>();
  const usernames = new Map<string, number>();
  for (const [at, user] of users.entries()) {
    const { email, profile } = cleanRow(importRowOf(user));
    if ('error' in profile) {
      const problem = ROW_PROBLEMS[profile.error] ?? nameProblem(profile.error);
      problems.add(`${path}.${at}.${problem.path}`, problem.message);
    } else if (profile.username !== null) {
      const first = usernames.get(profile.username);
      if (first !== undefined) problems.add(`${path}.${at}.username`, `The same as ${path}.${first}; give each once.`);
      usernames.set(profile.username, at);
    }
    const first = emails.get(email);
    if (first !== undefined) problems.add(`${path}.${at}.email`, `The same as ${path}.${first}; give each once.`);
    emails.set(email, at);
    if (at % ROWS_A_LOOK === 0) await yieldIfLong();
  }
}

function checkTokens(problems: Problems, tokens: readonly (readonly [string, string])[], secrets: Secrets): void {
  const seen = new Map<string, string>();
  for (const [path, name] of tokens) {
    const token = secrets(name);
    if (!token) problems.add(path, unset(name));
    else if (!isSecret('apiKey', token)) problems.add(path, `${name} holds no API key; make one with "gatehouse key".`);
    else if (seen.has(token))
      problems.add(path, `The same key as ${seen.get(token)}; make another with "gatehouse key".`);
    else seen.set(token, path);
  }
}

/** Accepts any key of sufficient length: receivers use what their libraries generate. */
function checkSigningSecret(problems: Problems, path: string, name: string, secrets: Secrets): void {
  const secret = secrets(name);
  if (!secret) problems.add(path, unset(name));
  else if (!/^[\x21-\x7e]{24,200}$/.test(secret))
    problems.add(path, `${name} holds no signing secret: 24 to 200 characters without spaces.`);
}

const unset = (name: string) => `${name} is not set; the secret is taken from there.`;

function unique<Item>(
  problems: Problems,
  items: readonly Item[],
  pathOf: (at: number) => string,
  nameOf: (item: Item) => string,
): void {
  const seen = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    const name = nameOf(item);
    const first = seen.get(name);
    if (first === undefined) seen.set(name, at);
    else problems.add(pathOf(at), `The same as ${pathOf(first)}; give each once.`);
  }
}
