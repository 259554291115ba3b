/**
 * Logs in by the browser of this machine: the authorization code grant with PKCE and a redirect to loopback (RFC 8252).
 * Where that is not possible, the caller uses the device grant.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { apiErrorOf, exchange } from '../../client/exchange.ts';
import { COMMAND_LINE_CLIENT_ID } from '../../core/console.ts';
import { systemRandom } from '../../core/random.ts';
import { startsLikeSecret } from '../../core/secret.ts';
import { printable } from '../sanitize.ts';
import type { Terminal } from './terminal.ts';

const PATIENCE_MS = 5 * 60 * 1000;
const TIMEOUT_MS = 10_000;
const CALLBACK = '/callback';
const METADATA = '/.well-known/oauth-authorization-server';

/** A key, a refusal, or why another way has to be tried; null for the reasons that need no words. */
export type BrowserLogin =
  { readonly key: string } | { readonly refusal: string } | { readonly problem: string | null };

export interface BrowserLoginOptions {
  /** Origin of the server. */
  readonly url: string;
  /** Names the key among the person's devices. */
  readonly deviceName: string;
  readonly say: (text: string) => unknown;
  /** Days after which the key is to end; null for the server's default. */
  readonly keyDays: number | 'never' | null;
}

/** Returns whether a browser of this machine can be expected to open in front of the person. */
export function hasBrowser({ canAsk, env, platform }: Pick<Terminal, 'canAsk' | 'env' | 'platform'>): boolean {
  if (!canAsk || env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}

/** @throws {Unreachable} when the server does not answer. @throws the reason of an interruption. */
export async function browserLogin(
  terminal: Terminal,
  { url, deviceName, say, keyDays }: BrowserLoginOptions,
): Promise<BrowserLogin> {
  if (!(await isOffered(terminal, url))) return { problem: null };
  const verifier = randomText();
  const state = randomText();
  const answer = Promise.withResolvers<URLSearchParams>();
  const listener = tryListen(terminal, (request) => answerTo(request, { state, onAnswer: answer.resolve }));
  if (listener === null) return { problem: 'No port of this machine could be opened.' };
  const over = new AbortController();
  const signal = AbortSignal.any([terminal.interruption, over.signal]);
  try {
    const redirectUri = `http://127.0.0.1:${listener.port}${CALLBACK}`;
    const address = addressOf(url, { redirectUri, verifier, state, keyDays });
    if (!(await terminal.open(address))) return { problem: 'The browser could not be opened.' };
    await say(waiting(address));
    const given = await Promise.race([
      answer.promise,
      terminal.wait(PATIENCE_MS, signal).then(() => 'The browser has not answered.'),
      terminal.inputEnd(signal).then(() => null),
    ]);
    return given instanceof URLSearchParams
      ? await outcomeOf(terminal, given, { url, deviceName, redirectUri, verifier })
      : { problem: given };
  } finally {
    over.abort();
    await listener.close();
  }
}

/** Returns whether the server names itself as here and has an authorization endpoint (RFC 8414). */
async function isOffered({ fetch, interruption: signal }: Terminal, url: string): Promise<boolean> {
  const { status, body } = await exchange(
    { url, timeoutMs: TIMEOUT_MS, fetch },
    { method: 'GET', path: METADATA, signal },
  );
  return status === 200 && body['issuer'] === url && typeof body['authorization_endpoint'] === 'string';
}

function tryListen(terminal: Terminal, answer: (request: Request) => Response) {
  try {
    return terminal.listen(answer);
  } catch {
    return null;
  }
}

interface Attempt {
  readonly redirectUri: string;
  readonly verifier: string;
}

interface AskedInBrowser extends Attempt, Pick<BrowserLoginOptions, 'keyDays'> {
  readonly state: string;
}

function addressOf(url: string, { redirectUri, verifier, state, keyDays }: AskedInBrowser): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: COMMAND_LINE_CLIENT_ID,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(keyDays !== null && { key_days: String(keyDays) }),
  });
  return `${url}/oauth/authorize?${query}`;
}

function waiting(address: string): string {
  return [
    'Confirm in the browser that opens now. If none does, open this address on this machine:',
    printable(address),
    '',
    'Waiting for up to 5 minutes. Ctrl-D shows a code to confirm on another device instead; Ctrl-C cancels.',
    '',
  ].join('\n');
}

interface Expected {
  readonly state: string;
  readonly onAnswer: (parameters: URLSearchParams) => void;
}

/** Answers the browser. Only the request that knows `state` counts: other pages can send requests to this port too. */
function answerTo(request: Request, { state, onAnswer }: Expected): Response {
  const { hostname, pathname, searchParams } = new URL(request.url);
  // Another name that leads here is an attack by DNS rebinding.
  if (request.method !== 'GET' || hostname !== '127.0.0.1' || pathname !== CALLBACK)
    return page(404, 'Nothing is here.');
  if (!isSame(searchParams.get('state') ?? '', state))
    return page(400, 'This answer is of another login. Run gatehouse login again.');
  onAnswer(searchParams);
  return page(200, 'Go back to the terminal. You can close this page.');
}

function page(status: number, words: string): Response {
  const html = `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Gatehouse</title>\n<p>${words}</p>\n</html>\n`;
  return new Response(html, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
      // The address holds the code.
      'Referrer-Policy': 'no-referrer',
      Connection: 'close',
    },
  });
}

async function outcomeOf(
  { fetch, interruption: signal }: Terminal,
  given: URLSearchParams,
  { url, deviceName, redirectUri, verifier }: Attempt & Pick<BrowserLoginOptions, 'url' | 'deviceName'>,
): Promise<BrowserLogin> {
  // A code that another server issued would be given away to this one (RFC 9207).
  if (given.get('iss') !== url) return { refusal: `The answer in the browser was not of ${url}; nothing was stored.` };
  const error = given.get('error');
  if (error === 'access_denied') return { refusal: 'It was declined in the browser; nothing was stored.' };
  const code = given.get('code');
  if (code === null) return { problem: `The server refused in the browser: ${printable(error ?? 'no code')}.` };
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: COMMAND_LINE_CLIENT_ID,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    device_name: deviceName,
  });
  const server = { url, timeoutMs: TIMEOUT_MS, fetch };
  const answer = await exchange(server, { method: 'POST', path: '/oauth/token', body, signal });
  const key = answer.body['access_token'];
  if (answer.status === 200 && typeof key === 'string' && startsLikeSecret('apiKey', key)) return { key };
  return { problem: `The server refused: ${printable(apiErrorOf(answer).message)}` };
}

/** Returns 256 random bits: 43 characters, as RFC 7636 recommends. */
function randomText(): string {
  return Buffer.from(systemRandom.bytes(32)).toString('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
