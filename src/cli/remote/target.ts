/** Resolves the server and key of a command from flags, the environment or the stored login. */
import { readFileSync } from 'node:fs';
import { isLoopbackName } from '../../core/ip-address.ts';
import { startsLikeSecret } from '../../core/secret.ts';
import { StartupError } from '../../core/startup-error.ts';
import { CLIENT_VARIABLES } from '../../settings.ts';
import { type Option, UsageError } from '../arguments.ts';
import { readError } from '../read-error.ts';
import { findLogin, readProfile } from './profile.ts';
import type { Terminal } from './terminal.ts';

export const TARGET_OPTIONS: Readonly<Record<'url' | 'key-file', Option>> = {
  url: { value: 'URL', meaning: `Address of the server. Default: ${CLIENT_VARIABLES.url}, then the last login.` },
  'key-file': {
    value: 'FILE',
    meaning: `File with the API key; or set ${CLIENT_VARIABLES.key}. A key in a flag would be visible to all users of the machine.`,
  },
};

export interface TargetFlags {
  readonly url: string | undefined;
  readonly keyFile: string | undefined;
}

export interface Target {
  readonly url: string;
  readonly key: string;
  /** Source of the key, in words. */
  readonly origin: string;
}

/** Returns the origin of a server, by which logins are stored. @throws {UsageError} */
export function serverUrl(text: string, from: string): string {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password)
    throw new UsageError(`${from} is no address of a server. Give one such as https://auth.example.com.`);
  if (url.pathname !== '/' || url.search || url.hash)
    throw new UsageError(`${from} has a path. Give the address of the server alone, such as ${url.origin}.`);
  if (url.protocol === 'http:' && !isLoopbackName(url.hostname))
    throw new UsageError(`${from} is http, over which anybody could read the key. Give https://${url.host}.`);
  return url.origin;
}

/** Returns the server named by flag or environment. @throws {UsageError} */
export function namedUrl({ env }: Terminal, flag: string | undefined): string | undefined {
  if (flag !== undefined) return serverUrl(flag, '--url');
  const given = env[CLIENT_VARIABLES.url]?.trim();
  return given ? serverUrl(given, CLIENT_VARIABLES.url) : undefined;
}

/** @throws {UsageError} @throws {StartupError} without a key; says how to get one. */
export function findTarget(terminal: Terminal, flags: TargetFlags): Target {
  const url = namedUrl(terminal, flags.url);
  const given = givenKey(terminal, flags.keyFile);
  if (given) {
    // An explicit key needs an explicit server, so that it is never sent to another one.
    if (url === undefined) throw new UsageError(`The key needs a server: give --url or set ${CLIENT_VARIABLES.url}.`);
    return { url, ...given };
  }
  const login = findLogin(readProfile(terminal), url);
  if (login) return { url: login.url, key: login.key, origin: `the login of ${login.who}` };
  const command = `gatehouse login --url ${url ?? 'https://…'}`;
  throw new StartupError(`You are not logged in${url ? ` to ${url}` : ''}. Run: ${command}`);
}

function givenKey({ env }: Terminal, file: string | undefined): Omit<Target, 'url'> | null {
  if (file !== undefined) {
    const origin = `--key-file ${file}`;
    let key: string;
    try {
      key = readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new StartupError(`--key-file: ${readError(file, error).message}`);
    }
    return { key: checked(key, origin), origin };
  }
  const key = env[CLIENT_VARIABLES.key]?.trim();
  return key ? { key: checked(key, CLIENT_VARIABLES.key), origin: CLIENT_VARIABLES.key } : null;
}

function checked(key: string, origin: string): string {
  if (startsLikeSecret('apiKey', key) && !/\s/.test(key)) return key;
  throw new StartupError(`${origin} holds no API key: one begins with eak_.`);
}
