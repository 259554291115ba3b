/** What is known of a request before anyone has been authenticated: its id, where it came from, the outgoing headers. */
import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { countryCode } from '../core/country.ts';
import { idSeries } from '../core/id.ts';
import { canonicalAddress, familyOf } from '../core/ip-address.ts';
import type { BodyHold } from './body-pool.ts';
import type { Application } from '../store/applications.ts';
import { type CountryOf, countryOfAddress } from './country-table.ts';

/** One request, from its arrival to its log line. */
export interface RequestContext {
  readonly requestId: string;
  readonly request: Request;
  readonly method: string;
  /**
   * The client's address in its one spelling, from a proxy header only when the peer is a trusted proxy. Looked up when first
   * asked for.
   */
  readonly ip: string;
  /** The same where somebody has asked for it already: finding it out costs a system call. */
  readonly knownIp: string | null;
  /** As a trusted proxy says, else as the table does. Looked up when first asked for. */
  readonly ipCountry: string | null;
  readonly startedAt: number;
  /** Set by the pipeline for the log line. */
  principalId: string | null;
  /** What the body counts for in the memory of all bodies; null for a small one. Set by the body reader. */
  bodyHold: BodyHold | null;
  /** The application whose page was asked for, where it is known: a problem page leads back to it. */
  application: PageApplication | null;
  /** Headers of the answer, whichever way it ends. */
  readonly headers: Record<string, string>;
  /** Values of `Set-Cookie`, likewise: each is a header of its own. */
  readonly cookies: string[];
  /** It is a part of a call that came from outside, which has been counted against the limits of the same key. */
  readonly isCounted?: true;
}

/** An application as far as a problem page shows it. */
export type PageApplication = Pick<Application, 'name' | 'returnUrls'>;

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

export interface ContextDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly peerAddress: PeerAddress;
  /** Whether browsers may be told to come by https alone from now on. */
  readonly isHttps?: boolean;
  readonly countryOf?: CountryOf;
  /** Told once, where a peer that is not trusted sends a header of proxies. */
  readonly onUntrusted?: (header: string) => void;
}

/** A year, for this very host: what else lies under its name is not ours to say. */
const HTTPS_ONLY = 'max-age=31536000';

/** What is asked for late is found out by these. */
interface Lookups {
  readonly peerOf: (request: Request, unknown: string) => string;
  readonly clientAddress: (request: Request, peer: string) => string;
  readonly country: (request: Request, peer: string, ip: string) => string | null;
}

/** A class, since objects with getters of their own take some microseconds. */
class Incoming implements RequestContext {
  readonly startedAt = performance.now();
  readonly method: string;
  readonly cookies: string[] = [];
  principalId: string | null = null;
  bodyHold: BodyHold | null = null;
  application: PageApplication | null = null;
  private peer: string | null = null;
  private country: string | null | undefined;
  knownIp: string | null = null;

  constructor(
    readonly requestId: string,
    readonly request: Request,
    readonly headers: Record<string, string>,
    private readonly lookups: Lookups,
  ) {
    this.method = request.method;
  }

  /** @param unknown the peer's address where it has none. */
  lookUp(unknown: string): string {
    this.peer = this.lookups.peerOf(this.request, unknown);
    return (this.knownIp = this.lookups.clientAddress(this.request, this.peer));
  }

  get ip(): string {
    return this.knownIp ?? this.lookUp(GONE);
  }

  get ipCountry(): string | null {
    if (this.country === undefined) {
      const address = this.ip;
      this.country = this.lookups.country(this.request, this.peer ?? GONE, address);
    }
    return this.country;
  }
}

/** Believes what proxies say from trusted ones alone, and warns once where another peer says it. */
export function contextFactory(settings: ContextSettings, dependencies: ContextDependencies): ContextFactory {
  const { clock, log, peerAddress, isHttps = false, countryOf = countryOfAddress, onUntrusted } = dependencies;
  const nextId = idSeries('request');
  let hasWarned = false;

  function warn(peer: string, header: string): void {
    if (hasWarned) return;
    hasWarned = true;
    onUntrusted?.(header);
    log.warn(
      { peer, header },
      `${header} came from a peer that is not trusted and is ignored; if this is your proxy, list it in GATEHOUSE_TRUSTED_PROXIES`,
    );
  }

  function peerOf(request: Request, unknown: string): string {
    return canonicalAddress(peerAddress(request) ?? unknown) ?? unknown;
  }

  function clientAddress(request: Request, peer: string): string {
    const forwarded = request.headers.get('x-forwarded-for');
    if (forwarded === null) return peer;
    if (!isTrusted(peer)) {
      warn(peer, 'X-Forwarded-For');
      return peer;
    }
    // From the right: each trusted hop vouches for the one before it; the first untrusted is the client.
    const hops = forwarded.split(',').slice(-MAX_FORWARDED_HOPS).reverse();
    let client = peer;
    for (const hop of hops) {
      const address = canonicalAddress(withoutPort(hop.trim()));
      if (address === null) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  }

  function isTrusted(address: string): boolean {
    return settings.trustedProxies.check(address, familyOf(address));
  }

  function country(request: Request, peer: string, ip: string): string | null {
    const { countryHeader } = settings;
    const said = countryHeader === null ? null : request.headers.get(countryHeader);
    if (countryHeader !== null && said !== null) {
      const known = isTrusted(peer) ? countryCode(said) : null;
      if (known !== null) return known;
      if (!isTrusted(peer)) warn(peer, countryHeader);
    }
    return countryOf(ip);
  }

  const lookups = { peerOf, clientAddress, country };
  return (request, isAddressLate = false) => {
    const requestId = nextId(clock.now());
    const headers: Record<string, string> = {
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    };
    if (isHttps) headers['Strict-Transport-Security'] = HTTPS_ONLY;
    const context = new Incoming(requestId, request, headers, lookups);
    // A proxy that is not trusted is to be reported, whatever it asks for.
    const isLate = isAddressLate && (hasWarned || !request.headers.has('x-forwarded-for'));
    if (!isLate) context.lookUp(LOOPBACK);
    return context;
  };
}

/** Of a call within another one, with the same key: its records have the id and the address of that. */
export function contextWithin(outer: RequestContext, request: Request): RequestContext {
  return {
    requestId: outer.requestId,
    request,
    method: request.method,
    get ip() {
      return outer.ip;
    },
    get knownIp() {
      return outer.knownIp;
    },
    get ipCountry() {
      return outer.ipCountry;
    },
    startedAt: performance.now(),
    principalId: null,
    bodyHold: null,
    application: null,
    headers: {},
    cookies: [],
    isCounted: true,
  };
}

/** Some proxies write the port as well: `203.0.113.7:4711`, `[2001:db8::7]:4711`. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}

/** What limits count per address: an IPv4 address, or the /64 that an IPv6 customer is usually given, in one spelling. */
export function addressBlock(ip: string): string {
  const address = canonicalAddress(ip);
  if (address === null || familyOf(address) === 'ipv4') return address ?? ip;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const trailing = tail?.split(':').filter(Boolean) ?? [];
  const filled =
    tail === undefined ? groups : [...groups, ...Array(8 - groups.length - trailing.length).fill('0'), ...trailing];
  return `${filled.slice(0, 4).join(':')}::/64`;
}
