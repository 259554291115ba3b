/** `gatehouse login`, `logout`, `whoami`: manage this user's keys, obtained in the browser or by the device grant (RFC 8628). */
import { createClient } from '../../client/client.ts';
import { deviceLogin, type PendingLogin } from '../../client/device-login.ts';
import { ApiError, Unreachable } from '../../client/errors.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { StartupError } from '../../core/startup-error.ts';
import { CLIENT_VARIABLES } from '../../settings.ts';
import { UsageError } from '../arguments.ts';
import { browserLogin, type BrowserLoginOptions, hasBrowser } from './browser-login.ts';
import { findLogin, type Login, profilePath, readProfile, removeLogin, storeLogin } from './profile.ts';
import { remoteCommand, type RemoteCall } from './remote-command.ts';
import { namedUrl } from './target.ts';
import { printable } from '../sanitize.ts';
import type { Terminal } from './terminal.ts';

const URL_OPTION = {
  value: 'URL',
  meaning: `Address of the server. Default: ${CLIENT_VARIABLES.url}, then the last login.`,
};

/** Ten years, the longest that a server accepts. */
const MAX_DAYS = 3_650;

export const login = remoteCommand({
  name: 'login',
  summary: 'Log in to a server in a browser, here or on another device',
  options: {
    url: URL_OPTION,
    days: { value: 'N', meaning: 'Days after which the login ends, 1 to 3650. Default: 90.' },
  },
  switches: {
    device: 'Show a code to confirm on any device. Used without a terminal or browser, and over SSH, too.',
    never: 'The login does not end by itself, only by gatehouse logout or in your account.',
  },
  next: [
    'The key is kept in your configuration folder, in a file that only you can read.',
    'It ends after 90 days, unless you ask for another time; then log in again.',
    'Each server has one; without --url the last login is used.',
    '',
    'Next: gatehouse whoami, then gatehouse apps list',
  ],
  async execute({ terminal, text, show, isOn }) {
    const url = namedUrl(terminal, text('url')) ?? findLogin(readProfile(terminal), undefined)?.url;
    if (url === undefined) throw new UsageError('Say which server: gatehouse login --url https://auth.example.com');
    const keyDays = keyDaysAsked(text('days'), isOn('never'));
    // With JSON output prompts go to stderr, so that stdout stays parseable.
    const say = (line: string) => (show.isJson ? terminal.err(line) : terminal.out(line));
    const fail = (message: string, error = 'failed') => show.failure({ error, message });
    const isByCode = isOn('device') || !hasBrowser(terminal);
    const key = await askForKey(terminal, { url, say, fail, keyDays, isByCode });
    if (key === null) return 1;
    const { fetch, wait } = terminal;
    const me = await createClient({ url, apiKey: key, fetch, wait }).get('/api/me');
    const who = me.email ?? me.userId;
    const before = findLogin(readProfile(terminal), url);
    storeLogin(terminal, { url, key, who });
    if (before) await revokeKey(terminal, before).catch(() => {});
    const expiresAt = me.key?.expiresAt ?? null;
    const days = expiresAt === null ? null : daysUntil(expiresAt, terminal);
    const until = days === null ? endless(me.key) : ` The login ends after ${days} ${days === 1 ? 'day' : 'days'}.`;
    await show.done({ url, who, expiresAt, workspaces: me.workspaces }, `Logged in to ${url} as ${who}.${until}`);
    if (keyDays !== null && keyDays !== (days ?? 'never'))
      terminal.err('The server is older than --days and --never, and has not followed them.\n');
    if (me.workspaces.length === 0) terminal.err('You are not a member of any workspace there.\n');
    return 0;
  },
});

/** Returns a sentence for a key without an end; nothing if there is no word of it. */
function endless(key: { readonly expiresAt: string | null } | null | undefined): string {
  return key?.expiresAt === null ? ' The login does not end by itself.' : '';
}

/** Returns how long the login is to last; null where the person leaves it to the server. @throws {UsageError} */
function keyDaysAsked(days: string | undefined, isNever: boolean): number | 'never' | null {
  if (isNever && days !== undefined) throw new UsageError('Give --days or --never, not both.');
  if (isNever) return 'never';
  if (days === undefined) return null;
  const count = /^\d{1,4}$/.test(days) ? Number(days) : 0;
  if (count < 1 || count > MAX_DAYS) throw new UsageError(`--days must be a whole number from 1 to ${MAX_DAYS}.`);
  return count;
}

function daysUntil(time: string, { now }: Terminal): number {
  return Math.round((Date.parse(time) - now()) / (24 * 3600_000));
}

interface LoginRequest extends Omit<BrowserLoginOptions, 'deviceName'> {
  /** Whether the browser of this machine is not asked. */
  readonly isByCode: boolean;
  /** Prints why there is no key. @param error the code of the API, if it has one. */
  readonly fail: (message: string, error?: string) => void;
}

