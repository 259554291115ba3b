/** The limit classes an operation can declare; numbers come from the configuration, announced in the RateLimit headers. */
import { DAY, HOUR, MINUTE } from '../core/clock.ts';
import type { Bucket } from './rate-limit.ts';

/** What each class counts, for the descriptions. */
export const LIMIT_CLASSES = {
  none: 'not limited',
  key: 'per API key, by the minute and by the UTC day, as set on the key; console sessions as in "session"',
  session: '600 a minute per session; 120 failures a minute per address',
  code_send: '5 per e-mail and 20 per address in 15 minutes; 30 s between two for one e-mail and application',
  code_verify: '5 wrong tries per code; 20 wrong codes in 24 hours pause an e-mail in an application for an hour',
  passkey: '300 per address in 15 minutes',
  device_code: '60 per address in 15 minutes',
  device_page: '10 wrong codes per address in 15 minutes',
  provider: '60 per address in 15 minutes',
  access_interest: '5 per e-mail and 30 per address an hour',
  setup: '30 a minute per address',
  image: '30 changes an hour per person; as in "session" besides',
  export: '10 an hour per person; as in "session" besides',
} as const;

export type LimitClass = keyof typeof LIMIT_CLASSES;

/** How many in each window; every number can be set by the environment. */
export interface LimitSettings {
  readonly sessionPerMinute: number;
  readonly failuresPerAddressPerMinute: number;
  readonly codesPerEmail: number;
  /** Null switches the limit off, as an ephemeral instance does so that a test can sign in hundreds. */
  readonly codesPerAddress: number | null;
  readonly passkeysPerAddress: number | null;
  readonly deviceCodesPerAddress: number | null;
  readonly providerPerAddress: number | null;
  readonly setupPerAddressPerMinute: number;
  readonly interestPerEmail: number;
  readonly interestPerAddress: number | null;
  readonly imagesPerPerson: number;
  readonly exportsPerPerson: number;
}

export const DEFAULT_LIMITS: LimitSettings = {
  sessionPerMinute: 600,
  failuresPerAddressPerMinute: 120,
  codesPerEmail: 5,
  codesPerAddress: 20,
  passkeysPerAddress: 300,
  deviceCodesPerAddress: 60,
  providerPerAddress: 60,
  setupPerAddressPerMinute: 30,
  interestPerEmail: 5,
  interestPerAddress: 30,
  imagesPerPerson: 30,
  exportsPerPerson: 10,
};

export const CODE_WINDOW_MS = 15 * MINUTE;

/** Wrong user codes of one session an hour. */
export const USER_CODE_GUESSES = 5;
/** …and of all sessions of one person. */
export const USER_CODE_GUESSES_OF_PERSON = 20;

/** Wrong user codes that one address may enter on the page for devices in a window. */
export const WRONG_DEVICE_CODES = 10;

export const BUCKETS = {
  keyMinute: { name: 'key-minute', windowMs: MINUTE },
  keyDay: { name: 'key-day', windowMs: DAY },
  session: { name: 'session', windowMs: MINUTE, isBrief: true },
  failures: { name: 'failures', windowMs: MINUTE },
  codeAddress: { name: 'code-address', windowMs: CODE_WINDOW_MS },
  passkeyAddress: { name: 'passkey-address', windowMs: CODE_WINDOW_MS },
  deviceCodeAddress: { name: 'device-code-address', windowMs: CODE_WINDOW_MS },
  userCode: { name: 'user-code', windowMs: HOUR },
  wrongDeviceCode: { name: 'wrong-device-code', windowMs: CODE_WINDOW_MS },
  providerAddress: { name: 'provider-address', windowMs: CODE_WINDOW_MS },
  setup: { name: 'setup', windowMs: MINUTE },
  interestAddress: { name: 'interest-address', windowMs: HOUR },
  interestEmail: { name: 'interest-email', windowMs: HOUR },
  images: { name: 'images', windowMs: HOUR },
  exports: { name: 'exports', windowMs: HOUR },
} as const satisfies Record<string, Bucket>;

/** The classes that also count per client address, and the setting that says how many. */
export const ADDRESS_LIMITS: Partial<Record<LimitClass, { bucket: Bucket; setting: keyof LimitSettings }>> = {
  code_send: { bucket: BUCKETS.codeAddress, setting: 'codesPerAddress' },
  passkey: { bucket: BUCKETS.passkeyAddress, setting: 'passkeysPerAddress' },
  device_code: { bucket: BUCKETS.deviceCodeAddress, setting: 'deviceCodesPerAddress' },
  provider: { bucket: BUCKETS.providerAddress, setting: 'providerPerAddress' },
  setup: { bucket: BUCKETS.setup, setting: 'setupPerAddressPerMinute' },
  access_interest: { bucket: BUCKETS.interestAddress, setting: 'interestPerAddress' },
};

type PersonSetting = 'imagesPerPerson' | 'exportsPerPerson';

/** The classes that also count per person. */
export const PERSON_LIMITS: Partial<Record<LimitClass, { bucket: Bucket; setting: PersonSetting }>> = {
  image: { bucket: BUCKETS.images, setting: 'imagesPerPerson' },
  export: { bucket: BUCKETS.exports, setting: 'exportsPerPerson' },
};
