/** Restricts the metrics to bearers of the token, or without one to local calls while no proxy is in front. */
import { timingSafeEqual } from 'node:crypto';
import { AppError } from '../../core/error.ts';
import { canonicalAddress, isLoopback, isLoopbackAddress } from '../../core/ip-address.ts';
import { hashSecret } from '../../core/secret.ts';
import type { PeerAddress } from '../../http/request-context.ts';

export interface MetricsAccess {
  readonly metricsToken: string | null;
  readonly peerAddress: PeerAddress;
  readonly baseUrl: () => string;
}

/** Headers that show a proxied call, whose peer may be local as well. Every `X-Forwarded-…` header counts too. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'cf-connecting-ip',
  'true-client-ip',
  'fastly-client-ip',
];

/** @throws {AppError} not_found without access, unauthenticated for a missing or wrong token. */
export function metricsGuard({ metricsToken, peerAddress, baseUrl }: MetricsAccess): (request: Request) => void {
  const hash = metricsToken === null ? null : hashSecret(metricsToken);
  return (request) => {
    if (hash !== null) return requireToken(request, hash);
    // A server with a public name is behind a proxy, and not every proxy adds a header.
    const isOpen = isLoopback(new URL(baseUrl()).hostname) && isFromHere(request, peerAddress(request));
    if (!isOpen) throw new AppError('not_found');
  };
}

/** Compares hashes, which have equal length, in constant time (RFC 6750 §2.1). */
function requireToken({ headers }: Request, hash: Uint8Array): void {
  const [, shown = ''] = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  if (!timingSafeEqual(hashSecret(shown), hash)) throw new AppError('unauthenticated');
}

/** Accepts calls whose peer and Host are loopback and which no proxy forwarded. */
function isFromHere({ headers }: Request, peer: string | null): boolean {
  const address = canonicalAddress(peer ?? '');
  if (address === null || !isLoopbackAddress(address)) return false;
  const isPassedOn = [...headers.keys()].some((name) => name.startsWith('x-forwarded') || PROXY_HEADERS.includes(name));
  const host = headers.get('host');
  return !isPassedOn && host !== null && isLoopback(URL.parse(`http://${host}`)?.hostname ?? '');
}
