/**
 * Who may read the figures. With a token: whoever shows it. Without one: calls from this very machine, and only while nothing
 * stands before the server that could bring others' calls along, since their peer is this machine as well.
 */
import { timingSafeEqual } from 'node:crypto';
import { AppError } from '../../core/error.ts';
import { canonicalAddress, isLoopback, isLoopbackAddress } from '../../core/ip-address.ts';
import { hashSecret } from '../../core/secret.ts';
import type { PeerAddress } from '../../http/request-context.ts';

export interface MetricsAccess {
  /** Null where none is set. */
  readonly metricsToken: string | null;
  readonly peerAddress: PeerAddress;
  readonly baseUrl: () => string;
}

/** What proxies add; each of them says that somebody else has called. `X-Forwarded-…` says so whatever follows. */
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

/** @throws {AppError} not_found where there is nothing for this caller, unauthenticated where the token is not shown. */
export function metricsGuard({ metricsToken, peerAddress, baseUrl }: MetricsAccess): (request: Request) => void {
  const hash = metricsToken === null ? null : hashSecret(metricsToken);
  return (request) => {
    if (hash !== null) return requireToken(request, hash);
    // A server with a public name has a proxy before it, and not every proxy says what it is.
    const isOpen = isLoopback(new URL(baseUrl()).hostname) && isFromHere(request, peerAddress(request));
    if (!isOpen) throw new AppError('not_found');
  };
}

/** Hashes are of one length, and tell nothing of how much was right (RFC 6750 §2.1). */
function requireToken({ headers }: Request, hash: Uint8Array): void {
  const [, shown = ''] = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  if (!timingSafeEqual(hashSecret(shown), hash)) throw new AppError('unauthenticated');
}

/** Peer and Host are this machine, and nothing says that the call was passed on. */
function isFromHere({ headers }: Request, peer: string | null): boolean {
  const address = canonicalAddress(peer ?? '');
  if (address === null || !isLoopbackAddress(address)) return false;
  const isPassedOn = [...headers.keys()].some((name) => name.startsWith('x-forwarded') || PROXY_HEADERS.includes(name));
  const host = headers.get('host');
  return !isPassedOn && host !== null && isLoopback(URL.parse(`http://${host}`)?.hostname ?? '');
}
