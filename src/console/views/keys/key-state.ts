/** State, source and access of a key in words. */
import type { Tone } from '../../components/status.tsx';
import type { Key, KeyOwner } from './key-calls.ts';

export type KeyState = 'active' | 'grace' | 'expired' | 'revoked';

export const KEY_STATE_WORDS = {
  active: { word: 'Active', tone: 'good' },
  grace: { word: 'In grace', tone: 'warn' },
  expired: { word: 'Expired', tone: 'calm' },
  revoked: { word: 'Revoked', tone: 'bad' },
} as const satisfies Record<KeyState, { word: string; tone: Tone }>;

/** Returns the state by the browser's clock. */
export function stateOf({ revokedAt, expiresAt, gracePeriodEndsAt }: Key, now = Date.now()): KeyState {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) <= now) return 'expired';
  if (gracePeriodEndsAt === null) return 'active';
  return Date.parse(gracePeriodEndsAt) <= now ? 'expired' : 'grace';
}

export const isLive = (state: KeyState) => state === 'active' || state === 'grace';

export const ACCESS_WORDS = {
  application: {
    read: 'Verifies sessions and reads: users, roles, activity, webhooks. What most backends need.',
    full: 'Reads, and changes everything in this application: users, roles, keys, webhooks, settings.',
  },
  workspace: {
    read: 'Verifies sessions and reads in every application it reaches.',
    full: 'Reads, and changes everything in the applications it reaches. One for the whole workspace also creates applications, members and keys.',
  },
} as const satisfies Record<KeyOwner['kind'], Record<Key['access'], string>>;

const SOURCE_WORDS: Readonly<Record<string, string>> = {
  console: 'Created in the console',
  api: 'Created with the API',
  device: 'Created when a person connected a device',
  environment: 'Taken from the environment of the server',
};

export const sourceWords = (source: string) => SOURCE_WORDS[source] ?? source;
