/**
 * Which names a server answers to that only its own machine is to reach: a page from elsewhere could point a name of its own
 * at this machine and read what the browser is then told (DNS rebinding).
 */
import { isIP } from 'node:net';
import { isLoopback } from '../core/ip-address.ts';

export interface HostSettings {
  /** The address listened on. */
  readonly host: string;
  /** Where the server says it is reached. */
  readonly baseUrl: string;
  /** Checked wherever it listens. */
  readonly isPrivate: boolean;
}

/** Whether a request is for this server, by its `Host`; null where it has none. */
export type HostCheck = (host: string | null) => boolean;

/** What a browser can have put there: a name or an address, and a port. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i;

/**
 * A server on loopback, or a private one, takes its base URL's name, `localhost`, and addresses: a browser that was sent to
 * an address was not led here by a name. One that listens to the network takes any.
 */
export function hostCheck({ host, baseUrl, isPrivate }: HostSettings): HostCheck {
  if (!isPrivate && !isLoopback(host)) return () => true;
  const own = new Set(['localhost', host.toLowerCase(), new URL(baseUrl).hostname]);

  function isOwn(text: string): boolean {
    const [, address, name = ''] = HOST.exec(text) ?? [];
    if (address !== undefined) return isIP(address) === 6;
    const plain = name.toLowerCase().replace(/\.$/, '');
    return own.has(plain) || plain.endsWith('.localhost') || isIP(plain) === 4;
  }

  // Nearly all say the same. Browsers always say it.
  let known: string | null = null;
  return (text) => {
    if (text === known || text === null) return true;
    if (!isOwn(text)) return false;
    known = text;
    return true;
  };
}