/** Waits for approval in the browser. @returns null when refused or aborted; the reason is already printed. */
async function askForKey(terminal: Terminal, request: LoginRequest): Promise<string | null> {
  const { url, say, fail, keyDays, isByCode } = request;
  const { fetch, wait, interruption: signal } = terminal;
  const deviceName = deviceNameOn(terminal.host);
  try {
    const answer = isByCode ? { problem: null } : await browserLogin(terminal, { url, deviceName, say, keyDays });
    if ('key' in answer) return answer.key;
    if ('refusal' in answer) {
      fail(answer.refusal);
      return null;
    }
    if (answer.problem !== null) terminal.err(`${answer.problem} Here is a code instead.\n\n`);
    const asked = { deviceName, ...(keyDays !== null && { keyDays }) };
    const options = { url, clientId: CONSOLE_CLIENT_ID, ...asked, fetch, wait, signal };
    const onCode = async (pending: PendingLogin) => say(await confirmationPrompt(terminal, pending));
    return (await deviceLogin({ ...options, onCode })).token;
  } catch (error) {
    // The terminal shows ^C on this line.
    if (signal.aborted && terminal.canAsk) terminal.err('\n');
    if (signal.aborted) fail('Cancelled; nothing was stored.', 'cancelled');
    else if (error instanceof ApiError && error.code === 'access_denied')
      fail('It was declined in the browser; nothing was stored.', error.code);
    else if (error instanceof ApiError && error.code === 'expired_token')
      fail('The code expired before anybody confirmed it. Run gatehouse login again.', error.code);
    else if (error instanceof ApiError && error.code === 'unexpected')
      fail(`${url} answers, but not as a Gatehouse server. Is this its address?`, error.code);
    else throw error;
    return null;
  }
}

async function confirmationPrompt(terminal: Terminal, pending: PendingLogin): Promise<string> {
  const { userCode, verificationUri, verificationUriComplete, expiresInSeconds } = pending;
  const lines = [`Open ${printable(verificationUri)}`, `and enter the code  ${printable(userCode)}`, ''];
  if (terminal.isTty) {
    const { renderUnicodeCompact } = await import('uqr');
    lines.push(renderUnicodeCompact(verificationUriComplete, { border: 2 }), '');
  }
  lines.push(`Waiting for you to confirm, for up to ${Math.round(expiresInSeconds / 60)} minutes. Ctrl-C cancels.`);
  return `${lines.join('\n')}\n`;
}

/** Returns the name of the key, which is shown for approval by a code, at most 100 characters. */
function deviceNameOn(host: string): string {
  return `Command line on ${host.replace(/[^\p{L}\p{N}._ -]/gu, '').slice(0, 60) || 'this machine'}`;
}

/** @throws {ApiError} @throws {Unreachable} */
async function revokeKey({ fetch, wait }: Terminal, { url, key }: Login): Promise<void> {
  await createClient({ url, apiKey: key, timeoutMs: 10_000, maxWaitMs: 0, fetch, wait }).delete('/api/me/key');
}

export const logout = remoteCommand({
  name: 'logout',
  summary: 'Revoke the key at the server and delete it here',
  options: { url: URL_OPTION },
  async execute({ terminal, text, show }) {
    const url = namedUrl(terminal, text('url'));
    const profile = readProfile(terminal);
    const found = findLogin(profile, url);
    if (!found)
      throw new StartupError(
        url === undefined
          ? 'There is no login to end.'
          : `There is no login at ${url}. There are: ${profile.logins.map((login) => login.url).join(', ') || 'none'}.`,
      );
    const problem = await revokeKey(terminal, found).then(() => null, problemOf);
    removeLogin(terminal, found);
    await show.done({ url: found.url, who: found.who, isRevoked: problem === null }, `Logged out of ${found.url}.`);
    if (problem !== null)
      terminal.err(
        `${problem} The key is deleted here, but works until it is revoked at the server: see the devices under ${found.url}/account.\n`,
      );
    return 0;
  },
});

/** Returns why the key was not ended; null when it is already invalid. */
function problemOf(error: unknown): string | null {
  if (error instanceof Unreachable) return 'The server could not be reached.';
  if (!(error instanceof ApiError)) throw error;
  return error.status === 401 ? null : `The server refused: ${error.message}`;
}

export const whoami = remoteCommand({
  name: 'whoami',
  summary: 'Show who you are, at which server, and your roles',
  async execute({ client, target, show, terminal }: RemoteCall) {
    const me = await client.get('/api/me');
    const { email, userId, key, workspaces } = me;
    const role = (name: string | null) => name ?? (key?.access === 'full' ? 'full access' : 'read access');
    await show.record({ url: target.url, ...me }, () => [
      ['Server', target.url],
      ['Who', email === null ? `an API key, ${userId}` : `${email}, ${userId}`],
      ['Key', key && `${key.name}, ${key.prefix}…, from ${target.origin}`],
      ['Expires', key?.expiresAt ? show.time(key.expiresAt) : 'never'],
      ...workspaces.map(({ name, role: own }) => ['Workspace', `${name}, ${role(own)}`] as const),
    ]);
    const path = profilePath(terminal);
    if (target.origin.startsWith('the login')) await show.say(`\nThe login is kept in ${path}.`);
  },
});
