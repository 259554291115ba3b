/**
 * The browsers that people have signed in with, by a cookie: where codes are paused because somebody else guesses them, whoever
 * comes with it is still judged, within bounds of its own. It opens nothing else, and names nobody: it holds, for each person,
 * an id of its own and a keyed hash of it together with theirs, which this instance alone can make.
 */
import { type Clock, DAY, SECOND } from '../../core/clock.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { findUserByEmail, type User } from '../../store/people.ts';
import type { BrowserOf } from '../codes/code-challenge.ts';

/** As long as browsers keep a cookie. */
const KNOWN_MS = 400 * DAY;
/** People who share a browser; the one who came first is forgotten first. */
const MAX_PEOPLE = 5;
const ID_BYTES = 16;
const HASH_BYTES = 16;

/** In base64url: an id, the second in which it expires in base 36, and the hash. */
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

export type KnownBrowsers = ReturnType<typeof knownBrowsers>;

/** On https the `__Host-` prefix binds the cookie to this very host; no other site makes the browser send it. */
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
   * Rejects browsers known from before the address was proved, and all while it is not: a stranger may have moved the account
   * to their own address, or come by the word of a workspace's provider.
   */
  function isSinceProof({ emailVerifiedAt }: User, { expires }: Entry): boolean {
    return emailVerifiedAt !== null && expires * SECOND - KNOWN_MS + SECOND > emailVerifiedAt;
  }

  function isOf(userId: string, { id, expires, hash }: Entry): boolean {
    return expires * SECOND > clock.now() && equalDigests(hash, hashOf(userId, id, expires));
  }

  return {
    /** Looks for the browser of a request among those that have signed a person in. */
    recognise(request: Request): BrowserOf {
      const entries = entriesOf(request);
      return async (reader, email) => {
        const user = entries.length === 0 ? undefined : await findUserByEmail(reader, email);
        return (user && entries.find((entry) => isOf(user.id, entry) && isSinceProof(user, entry))?.id) ?? null;
      };
    },

    /** The person has signed in with it just now. @returns a `Set-Cookie` value. */
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
        sameSite: 'strict',
        maxAge,
      }).serialize();
    },
  };
}
