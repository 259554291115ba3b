/**
 * Declares every setting once: variable, flag, default, meaning and parser. The configuration, the flags of commands,
 * `gatehouse help serve` and the guide's tables are derived from here; http/limits.ts declares the limits.
 */
import { BlockList, isIP } from 'node:net';
import { parseKeep } from './backup/names.ts';
import { BUCKET_RULE, parsePlace } from './backup/place.ts';
import { parseRecipients } from './backup/recipients.ts';
import { parseSchedule } from './backup/schedule.ts';
import { normalizeEmail, parseSender } from './core/email.ts';
import { parseInstanceKey } from './core/instance-key.ts';
import { isSecret } from './core/secret.ts';
import { type PostgresAddress, POSTGRES_URL_REMEDY, readPostgresUrl } from './db/postgres/address.ts';
import { type Limit, LIMITS, limitText } from './http/limits.ts';
import { GOOGLE_ISSUER, isIssuer } from './core/issuer.ts';

export type Mode = 'normal' | 'dev' | 'ephemeral';

/** Variables of the commands that call a server. The server itself ignores them. */
export const CLIENT_VARIABLES = { url: 'GATEHOUSE_URL', key: 'GATEHOUSE_KEY' } as const;

/** Headings of the settings in the terminal, in this order. */
export const SETTING_GROUPS = {
  server: 'The server',
  database: 'PostgreSQL, in place of the data folder',
  start: 'Bootstrap',
  mail: 'Mail',
  network: 'Network',
  provider: 'Sign-in through a provider',
  upkeep: 'Log, figures and retention',
  backup: 'Backups',
  limits: 'Limits',
} as const;

export interface Setting<Value = unknown> {
  readonly group: keyof typeof SETTING_GROUPS;
  readonly env: string;
  /** The flag that overrides the variable, in commands that take it: its name without dashes, and what its value is. */
  readonly flag?: { readonly name: string; readonly value: string };
  /** The default, as an operator would write it. Without one the value is null. */
  readonly default?: string;
  /** Defaults that differ by mode. */
  readonly defaultIn?: Readonly<Partial<Record<Mode, string>>>;
  /** The mode in which the value is always null. */
  readonly isVoidIn?: Mode;
  /** Text shown to people in place of null. */
  readonly placeholder?: string;
  /** True for a secret, or a value that contains one: never shown, and also read from the file in `fileVariable`. */
  readonly isSecret?: true;
  /** Sentences, with code in backticks. */
  readonly meaning: string;
  /** How to fix an invalid value. Never repeats the value, which may be a secret. */
  readonly remedy: string;
  /** Returns a more specific remedy for an invalid text. */
  remedyFor?(text: string): string;
  /** @returns null if the text is invalid. */
  parse(text: string, mode: Mode): Value | null;
}

type Reading<Value> = Pick<Setting<Value>, 'parse' | 'remedy'>;

const TEXT: Reading<string> = { parse: (text) => text, remedy: 'give a text.' };

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

function wholeNumber(min: number, max: number): Reading<number> {
  return {
    remedy: `give a whole number from ${min} to ${max}.`,
    parse(text) {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : null;
    },
  };
}

function addressRanges(example: string): Reading<BlockList> {
  return { parse: parseCidrs, remedy: `give addresses or CIDRs separated by commas, such as ${example}.` };
}

