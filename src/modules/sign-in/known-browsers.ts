/**
 * The known-browser cookie: its person may try codes during a lockout, within limits of its own. It grants nothing else
 * and names nobody: it holds random ids, each with a keyed hash of it and the user id.
 */
import { type Clock, DAY, SECOND } from '../../core/clock.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import { isFromOwnPage } from '../../http/csrf.ts';
import type { Random } from '../../core/random.ts';
import { findUserByEmail, type User } from '../../store/people.ts';
import type { BrowserOf } from '../codes/code-challenge.ts';

/** The maximum lifetime that browsers allow a cookie. */
const KNOWN_MS = 400 * DAY;
/** Maximum number of people who share a browser; the earliest is dropped first. */
const MAX_PEOPLE = 5;
const ID_BYTES = 16;
const HASH_BYTES = 16;

/** Base64url id, expiry in seconds in base 36, and base64url hash. */
const ENTRY = /^([\w-]{22})\.([a-z0-9]{1,9})\.([\w-]{22})$/;
const SEPARATOR = '~';

interface Entry {
  readonly text: string;
  readonly id: string;
  /** Epoch seconds. */
  readonly expires: number;
  readonly hash: Uint8Array;
}

export interface KnownBrowserDependencies {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
}

/** Recognises the browser of a sign-in; null outside this server's own pages, where no browser is remembered. */
export type PageBrowserOf = (request: Request) => BrowserOf | null;

export type KnownBrowsers = ReturnType<typeof knownBrowsers>;

/**
 * On https the `__Host-` prefix binds the cookie to this host. SameSite=Lax keeps other sites from sending it with a code,
 * which takes a POST. A provider's redirect back is a cross-site navigation, which SameSite=Strict would send without it.
 */
export function knownBrowsers({ baseUrl, clock, random, instanceKey }: KnownBrowserDependencies) {
  const isSecure = baseUrl.startsWith('https:');
  const name = isSecure ? '__Host-gatehouse-known' : 'gatehouse-known';

  function entriesOf(request: Request): Entry[] {
    const header = request.headers.get('cookie');
    const value = header?.includes(`${name}=`) ? new Bun.CookieMap(header).get(name) : null;
    return (value ?? '').split(SEPARATOR, MAX_PEOPLE).flatMap((text) => {
      const [, id, expires, hash] = ENTRY.exec(text) ?? [];
      if (id === undefined || expires === undefined || hash === undefined) return [];
      return [{ text, id, expires: Number.parseInt(expires, 36), hash: Buffer.from(hash, 'base64url') }];
    });
  }

  function hashOf(userId: string, id: string, expires: number): Buffer {
    return Buffer.from(instanceKey.derive('known browser', `${userId}\0${id}\0${expires}`)).subarray(0, HASH_BYTES);
  }

  /**
   * Rejects browsers known from before the address was proved, and all while it is not: a stranger may have moved the
   * account to their own address, or signed in by the word of a workspace's provider.
   */
  function isSinceProof({ emailVerifiedAt }: User, { expires }: Entry): boolean {
    return emailVerifiedAt !== null && expires * SECOND - KNOWN_MS + SECOND > emailVerifiedAt;
  }

  function isOf(userId: string, { id, expires, hash }: Entry): boolean {
    return expires * SECOND > clock.now() && equalDigests(hash, hashOf(userId, id, expires));
  }

  /** Returns a function that finds the request's browser among those that have signed a person in. */
  function recognise(request: Request): BrowserOf {
    const entries = entriesOf(request);
    return async (reader, email) => {
      const user = entries.length === 0 ? undefined : await findUserByEmail(reader, email);
      return (user && entries.find((entry) => isOf(user.id, entry) && isSinceProof(user, entry))?.id) ?? null;
    };
  }

  return {
    recognise,

    recogniseOnPage: ((request) => (isFromOwnPage(request, baseUrl) ? recognise(request) : null)) as PageBrowserOf,

    /** Adds the person to the cookie after a sign-in. @returns a `Set-Cookie` value. */
    remember(request: Request, userId: string): string {
      const id = Buffer.from(random.bytes(ID_BYTES)).toString('base64url');
      const expires = Math.floor((clock.now() + KNOWN_MS) / SECOND);
      const own = [id, expires.toString(36), hashOf(userId, id, expires).toString('base64url')].join('.');
      const others = entriesOf(request).filter((entry) => !isOf(userId, entry));
      const value = [own, ...others.map(({ text }) => text)].slice(0, MAX_PEOPLE).join(SEPARATOR);
      const maxAge = KNOWN_MS / SECOND;
      return new Bun.Cookie(name, value, {
        path: '/',
        httpOnly: true,
        secure: isSecure,
        sameSite: 'lax',
        maxAge,
      }).serialize();
    },
  };
}
