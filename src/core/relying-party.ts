/** The WebAuthn relying party of this server: the host that passkeys are bound to, and their origins. */
import { isIP } from 'node:net';
import { AppError } from './error.ts';
import { isLoopbackAddress, withoutBrackets } from './ip-address.ts';

export interface RelyingParty {
  /** A host name; an IP address cannot be one (WebAuthn §5.1.2). */
  readonly id: string;
  readonly origins: readonly string[];
}

/** @returns null if the base URL has an IP address: no browser makes passkeys there. For loopback it is `localhost`. */
export function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const url = new URL(baseUrl);
  const host = withoutBrackets(url.hostname);
  if (isIP(host) === 0) return { id: host, origins: [url.origin] };
  if (!isLoopbackAddress(host)) return null;
  url.hostname = 'localhost';
  return { id: 'localhost', origins: [url.origin] };
}

/** @throws {AppError} invalid_state if this server cannot be one. */
export function requireRelyingParty(baseUrl: string): RelyingParty {
  const relyingParty = relyingPartyOf(baseUrl);
  if (!relyingParty) throw new AppError('invalid_state', { hint: 'passkeys_need_host_name' });
  return relyingParty;
}