/** The settings by their name in the configuration, except the limits. */
export const SETTINGS = {
  dataFolder: {
    group: 'server',
    env: 'GATEHOUSE_DATA',
    flag: { name: 'data', value: 'DIR' },
    default: './data',
    meaning: 'Data folder.',
    ...TEXT,
  },
  databaseUrl: {
    group: 'database',
    env: 'GATEHOUSE_DATABASE_URL',
    flag: { name: 'database-url', value: 'URL' },
    isSecret: true,
    meaning:
      '`postgres://user:password@host:5432/database`; hosts of one cluster, with commas between, are tried for the primary. Parameters: `sslmode` and `sslrootcert` as in libpq, and `pgbouncer=true` ' +
      'behind PgBouncer in transaction mode.',
    remedy: POSTGRES_URL_REMEDY,
    parse(text: string): PostgresAddress | null {
      const address = readPostgresUrl(text);
      return typeof address === 'string' ? null : address;
    },
    remedyFor(text: string) {
      const remedy = readPostgresUrl(text);
      return typeof remedy === 'string' ? remedy : POSTGRES_URL_REMEDY;
    },
  },
  databasePool: {
    group: 'database',
    env: 'GATEHOUSE_DATABASE_POOL',
    default: '10',
    meaning: 'Connections of this instance to the database; those of all instances stay below its `max_connections`.',
    ...wholeNumber(4, 500),
  },
  /** 32 bytes. */
  instanceKey: {
    group: 'database',
    env: 'GATEHOUSE_INSTANCE_KEY',
    isSecret: true,
    meaning:
      'Key that encrypts secrets in the database: made once by `openssl rand -base64 32`, the same for every instance, and kept ' +
      'apart from the database.',
    remedy: 'give 32 random bytes in base64, as "openssl rand -base64 32" prints them, or the text of an instance.key.',
    parse: parseInstanceKey,
  },
  host: {
    group: 'server',
    env: 'GATEHOUSE_HOST',
    flag: { name: 'host', value: 'ADDR' },
    default: '127.0.0.1',
    meaning: 'Address to listen on; `0.0.0.0` for all.',
    ...TEXT,
  },
  port: {
    group: 'server',
    env: 'GATEHOUSE_PORT',
    flag: { name: 'port', value: 'N' },
    default: '8080',
    defaultIn: { ephemeral: '0' },
    meaning: 'Port to listen on; `0` takes a free one.',
    ...wholeNumber(0, 65_535),
  },
  /** Public address, without a trailing slash; null until the port is known. */
  baseUrl: {
    group: 'server',
    env: 'GATEHOUSE_BASE_URL',
    flag: { name: 'base-url', value: 'URL' },
    placeholder: 'http://localhost:PORT',
    meaning: 'Public address, used in links, cookies and mails. With a certificate it starts with https.',
    remedy: 'give an http or https address without path, query or fragment, such as https://auth.example.com.',
    parse: parseBaseUrl,
  },
  tlsCert: {
    group: 'server',
    env: 'GATEHOUSE_TLS_CERT',
    flag: { name: 'tls-cert', value: 'FILE' },
    meaning:
      'Certificate with its chain (PEM): serves https, TLS 1.2 and later. SIGHUP reloads it for new connections.',
    ...TEXT,
  },
  tlsKey: {
    group: 'server',
    env: 'GATEHOUSE_TLS_KEY',
    flag: { name: 'tls-key', value: 'FILE' },
    meaning: 'Private key of the certificate (PEM), without a passphrase.',
    ...TEXT,
  },
  /** Null leaves it to the machine. */
  threads: {
    group: 'server',
    env: 'GATEHOUSE_THREADS',
    flag: { name: 'threads', value: 'N' },
    isVoidIn: 'ephemeral',
    placeholder: 'cores − 1, at most 4; 0 on two cores or fewer',
    meaning:
      'Threads that answer verifications, in addition to the main one: on Linux, with a data folder. `0` for none.',
    ...wholeNumber(0, 64),
  },
  cachedSessions: {
    group: 'server',
    env: 'GATEHOUSE_CACHED_SESSIONS',
    default: '51200',
    meaning:
      'Sessions, and as many keys, that each thread caches with a data folder: some 1 KB of memory each. More pays where more are active at once.',
    ...wholeNumber(1000, 1_000_000),
  },
  ownerEmail: {
    group: 'start',
    env: 'GATEHOUSE_OWNER_EMAIL',
    defaultIn: { ephemeral: 'owner@example.test' },
    meaning: 'Makes this address an owner at start, without a browser.',
    remedy: 'give an e-mail address.',
    parse: normalizeEmail,
  },
  workspaceKey: {
    group: 'start',
    env: 'GATEHOUSE_WORKSPACE_KEY',
    isSecret: true,
    meaning: 'A key created by `gatehouse key`; becomes a workspace key with full access at start.',
    remedy: 'give a key made by "gatehouse key".',
    parse: (text: string) => (isSecret('apiKey', text) ? text : null),
  },
  seedFile: {
    group: 'start',
    env: 'GATEHOUSE_SEED',
    flag: { name: 'seed', value: 'FILE' },
    meaning: 'Document of applications, roles, users and more, as for `gatehouse apply`; applied at every start.',
    ...TEXT,
  },
  /** Null selects the embedded outbox. */
  smtpUrl: {
    group: 'mail',
    env: 'GATEHOUSE_SMTP_URL',
    isSecret: true,
    meaning:
      '`smtp://user:password@host:587` or `smtps://…:465`; without it the console sets the mail server, or mail stays in the outbox. `smtp://` to another ' +
      'host requires STARTTLS, unless `?tls=optional` follows.',
    remedy:
      'give smtp://user:password@host:587 or smtps://user:password@host:465, with ?tls=optional or nothing behind.',
    parse(text: string) {
      const url = URL.parse(text);
      const isKnown = ['optional', null].includes(url?.searchParams.get('tls') ?? null);
      return url && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname && isKnown ? text : null;
    },
  },
  mailFrom: {
    group: 'mail',
    env: 'GATEHOUSE_MAIL_FROM',
    placeholder: 'Gatehouse <no-reply@HOST>',
    meaning: 'Sender of mails; those of an application have its name, at this address.',
    remedy: 'give an address, such as Acme <no-reply@acme.example>.',
    parse: parseSender,
  },
  trustedProxies: {
    group: 'network',
    env: 'GATEHOUSE_TRUSTED_PROXIES',
    default: '',
    meaning: 'Addresses or CIDRs, comma-separated, whose X-Forwarded-For and country header are trusted.',
    ...addressRanges('10.0.0.0/8,::1'),
  },
  allowedCidrs: {
    group: 'network',
    env: 'GATEHOUSE_ALLOW_CIDRS',
    default: '',
    meaning: 'CIDRs, comma-separated, of private addresses that outbound requests may reach.',
    ...addressRanges('10.20.0.0/16'),
  },
  /** In lower case. */
  countryHeader: {
    group: 'network',
    env: 'GATEHOUSE_COUNTRY_HEADER',
    meaning: 'Header in which a trusted proxy sends the client’s country; default: the table in the binary.',
    remedy: 'give the name of a header, such as CF-IPCountry.',
    parse: (text: string) => (/^[A-Za-z0-9-]+$/.test(text) ? text.toLowerCase() : null),
  },
  /** Without a trailing slash. */
  cdnUrl: {
    group: 'server',
    env: 'GATEHOUSE_CDN_URL',
    placeholder: 'BASE_URL/cdn',
    meaning: 'Address that image links start with.',
    remedy: 'give an http or https address.',
    parse: (text: string) => (/^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text.replace(/\/+$/, '') : null),
  },
  logLevel: {
    group: 'upkeep',
    env: 'GATEHOUSE_LOG_LEVEL',
    default: 'info',
    defaultIn: { dev: 'warn' },
    meaning: '`debug`, `info`, `warn`, `error` or `silent`.',
    remedy: `give one of ${LOG_LEVELS.join(', ')}.`,
    parse: (text: string) => (LOG_LEVELS.includes(text) ? text : null),
  },
  logFormat: {
    group: 'upkeep',
    env: 'GATEHOUSE_LOG_FORMAT',
    flag: { name: 'log-format', value: 'FORMAT' },
    placeholder: 'json',
    meaning: '`json`, one line per request and event, or `pretty` for people, the default of `--dev` on a terminal.',
    remedy: 'give json or pretty.',
    parse: (text: string) => (text === 'json' || text === 'pretty' ? text : null),
  },
  slowStatementMs: {
    group: 'upkeep',
    env: 'GATEHOUSE_SLOW_STATEMENT_MS',
    default: '200',
    meaning: 'Logs database statements that take at least this many milliseconds at `warn`, without their values.',
    ...wholeNumber(1, 600_000),
  },
  metricsToken: {
    group: 'upkeep',
    env: 'GATEHOUSE_METRICS_TOKEN',
    isSecret: true,
    meaning:
      'Bearer token for `/metrics`; without it, `/metrics` answers this machine only, and only while the base URL is on loopback.',
    remedy: 'give 16 characters or more, without spaces.',
    parse: (text: string) => (/^[\x21-\x7e]{16,512}$/.test(text) ? text : null),
  },
  auditRetentionDays: {
    group: 'upkeep',
    env: 'GATEHOUSE_AUDIT_DAYS',
    default: '365',
    meaning: 'Number of days that audit records are kept.',
    ...wholeNumber(1, 36_500),
  },
  isOpenIdRegistrationOn: {
    group: 'network',
    env: 'GATEHOUSE_OPENID_REGISTRATION',
    default: 'off',
    meaning:
      '`on` lets OAuth clients register themselves at the console (RFC 7591), as agents that speak MCP do; people still consent to each.',
    remedy: 'give on or off.',
    parse: (text: string) => (text === 'on' ? true : text === 'off' ? false : null),
  },
  providerClientId: {
    group: 'provider',
    env: 'GATEHOUSE_GOOGLE_CLIENT_ID',
    meaning: 'Client id for sign-in through Google, or the issuer below; register `BASE_URL/api/auth/google/callback`.',
    ...TEXT,
  },
  providerClientSecret: {
    group: 'provider',
    env: 'GATEHOUSE_GOOGLE_CLIENT_SECRET',
    isSecret: true,
    meaning: 'Secret of that client.',
    ...TEXT,
  },
  providerIssuer: {
    group: 'provider',
    env: 'GATEHOUSE_GOOGLE_ISSUER',
    placeholder: GOOGLE_ISSUER,
    meaning: 'Another OpenID Connect issuer for sign-in; the e-mail addresses that it asserts are trusted.',
    remedy: 'give the https address of an OpenID Connect issuer, without query or fragment.',
    parse: (text: string, mode: Mode) => (isIssuer(text, mode !== 'normal') ? text : null),
  },
  /** Null disables the server's own backups. */
  backupTo: {
    group: 'backup',
    env: 'GATEHOUSE_BACKUP_TO',
    isVoidIn: 'ephemeral',
    meaning: 'Folder, or `s3://bucket/prefix`, for scheduled backups.',
    remedy: `give a folder, or s3://bucket/prefix; ${BUCKET_RULE}.`,
    parse: parsePlace,
  },
  backupSchedule: {
    group: 'backup',
    env: 'GATEHOUSE_BACKUP_SCHEDULE',
    default: 'daily 03:00',
    meaning: 'Schedule in UTC: `daily 03:00`, `every 6h`, or five cron fields such as `30 2 * * 1-5`.',
    remedy: 'give "daily 03:00", "every 6h" (5 minutes or more), or five fields of cron; times are UTC.',
    parse: parseSchedule,
  },
  backupKeep: {
    group: 'backup',
    env: 'GATEHOUSE_BACKUP_KEEP',
    default: '14',
    meaning: 'Backups to keep: the newest `14`, those of the last `30d`, or `7,30d` for both.',
    remedy: 'give a number, a number of days such as 30d, or both: 7,30d.',
    parse: parseKeep,
  },
  backupRecipients: {
    group: 'backup',
    env: 'GATEHOUSE_BACKUP_RECIPIENT',
    flag: { name: 'recipient', value: 'age1…' },
    meaning: 'Encrypts backups for this age recipient, or for several separated by commas.',
    remedy: 'give a recipient as age-keygen prints it, age1…, or several with commas between.',
    parse: parseRecipients,
  },
  backupPassphraseFile: {
    group: 'backup',
    env: 'GATEHOUSE_BACKUP_PASSPHRASE_FILE',
    flag: { name: 'passphrase-file', value: 'FILE' },
    meaning: 'Encrypts backups with the passphrase in this file: one line of at least 12 characters.',
    ...TEXT,
  },
  /** Null leaves the address to the region. */
  s3Endpoint: {
    group: 'backup',
    env: 'GATEHOUSE_S3_ENDPOINT',
    meaning: 'Address of the S3 service, such as `https://s3.example.com`; default AWS.',
    remedy: 'give an http or https address, such as https://s3.example.com.',
    // The address is shown, so it must not contain a user name or password.
    parse(text: string): string | null {
      const url = URL.parse(text);
      const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
      return isAddress ? text.replace(/\/+$/, '') : null;
    },
  },
  s3Region: { group: 'backup', env: 'GATEHOUSE_S3_REGION', meaning: 'Region of the bucket.', ...TEXT },
  s3AccessKeyId: {
    group: 'backup',
    env: 'GATEHOUSE_S3_ACCESS_KEY_ID',
    isSecret: true,
    meaning: 'Access key id for the bucket.',
    ...TEXT,
  },
  s3SecretAccessKey: {
    group: 'backup',
    env: 'GATEHOUSE_S3_SECRET_ACCESS_KEY',
    isSecret: true,
    meaning: 'Secret access key for the bucket.',
    ...TEXT,
  },
} as const satisfies Record<string, Setting>;

