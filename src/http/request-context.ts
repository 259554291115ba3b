/** What is known of a request before anyone has been authenticated: its id, where it came from, the outgoing headers. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { newId } from '../core/id.ts';

/** One request, from its arrival to its log line. */
export interface RequestContext {
  readonly requestId: string;
  readonly request: Request;
  /** The client's address, from a proxy header only when the peer is a trusted proxy. Looked up when first asked for. */
  readonly ip: string;
  /** The same where somebody has asked for it already: finding it out costs a system call. */
  readonly knownIp: string | null;
  readonly ipCountry: string | null;
  readonly startedAt: number;
  /** Set by the pipeline for the log line. */
  principalId: string | null;
  /** Headers of the answer, whichever way it ends. */
  readonly headers: Record<string, string>;
}

/** Which headers of a proxy are believed; null for no header. */
export interface ContextSettings {
  readonly trustedProxies: BlockList;
  readonly countryHeader: string | null;
}

/** The address of the TCP peer; null where there is none (a request made inside the process). */
export type PeerAddress = (request: Request) => string | null;

/**
 * @param isAddressLate the address is looked up only when it is asked for, which saves a system call where it rarely is. A
 * client that has gone by then has none that could be believed.
 */
export type ContextFactory = (request: Request, isAddressLate?: boolean) => RequestContext;

const MAX_FORWARDED_HOPS = 20;
const LOOPBACK = '127.0.0.1';
const GONE = '0.0.0.0';

/** Believes `X-Forwarded-For` from trusted proxies alone, and warns once where another peer sends it. */
export function contextFactory(
  settings: ContextSettings,
  dependencies: { clock: Clock; log: Logger; peerAddress: PeerAddress },
): ContextFactory {
  const { clock, log, peerAddress } = dependencies;
  let hasWarned = false;

  function clientAddress(request: Request, unknown: string): string {
    const peer = plainAddress(peerAddress(request) ?? unknown);
    const forwarded = request.headers.get('x-forwarded-for');
    if (forwarded === null) return peer;
    if (!isTrusted(peer)) {
      if (!hasWarned)
        log.warn(
          { peer },
          'X-Forwarded-For came from a peer that is not trusted and is ignored; if this is your proxy, list it in GATEHOUSE_TRUSTED_PROXIES',
        );
      hasWarned = true;
      return peer;
    }
    // From the right: each trusted hop vouches for the one before it; the first untrusted is the client.
    const hops = forwarded.split(',').slice(-MAX_FORWARDED_HOPS).reverse();
    let client = peer;
    for (const hop of hops) {
      const address = plainAddress(hop.trim());
      if (!isAddress(address)) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  }

  function isTrusted(address: string): boolean {
    return settings.trustedProxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  function country(request: Request): string | null {
    const value = settings.countryHeader && request.headers.get(settings.countryHeader);
    return value && /^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : null;
  }

  return (request, isAddressLate = false) => {
    const startedAt = performance.now();
    const requestId = newId('request', clock.now());
    // A proxy that is not trusted is to be reported, whatever it asks for.
    const isLate = isAddressLate && (hasWarned || !request.headers.has('x-forwarded-for'));
    let ip = isLate ? null : clientAddress(request, LOOPBACK);
    return {
      requestId,
      request,
      get ip() {
        return (ip ??= clientAddress(request, GONE));
      },
      get knownIp() {
        return ip;
      },
      ipCountry: country(request),
      startedAt,
      principalId: null,
      headers: { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' },
    };
  };
}

/** IPv4 addresses mapped into IPv6 are written as IPv4, so that one client is one address. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

/** What limits count per address: an IPv4 address, or the /64 that an IPv6 customer is usually given. */
export function addressBlock(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head.split(':').filter(Boolean);
  const trailing = tail?.split(':').filter(Boolean) ?? [];
  const filled =
    tail === undefined ? groups : [...groups, ...Array(8 - groups.length - trailing.length).fill('0'), ...trailing];
  return `${filled.slice(0, 4).join(':')}::/64`;
}
