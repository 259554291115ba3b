/** Declares every limit once; settings, counters, descriptions and the role manifest are derived from here. */
import { DAY, HOUR, MINUTE } from '../core/clock.ts';

export interface Limit {
  readonly env: `GATEHOUSE_LIMIT_${string}`;
  readonly default: number;
  /** The largest value that may be set; 1,000,000 by default. */
  readonly max?: number;
  /** Uses and their subject, such as `codes per e-mail`. */
  readonly counts: string;
  readonly windowMs?: number;
  /** Consequence of reaching it, where that is more than a refusal until the window ends. */
  readonly then?: string;
  /** Off in an ephemeral instance: a test signs in hundreds from one address, and one person often. */
  readonly isOffInEphemeral?: true;
}

/** A counted limit: the name under which its counters are stored, and the length of its windows. */
export interface Bucket {
  readonly name: string;
  readonly windowMs: number;
  /** Whether to store it only at a clean stop: its windows are short and its subjects many. */
  readonly isBrief?: boolean;
}

interface CountedLimit extends Limit, Bucket {
  readonly windowMs: number;
}

const QUARTER_HOUR = 15 * MINUTE;

/** Limits counted in memory, and stored under `name`. */
const COUNTED = {
  sessionPerMinute: {
    env: 'GATEHOUSE_LIMIT_SESSION_PER_MINUTE',
    default: 600,
    counts: 'calls per session',
    name: 'session',
    windowMs: MINUTE,
    isBrief: true,
  },
  failuresPerAddressPerMinute: {
    env: 'GATEHOUSE_LIMIT_FAILURES_PER_MINUTE',
    default: 120,
    counts: 'failed verifications per client address',
    name: 'failures',
    windowMs: MINUTE,
  },
  clientPerMinute: {
    env: 'GATEHOUSE_LIMIT_CLIENT_PER_MINUTE',
    default: 600,
    counts: 'calls with a client secret per application',
    name: 'client',
    windowMs: MINUTE,
    isBrief: true,
  },
  wrongClientsPerAddress: {
    env: 'GATEHOUSE_LIMIT_WRONG_CLIENTS_PER_MINUTE',
    default: 30,
    max: 10_000,
    counts: 'wrong credentials of OAuth clients per client address',
    name: 'wrong-client',
    windowMs: MINUTE,
    then: 'then valid ones are refused there as well',
  },
  codesPerAddress: {
    env: 'GATEHOUSE_LIMIT_CODES_PER_ADDRESS',
    default: 20,
    counts: 'codes requested per client address',
    name: 'code-address',
    windowMs: QUARTER_HOUR,
    isOffInEphemeral: true,
  },
  passkeysPerAddress: {
    env: 'GATEHOUSE_LIMIT_PASSKEYS_PER_ADDRESS',
    default: 300,
    counts: 'passkey requests per client address',
    name: 'passkey-address',
    windowMs: QUARTER_HOUR,
    isOffInEphemeral: true,
  },
  providerPerAddress: {
    env: 'GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS',
    default: 60,
    counts: 'sign-ins started at an identity provider per client address',
    name: 'provider-address',
    windowMs: QUARTER_HOUR,
    isOffInEphemeral: true,
  },
  deviceCodesPerAddress: {
    env: 'GATEHOUSE_LIMIT_DEVICE_CODES_PER_ADDRESS',
    default: 60,
    counts: 'device connections started per client address',
    name: 'device-code-address',
    windowMs: QUARTER_HOUR,
    isOffInEphemeral: true,
  },
  registrationsPerAddress: {
    env: 'GATEHOUSE_LIMIT_REGISTRATIONS_PER_ADDRESS',
    default: 20,
    max: 10_000,
    counts: 'OAuth clients registered per client address',
    name: 'registration-address',
    windowMs: HOUR,
    isOffInEphemeral: true,
  },
  wrongDeviceCodesPerAddress: {
    env: 'GATEHOUSE_LIMIT_WRONG_DEVICE_CODES_PER_ADDRESS',
    default: 10,
    max: 1000,
    counts: 'wrong codes on the device page per client address',
    name: 'wrong-device-code',
    windowMs: QUARTER_HOUR,
  },
  wrongUserCodesPerSession: {
    env: 'GATEHOUSE_LIMIT_USER_CODES_PER_SESSION',
    default: 5,
    max: 1000,
    counts: 'wrong user codes of devices per session',
    name: 'user-code',
    windowMs: HOUR,
  },
  wrongUserCodesPerPerson: {
    env: 'GATEHOUSE_LIMIT_USER_CODES_PER_PERSON',
    default: 20,
    max: 1000,
    counts: 'wrong user codes of devices per person',
    name: 'user-code',
    windowMs: HOUR,
  },
  wrongUserCodesPerAddress: {
    env: 'GATEHOUSE_LIMIT_USER_CODES_PER_ADDRESS',
    default: 60,
    max: 10_000,
    counts: 'wrong user codes of devices per client address',
    name: 'user-code-address',
    windowMs: HOUR,
    isOffInEphemeral: true,
  },
  setupPerAddressPerMinute: {
    env: 'GATEHOUSE_LIMIT_SETUP_PER_MINUTE',
    default: 30,
    counts: 'uses of a setup or undo link per client address',
    name: 'setup',
    windowMs: MINUTE,
  },
  interestPerEmail: {
    env: 'GATEHOUSE_LIMIT_INTEREST_PER_EMAIL',
    default: 5,
    counts: 'requests for access per e-mail',
    name: 'interest-email',
    windowMs: HOUR,
  },
  interestPerAddress: {
    env: 'GATEHOUSE_LIMIT_INTEREST_PER_ADDRESS',
    default: 30,
    counts: 'requests for access per client address',
    name: 'interest-address',
    windowMs: HOUR,
    isOffInEphemeral: true,
  },
  standingsPerEmail: {
    env: 'GATEHOUSE_LIMIT_STANDINGS_PER_EMAIL',
    default: 60,
    counts: 'reads of a request for access per e-mail and application',
    name: 'standing-email',
    windowMs: MINUTE,
    isBrief: true,
  },
  imagesPerPerson: {
    env: 'GATEHOUSE_LIMIT_IMAGES_PER_PERSON',
    default: 30,
    counts: 'picture changes per person',
    name: 'images',
    windowMs: HOUR,
  },
  exportsPerPerson: {
    env: 'GATEHOUSE_LIMIT_EXPORTS_PER_PERSON',
    default: 10,
    counts: 'exports per person',
    name: 'exports',
    windowMs: HOUR,
  },
} as const satisfies Record<string, CountedLimit>;

