/**
 * Checks the Host header of servers for their own machine only, against DNS rebinding: a page from elsewhere could
 * point its own name here and read the answers.
 */
import { isIP } from 'node:net';
import { AppError } from '../core/error.ts';
import { isLoopback } from '../core/ip-address.ts';

export interface HostSettings {
  readonly host: string;
  readonly baseUrl: string;
  /** Whether to check on any address, not on loopback alone. */
  readonly isPrivate: boolean;
}

/** Returns why a request is refused by its `Host`; null if it is for this server. */
export type HostCheck = (request: Request) => AppError | null;

/** Name or address with an optional port, as a browser sends it. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i;

/** Creates the check. Two `Host` headers arrive joined by a comma (RFC 9112 §3.2). */
export function hostCheck(settings: HostSettings): HostCheck {
  const isOwn = ownHost(settings);
  return ({ headers }) => {
    const host = headers.get('host');
    if (host?.includes(',')) return new AppError('invalid_request', { hint: 'host_twice' });
    return isOwn(host) ? null : new AppError('forbidden', { hint: 'host_unknown' });
  };
}

/**
 * Returns whether a `Host` is one of this server's; null stands for no header. Loopback and private servers accept the
 * base URL's name, `localhost` and IP addresses, which cannot be rebound; others accept any name.
 */
function ownHost({ host, baseUrl, isPrivate }: HostSettings): (host: string | null) => boolean {
  if (!isPrivate && !isLoopback(host)) return () => true;
  const own = new Set(['localhost', host.toLowerCase(), new URL(baseUrl).hostname]);

  function isOwn(text: string): boolean {
    const [, address, name = ''] = HOST.exec(text) ?? [];
    if (address !== undefined) return isIP(address) === 6;
    const plain = name.toLowerCase().replace(/\.$/, '');
    return own.has(plain) || plain.endsWith('.localhost') || isIP(plain) === 4;
  }

  // Caches the accepted value, nearly always the same one. A missing header passes, since browsers always send it.
  let known: string | null = null;
  return (text) => {
    if (text === known || text === null) return true;
    if (!isOwn(text)) return false;
    known = text;
    return true;
  };
}
