/** Holds what is known of a request before authentication: its id, where it came from, the outgoing headers. */
import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { countryCode } from '../core/country.ts';
import { idSeries } from '../core/id.ts';
import { canonicalAddress, familyOf } from '../core/ip-address.ts';
import type { BodyHold } from './body-pool.ts';
import type { Application } from '../store/applications.ts';
import { type CountryOf, countryOfAddress } from './country-table.ts';
import { baseHeaders } from './security-headers.ts';

export interface RequestContext {
  readonly requestId: string;
  readonly request: Request;
  readonly method: string;
  /** Client address in canonical form, from a proxy header only if the peer is trusted. Looked up on first use. */
  readonly ip: string;
  /** Client address if it was looked up already, else null: the lookup costs a system call. */
  readonly knownIp: string | null;
  /** Country from a trusted proxy's header, else from the table. Looked up on first use. */
  readonly ipCountry: string | null;
  readonly startedAt: number;
  /** Set at authentication, for the log line. */
  principalId: string | null;
  /** Backend key whose calls include this one; null for none. Set at authentication. */
  countedKeyId: string | null;
  /** Whether the answer refuses the token that it was asked about. */
  isTokenRefused: boolean;
  /** Bytes that the body holds of the body pool; null for a small one. Set by the body reader. */
  bodyHold: BodyHold | null;
  /** Application whose page was asked for, where known: an error page has its brand and links back to it. */
  application: PageApplication | null;
  /** Headers of the answer, of success and failure alike. */
  readonly headers: Record<string, string>;
  /** Values of `Set-Cookie`, each sent as a header of its own. */
  readonly cookies: string[];
  /** Marks an internal call: the outer call has been counted against the same key's limits. */
  readonly isCounted?: true;
}

export type PageApplication = Pick<
  Application,
  | 'id'
  | 'clientId'
  | 'name'
  | 'logoUrl'
  | 'logoDarkUrl'
  | 'iconUrl'
  | 'accentColor'
  | 'homeUrl'
  | 'returnUrls'
  | 'supportUrl'
  | 'supportEmail'
  | 'termsUrl'
  | 'privacyUrl'
  | 'imprintUrl'
  | 'archivedAt'
  | 'deletedAt'
>;

/** Proxies to trust, and their header for the country; null for none. */
export interface ContextSettings {
  readonly trustedProxies: BlockList;
  readonly countryHeader: string | null;
}

/** Returns the TCP peer's address; null where there is none (a request made inside the process). */
export type PeerAddress = (request: Request) => string | null;

/**
 * @param isAddressLate defers the address lookup, a system call; a client gone by then has no trustworthy address.
 * @param peerAddress of the listener that the request came from; by default the server's.
 */
export type ContextFactory = (request: Request, isAddressLate?: boolean, peerAddress?: PeerAddress) => RequestContext;

const MAX_FORWARDED_HOPS = 20;
const LOOPBACK = '127.0.0.1';
const GONE = '0.0.0.0';

export interface ContextDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly peerAddress: PeerAddress;
  /** Whether to send HSTS, so that browsers come by https only from now on. */
  readonly isHttps?: boolean;
  readonly countryOf?: CountryOf;
  /** Called once, when an untrusted peer sends a proxy header. */
  readonly onUntrusted?: (header: string) => void;
}

interface Lookups {
  readonly peerOf: (request: Request, peerAddress: PeerAddress, unknown: string) => string;
  readonly clientAddress: (request: Request, peer: string) => string;
  readonly country: (request: Request, peer: string, ip: string) => string | null;
}

/** Class, because creating an object literal with getters takes some microseconds. */
class Incoming implements RequestContext {
  readonly startedAt = performance.now();
  readonly method: string;
  private sentCookies: string[] | null = null;
  principalId: string | null = null;
  countedKeyId: string | null = null;
  isTokenRefused = false;
  bodyHold: BodyHold | null = null;
  application: PageApplication | null = null;
  private peer: string | null = null;
  private country: string | null | undefined;
  knownIp: string | null = null;

  constructor(
    readonly requestId: string,
    readonly request: Request,
    readonly headers: Record<string, string>,
    private readonly peerAddress: PeerAddress,
    private readonly lookups: Lookups,
  ) {
    this.method = request.method;
  }

  /** Looks up the client address. @param unknown stands in for a missing peer address. */
  lookUp(unknown: string): string {
    this.peer = this.lookups.peerOf(this.request, this.peerAddress, unknown);
    return (this.knownIp = this.lookups.clientAddress(this.request, this.peer));
  }

  get cookies(): string[] {
    return (this.sentCookies ??= []);
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

/** Creates the factory. Proxy headers count only from trusted proxies; the first from another peer is logged. */
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

  function peerOf(request: Request, addressOf: PeerAddress, unknown: string): string {
    return canonicalAddress(addressOf(request) ?? unknown) ?? unknown;
  }

  function clientAddress(request: Request, peer: string): string {
    const forwarded = request.headers.get('x-forwarded-for');
    if (forwarded === null) return peer;
    if (!isTrusted(peer)) {
      warn(peer, 'X-Forwarded-For');
      return peer;
    }
    // Read from the right: each trusted proxy added the address to its left; the first untrusted address is the client.
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
  return (request, isAddressLate = false, addressOf = peerAddress) => {
    const requestId = nextId(clock.now());
    const context = new Incoming(requestId, request, baseHeaders(requestId, isHttps), addressOf, lookups);
    // Looked up at once with a proxy header, so that an untrusted proxy is reported on any path.
    const isLate = isAddressLate && (hasWarned || !request.headers.has('x-forwarded-for'));
    if (!isLate) context.lookUp(LOOPBACK);
    return context;
  };
}

/** Returns the context of an internal call. Its records have the id and client address of the outer call. */
export function internalContext(outer: RequestContext, request: Request): RequestContext {
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
    countedKeyId: null,
    isTokenRefused: false,
    bodyHold: null,
    application: null,
    headers: {},
    cookies: [],
    isCounted: true,
  };
}

/** Strips the port that some proxies add: `203.0.113.7:4711`, `[2001:db8::7]:4711`. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}