const LOCKOUT = 'then codes are locked';

/** Limits enforced by stored rows of what was sent and tried. */
const RECORDED = {
  codesPerEmail: {
    env: 'GATEHOUSE_LIMIT_CODES_PER_EMAIL',
    default: 5,
    counts: 'sign-in codes sent per e-mail',
    windowMs: QUARTER_HOUR,
    isOffInEphemeral: true,
  },
  codeCooldownSeconds: {
    env: 'GATEHOUSE_LIMIT_CODE_COOLDOWN_SECONDS',
    default: 30,
    max: 600,
    counts: 'seconds between two sign-in codes for one e-mail and application',
    isOffInEphemeral: true,
  },
  wrongTriesPerCode: {
    env: 'GATEHOUSE_LIMIT_TRIES_PER_CODE',
    default: 5,
    max: 20,
    counts: 'wrong tries per code',
  },
  wrongCodesPerEmail: {
    env: 'GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL',
    default: 20,
    max: 1000,
    counts: 'wrong codes per e-mail and application',
    windowMs: DAY,
    then: LOCKOUT,
  },
  wrongCodesPerBrowser: {
    env: 'GATEHOUSE_LIMIT_WRONG_CODES_PER_BROWSER',
    default: 10,
    max: 1000,
    counts: 'wrong codes per e-mail and application in a browser in which the person has signed in before',
    windowMs: DAY,
    then: `${LOCKOUT} there`,
  },
  wrongCodesPerAddress: {
    env: 'GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS',
    default: 50,
    max: 10_000,
    counts: 'wrong codes per client address',
    windowMs: DAY,
    then: LOCKOUT,
    isOffInEphemeral: true,
  },
  wrongCodesInAll: {
    env: 'GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL',
    default: 1000,
    max: 100_000,
    counts: 'wrong codes on the server',
    windowMs: HOUR,
    then: 'then each client address keeps a tenth of its limit',
    isOffInEphemeral: true,
  },
  codePauseMinutes: {
    env: 'GATEHOUSE_LIMIT_CODE_PAUSE_MINUTES',
    default: 60,
    max: DAY / MINUTE,
    counts: 'minutes of the first lockout of codes; each further wrong code doubles it, up to a day',
  },
  actionCodesPerEmail: {
    env: 'GATEHOUSE_LIMIT_ACTION_CODES_PER_EMAIL',
    default: 20,
    counts: 'codes for one kind of change to an application per application and e-mail',
    windowMs: QUARTER_HOUR,
  },
  accountCodesPerPerson: {
    env: 'GATEHOUSE_LIMIT_ACCOUNT_CODES_PER_PERSON',
    default: 5,
    counts: 'codes for one kind of change to an account per person',
    windowMs: QUARTER_HOUR,
  },
  slugsPerApplication: {
    env: 'GATEHOUSE_LIMIT_SLUGS_PER_APPLICATION',
    default: 10,
    max: 1000,
    counts: 'slug changes per application',
    windowMs: DAY,
  },
  mailsPerWorkspace: {
    env: 'GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE',
    default: 1000,
    max: 100_000_000,
    counts: 'unsolicited mails per account that created the workspace, without codes',
    windowMs: HOUR,
    then: 'then bulk mails wait for the next hour and others are refused',
  },
  workspacesPerAccount: {
    env: 'GATEHOUSE_LIMIT_WORKSPACES_PER_ACCOUNT',
    default: 10,
    counts: 'workspaces created per account',
    isOffInEphemeral: true,
  },
  workspacesPerDay: {
    env: 'GATEHOUSE_LIMIT_WORKSPACES_PER_DAY',
    default: 3,
    counts: 'workspaces created per account',
    windowMs: DAY,
    isOffInEphemeral: true,
  },
  devicePollSeconds: {
    env: 'GATEHOUSE_LIMIT_DEVICE_POLL_SECONDS',
    default: 5,
    max: 60,
    counts: 'seconds between two polls of a device that waits for approval',
  },
} as const satisfies Record<string, Limit>;