type ValueOf<Of extends Setting> =
  NonNullable<ReturnType<Of['parse']>> | (Of extends { readonly default: string } ? never : null);

export type SettingValues = { readonly [Name in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Name]> };

export const LIMIT_SETTINGS: Readonly<Record<string, Setting<number>>> = Object.fromEntries(
  Object.entries(LIMITS).map(([name, limit]) => [name, limitSetting(limit)]),
);

/** All settings, in the order of their documentation. */
export const ALL_SETTINGS: readonly Setting[] = [...Object.values(SETTINGS), ...Object.values(LIMIT_SETTINGS)];

/** Returns the variable that names a file with a secret's value, as Docker and Kubernetes mount it. */
export function fileVariable({ env, isSecret: hasFile }: Setting): string | null {
  return hasFile ? `${env}_FILE` : null;
}

/** Names of all variables that have a meaning: settings, files of secrets, and those of remote commands. */
export const KNOWN_VARIABLES: readonly string[] = [
  ...ALL_SETTINGS.flatMap((setting) => [setting.env, fileVariable(setting) ?? []].flat()),
  ...Object.values(CLIENT_VARIABLES),
];

function limitSetting(limit: Limit): Setting<number> {
  const text = limitText(limit);
  return {
    group: 'limits',
    env: limit.env,
    default: String(limit.default),
    ...(limit.isOffInEphemeral && { isVoidIn: 'ephemeral' }),
    meaning: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    ...wholeNumber(1, limit.max ?? 1_000_000),
  };
}

/** Returns the text that is parsed where nothing is given. */
export function defaultOf({ default: usual, defaultIn = {} }: Setting, mode: Mode): string | null {
  return defaultIn[mode] ?? usual ?? null;
}

/** Returns the default in words, with that of each mode. @param code marks text to be typed literally. */
export function defaultText(setting: Setting, code: (text: string) => string): string {
  const { default: fallback, placeholder, defaultIn = {}, isVoidIn } = setting;
  const usual = fallback || placeholder;
  const inMode = (mode: string, text: string) => `${text} with ${code(`--${mode}`)}`;
  return [
    ...(usual ? [code(usual)] : []),
    ...Object.entries(defaultIn).map(([mode, text]) => inMode(mode, code(text))),
    ...(isVoidIn ? [inMode(isVoidIn, 'none')] : []),
  ].join('; ');
}

function parseBaseUrl(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return null;
  return url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password ? url.origin : null;
}

function parseCidrs(text: string): BlockList | null {
  const list = new BlockList();
  if (text === '') return list;
  for (const entry of text.split(',')) {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    if (rest.length > 0) return null;
    const version = isIP(address);
    if (version === 0) return null;
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else if (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
      list.addSubnet(address, Number(bits), family);
    else return null;
  }
  return list;
}
