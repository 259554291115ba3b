/**
 * Sends requests to addresses supplied by others, with SSRF protection: the name is resolved, every address checked,
 * and the request pinned to a checked one. Redirects are not followed, bodies not inflated, time and bytes bounded.
 */
import type { BlockList } from 'node:net';
import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import { isLoopbackAddress, withoutBrackets } from '../core/ip-address.ts';
import { isAddressAllowed } from './address-guard.ts';

/** `refused` means that this server may not reach the address. Every other problem is the remote host's or the network's. */
export type OutboundProblem = 'refused' | 'unresolved' | 'timeout' | 'tls' | 'connection';

/** The reason why there is no answer. `refused` means that nothing was sent. */
export class OutboundError extends Error {
  readonly problem: OutboundProblem;
  constructor(problem: OutboundProblem, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'OutboundError';
    this.problem = problem;
  }
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** Ends the request, with the problem `timeout`. */
  readonly signal?: AbortSignal | undefined;
  /** Most bytes read of the answer's body. */
  readonly maxBytes: number;
}

/** The answer, with as much of its body as was requested. */
export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Exceptions to the rule that only public https addresses may be reached. */
export interface OutboundSettings {
  /** Private ranges that are allowed. */
  readonly allowed: BlockList;
  /** Allows plain http and loopback, as in dev and ephemeral instances. */
  readonly isLoopbackAllowed: boolean;
  readonly resolve?: Resolve;
}

/** Checks an entered address before its name is resolved. @returns a sentence that says how to fix it, or null. */
export function targetProblem(
  text: string,
  settings: Pick<OutboundSettings, 'allowed' | 'isLoopbackAllowed'>,
): string | null {
  const url = /[\s\\]/.test(text) ? null : URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'Give an absolute https address.';
  if (url.username || url.password) return 'Give an address without user name and password.';
  if (!isPortPermitted(url)) return 'Give an address with a port that speaks http, such as 443.';
  const literal = withoutBrackets(url.hostname);
  const isLocal = isLoopbackAddress(literal) || /(?:^|\.)localhost\.?$/.test(literal);
  if (isLocal && settings.isLoopbackAllowed) return null;
  const isOpened = isIP(literal) !== 0 && settings.allowed.check(literal, isIP(literal) === 6 ? 'ipv6' : 'ipv4');
  if (url.protocol === 'http:' && !isOpened) return 'Give an https address; plain http is not allowed.';
  if (isLocal && !isOpened) return 'Give a public address; this one is not.';
  if (isIP(literal) !== 0 && !isAddressAllowed(literal, settings.allowed))
    return 'Give a public address; this one is not.';
  return null;
}

/** Sends one request, once. A redirect is returned like any other answer. */
export type GuardedFetch = (request: OutboundRequest) => Promise<OutboundAnswer>;

/** Refuses every request, for an instance that must send nothing. */
export const refuseOutbound: GuardedFetch = async () => {
  throw new OutboundError('refused', 'This instance sends no requests.');
};

const resolveByDns: Resolve = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address);

/** @returns a function that throws {@link OutboundError} and nothing else. */
export function guardedFetch({ allowed, isLoopbackAllowed, resolve = resolveByDns }: OutboundSettings): GuardedFetch {
  function isAllowed(address: string): boolean {
    return isAddressAllowed(address, allowed) || (isLoopbackAllowed && isLoopbackAddress(address));
  }

  function check(text: string): URL {
    const url = URL.parse(text);
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      throw new OutboundError('refused', 'not an http or https address');
    if (url.username || url.password) throw new OutboundError('refused', 'an address with user name or password');
    if (!isPortPermitted(url)) throw new OutboundError('refused', 'a port that does not speak http');
    return url;
  }

  /** All addresses must be allowed: a name with a forbidden one may pass once and be abused later (DNS rebinding). */
  async function pin(hostname: string): Promise<string> {
    const literal = withoutBrackets(hostname);
    let addresses: string[];
    try {
      addresses = isIP(literal) ? [literal] : await resolve(hostname);
    } catch (cause) {
      throw new OutboundError('unresolved', 'the name does not resolve', { cause });
    }
    const [first] = addresses;
    if (first === undefined) throw new OutboundError('unresolved', 'the name does not resolve');
    if (!addresses.every(isAllowed))
      throw new OutboundError('refused', 'the name leads to an address that is not public');
    // IPv4 is preferred: a host without IPv6 must still reach a name that has both.
    return addresses.find((address) => isIP(address) === 4) ?? first;
  }

  return async ({ url: text, method, headers = {}, body, timeoutMs, signal: given, maxBytes }) => {
    const url = check(text);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = given ? AbortSignal.any([timeout, given]) : timeout;
    const address = await withTimeout(pin(url.hostname), signal);
    const target = new URL(url);
    target.hostname = address.includes(':') ? `[${address}]` : address;
    try {
      const response = await fetch(target, {
        method,
        headers: { ...headers, Host: url.host },
        ...(body !== undefined && { body }),
        redirect: 'manual',
        decompress: false,
        proxy: false,
        signal,
        ...(url.protocol === 'https:' && { tls: { serverName: url.hostname } }),
      } as BunFetchRequestInit);
      return { status: response.status, headers: response.headers, body: await readSome(response, maxBytes) };
    } catch (cause) {
      if (signal.aborted) throw new OutboundError('timeout', `no answer within ${timeoutMs} ms`, { cause });
      throw new OutboundError(isTlsProblem(cause) ? 'tls' : 'connection', 'the connection failed', { cause });
    }
  };
}

/**
 * Starts Bun's thread for outgoing requests. Bun otherwise starts it at the first request, and exits if no file
 * descriptor is free then. Port 0 does not exist, so nothing is sent.
 */
export async function startHttpThread(): Promise<void> {
  await fetch('http://127.0.0.1:0/').catch(() => {});
}

/** Bun names certificate problems by OpenSSL's codes. */
function isTlsProblem(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|HOSTNAME|EPROTO/.test(code);
}

/** Ports that browsers block (WHATWG Fetch §2.9): below 1024 all but these, above only the listed ones. */
const HTTP_PORTS_BELOW_1024 = [80, 443];
const BLOCKED_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

function isPortPermitted({ port }: URL): boolean {
  if (port === '') return true;
  const number = Number(port);
  return number < 1024 ? HTTP_PORTS_BELOW_1024.includes(number) : !BLOCKED_PORTS.includes(number);
}

async function withTimeout<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new OutboundError('timeout', 'the name did not resolve in time')), {
      once: true,
    });
  });
  return Promise.race([work, aborted]);
}

async function readSome(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader && length < maxBytes) {
    const { value, done } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
  }
  void reader?.cancel().catch(() => {});
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