/** Concurrency limits. */
const AT_ONCE = {
  requestsAtOnce: {
    env: 'GATEHOUSE_LIMIT_REQUESTS_AT_ONCE',
    default: 5000,
    max: 100_000,
    counts: 'concurrent requests',
    then: 'then further ones are answered 503',
  },
  bodySeconds: {
    env: 'GATEHOUSE_LIMIT_BODY_SECONDS',
    default: 20,
    max: 25,
    counts: 'seconds that a request body may take; pictures have longer',
  },
  slowBodiesPerAddress: {
    env: 'GATEHOUSE_LIMIT_SLOW_BODIES_PER_ADDRESS',
    default: 50,
    max: 10_000,
    counts: 'concurrent bodies slower than a second per client address',
  },
  slowBodiesInAll: {
    env: 'GATEHOUSE_LIMIT_SLOW_BODIES_IN_ALL',
    default: 500,
    max: 100_000,
    counts: 'concurrent bodies slower than a second on the server',
    then: 'then further ones are answered 503',
  },
  anonymousBodiesMib: {
    env: 'GATEHOUSE_LIMIT_ANONYMOUS_BODIES_MIB',
    default: 16,
    max: 65_536,
    counts:
      'MiB of request bodies above 4 KiB in memory for callers without a credential, and the same for waiting requests',
    then: 'then further ones are answered 503',
  },
  authenticatedBodiesMib: {
    env: 'GATEHOUSE_LIMIT_AUTHENTICATED_BODIES_MIB',
    default: 64,
    max: 65_536,
    counts:
      'MiB of request bodies above 4 KiB in memory for authenticated callers, at most a quarter for one workspace or person',
    then: 'then further ones are answered 503',
  },
  streamsPerPerson: {
    env: 'GATEHOUSE_LIMIT_STREAMS_PER_PERSON',
    default: 100,
    max: 10_000,
    counts: 'open event streams per person or key',
  },
  streamsPerAddress: {
    env: 'GATEHOUSE_LIMIT_STREAMS_PER_ADDRESS',
    default: 1000,
    max: 50_000,
    counts: 'open event streams per client address',
    isOffInEphemeral: true,
  },
} as const satisfies Record<string, Limit>;

export const LIMITS = { ...COUNTED, ...RECORDED, ...AT_ONCE };

export type LimitName = keyof typeof LIMITS;

type Allowed<Of extends Limit> = Of extends { isOffInEphemeral: true } ? number | null : number;

/** Limits in force in an instance; null is no limit. */
export type LimitSettings = { readonly [Name in LimitName]: Allowed<(typeof LIMITS)[Name]> };

/** Limits whose refusals count per application, known for all they refuse. The first two are set on a key. */
export const REPORTED_LIMITS = [
  'keyPerMinute',
  'keyPerDay',
  'sessionPerMinute',
  'clientPerMinute',
  'codesPerEmail',
  'actionCodesPerEmail',
  'accountCodesPerPerson',
  'wrongCodesPerEmail',
  'wrongCodesPerBrowser',
  'wrongCodesPerAddress',
  'wrongCodesInAll',
  'imagesPerPerson',
  'exportsPerPerson',
] as const satisfies readonly (LimitName | 'keyPerMinute' | 'keyPerDay')[];
export type ReportedLimit = (typeof REPORTED_LIMITS)[number];

/** Counts a refusal. @param applicationId of the refused key, session or person; null for a key of the workspace. */
export type NoteRefusal = (applicationId: string | null, limit: ReportedLimit) => void;

/** Limits set on a key by its owner; the day is a UTC day. */
export const KEY_MINUTE: Bucket = { name: 'key-minute', windowMs: MINUTE };
export const KEY_DAY: Bucket = { name: 'key-day', windowMs: DAY };

