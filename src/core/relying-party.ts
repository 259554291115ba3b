/** Which relying party this server is, for WebAuthn: the host that passkeys are bound to, and the origins they come from. */
import { isIP } from 'node:net';
import { AppError } from './error.ts';
import { isLoopbackAddress, withoutBrackets } from './ip-address.ts';

/** What passkeys are made for and checked against. */
export interface RelyingParty {
  /** A host name; an address cannot be one (WebAuthn §5.1.2). */
  readonly id: string;
  readonly origins: readonly string[];
}

/**
 * @returns null where the server is reached by an address that is no name: no browser makes passkeys there. On loopback
 * the same server is reached as `localhost` too, and passkeys work there.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const url = new URL(baseUrl);
  const host = withoutBrackets(url.hostname);
  if (isIP(host) === 0) return { id: host, origins: [url.origin] };
  if (!isLoopbackAddress(host)) return null;
  url.hostname = 'localhost';
  return { id: 'localhost', origins: [url.origin] };
}

/** @throws {AppError} invalid_state where this server can be none. */
export function requireRelyingParty(baseUrl: string): RelyingParty {
  const relyingParty = relyingPartyOf(baseUrl);
  if (!relyingParty) throw new AppError('invalid_state', { hint: 'passkeys_need_host_name' });
  return relyingParty;
}