/** Returns the rate-limit subject: backend keys share one across rotations, each personal key has its own. */
export function keySubject(isPersonal: boolean, key: { readonly keyId: string; readonly userId: string }): string {
  return isPersonal ? key.keyId : key.userId;
}

interface LimitClassRule {
  /** Text placed first, for limits that are no setting. */
  readonly lead?: string;
  /** Counted per client address, for every call. */
  readonly address?: keyof typeof COUNTED;
  /** Counted per person, for every call. */
  readonly person?: 'imagesPerPerson' | 'exportsPerPerson';
  /** Counted by the operation itself, or where the credential is looked up. */
  readonly others?: readonly LimitName[];
}

const PER_KEY = 'per API key, by the minute and by the UTC day, as set on the key';
const SESSION = ['sessionPerMinute', 'failuresPerAddressPerMinute'] as const;
const WRONG_CODES = [
  'wrongCodesPerEmail',
  'wrongCodesPerBrowser',
  'wrongCodesPerAddress',
  'wrongCodesInAll',
  'codePauseMinutes',
] as const;

const CLASSES = {
  none: { lead: 'not limited' },
  key: { lead: PER_KEY, others: SESSION },
  key_mail: {
    lead: PER_KEY,
    others: [...SESSION, 'mailsPerWorkspace'],
  },
  key_slug: {
    lead: PER_KEY,
    others: [...SESSION, 'slugsPerApplication'],
  },
  key_workspace: {
    lead: PER_KEY,
    others: [...SESSION, 'workspacesPerAccount', 'workspacesPerDay'],
  },
  client: {
    lead: PER_KEY,
    others: ['clientPerMinute', 'wrongClientsPerAddress'],
  },
  session: { others: SESSION },
  oauth_token: { others: ['wrongClientsPerAddress'] },
  oauth_page: { address: 'passkeysPerAddress' },
  oauth_register: { address: 'registrationsPerAddress' },
  code_send: { address: 'codesPerAddress', others: ['codesPerEmail', 'codeCooldownSeconds', ...WRONG_CODES] },
  code_verify: { others: ['wrongTriesPerCode', ...WRONG_CODES] },
  passkey: { address: 'passkeysPerAddress' },
  device_code: { address: 'deviceCodesPerAddress' },
  device_page: { others: ['wrongDeviceCodesPerAddress'] },
  user_code: {
    others: ['wrongUserCodesPerSession', 'wrongUserCodesPerPerson', 'wrongUserCodesPerAddress', ...SESSION],
  },
  provider: { address: 'providerPerAddress' },
  access_interest: { address: 'interestPerAddress', others: ['interestPerEmail'] },
  access_state: { others: ['standingsPerEmail'] },
  setup: { address: 'setupPerAddressPerMinute' },
  image: { person: 'imagesPerPerson', others: SESSION },
  key_image: {
    lead: PER_KEY,
    person: 'imagesPerPerson',
    others: SESSION,
  },
  export: { person: 'exportsPerPerson', others: SESSION },
} as const satisfies Record<string, LimitClassRule>;

export type LimitClass = keyof typeof CLASSES;

export const LIMIT_CLASSES: Readonly<Record<LimitClass, LimitClassRule>> = CLASSES;

/** Limits that a client address reaches, with the lockouts of codes for one. */
const OF_CLIENT_ADDRESS = new Set<string>([
  ...Object.values(COUNTED).flatMap(({ counts, name }) => (counts.endsWith('per client address') ? [name] : [])),
  'codes_paused_for_client',
  'codes_paused_for_all',
]);

/** @param name of a limit, as it is counted with refusals. */
export function isOfClientAddress(name: string): boolean {
  return OF_CLIENT_ADDRESS.has(name);
}

/** Returns what a limit counts and for how long, such as `codes sent per e-mail in 15 minutes`. */
export function limitText({ counts, windowMs, then }: Limit): string {
  return [windowMs === undefined ? counts : `${counts} ${windowText(windowMs)}`, then].filter(Boolean).join(', ');
}

function windowText(windowMs: number): string {
  if (windowMs === MINUTE) return 'a minute';
  if (windowMs === HOUR) return 'an hour';
  return windowMs >= HOUR ? `in ${windowMs / HOUR} hours` : `in ${windowMs / MINUTE} minutes`;
}

export function describeLimitClass(limitClass: LimitClass, limits: LimitSettings): string {
  const { lead, address, person, others = [] } = LIMIT_CLASSES[limitClass];
  const names = [address, person, ...others].filter((name) => name !== undefined);
  const texts = names
    .filter((name) => limits[name] !== null)
    .map((name) => `${limits[name]} ${limitText(LIMITS[name])}`);
  return [lead, ...texts].filter(Boolean).join('; ') || 'not limited in this instance';
}
