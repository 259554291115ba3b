/** Environment and flags → one typed, frozen configuration. Every problem is found before any is reported. */
import { BlockList, isIP } from 'node:net';
import { normalizeEmail } from './core/email.ts';
import { isSecret } from './core/secret.ts';
import { StartupError } from './core/startup-error.ts';
import { DEFAULT_LIMITS, type LimitSettings } from './http/limits.ts';
import { GOOGLE_ISSUER, isIssuer } from './modules/provider/issuer.ts';

export type Mode = 'normal' | 'dev' | 'ephemeral';

export interface Config {
  readonly mode: Mode;
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  /** Where people and programs reach this server, without a trailing slash; null until the port is known. */
  readonly baseUrl: string | null;
  readonly ownerEmail: string | null;
  readonly workspaceKey: string | null;
  /** `smtp://` or `smtps://`; null means the embedded outbox. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string | null;
  readonly trustedProxies: BlockList;
  /** Ranges that outgoing requests may reach although they are not public. */
  readonly allowedCidrs: BlockList;
  readonly countryHeader: string | null;
  readonly cdnUrl: string | null;
  readonly logLevel: string;
  readonly auditRetentionDays: number;
  readonly limits: LimitSettings;
  /** The client at an identity provider that applications without one of their own sign people in with. */
  readonly provider: ProviderSettings | null;
}

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Values given on the command line; each wins over its environment variable. */
export interface ConfigFlags {
  readonly mode?: Mode;
  readonly data?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly baseUrl?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting, for the README's table and `gatehouse help`. */
export const SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  { name: 'GATEHOUSE_DATA', default: './data', meaning: 'Data folder (`--data`).' },
  { name: 'GATEHOUSE_HOST', default: '127.0.0.1', meaning: 'Address to listen on (`--host`); `0.0.0.0` for all.' },
  { name: 'GATEHOUSE_PORT', default: '8080', meaning: 'Port to listen on (`--port`); `0` takes a free one.' },
  {
    name: 'GATEHOUSE_BASE_URL',
    default: 'http://localhost:PORT',
    meaning: 'Public address (`--base-url`); links, cookies and mails use it.',
  },
  { name: 'GATEHOUSE_OWNER_EMAIL', default: '', meaning: 'Makes this address an owner at start, without a browser.' },
  {
    name: 'GATEHOUSE_WORKSPACE_KEY',
    default: '',
    meaning: 'A key made by `gatehouse key`; becomes a full workspace key at start.',
  },
  {
    name: 'GATEHOUSE_SMTP_URL',
    default: '',
    meaning: '`smtp://user:password@host:587` or `smtps://…:465`; without it mail stays in the embedded outbox.',
  },
  { name: 'GATEHOUSE_MAIL_FROM', default: 'Gatehouse <no-reply@HOST>', meaning: 'Sender of every mail.' },
  {
    name: 'GATEHOUSE_TRUSTED_PROXIES',
    default: '',
    meaning: 'Addresses or CIDRs, comma-separated, whose X-Forwarded-For is believed.',
  },
  { name: 'GATEHOUSE_COUNTRY_HEADER', default: '', meaning: 'Header in which your proxy gives the client’s country.' },
  { name: 'GATEHOUSE_CDN_URL', default: 'BASE_URL/cdn', meaning: 'Address that image links start with.' },
  {
    name: 'GATEHOUSE_LOG_LEVEL',
    default: 'info (`warn` in dev mode)',
    meaning: '`debug`, `info`, `warn`, `error` or `silent`.',
  },
  { name: 'GATEHOUSE_AUDIT_DAYS', default: '365', meaning: 'How many days audit records are kept.' },
  { name: 'GATEHOUSE_LIMIT_SESSION_PER_MINUTE', default: '600', meaning: 'Verifications of one session a minute.' },
  {
    name: 'GATEHOUSE_LIMIT_FAILURES_PER_MINUTE',
    default: '120',
    meaning: 'Failed verifications of one address a minute.',
  },
  { name: 'GATEHOUSE_LIMIT_CODES_PER_EMAIL', default: '5', meaning: 'Codes sent to one e-mail in 15 minutes.' },
  {
    name: 'GATEHOUSE_LIMIT_CODES_PER_ADDRESS',
    default: '20',
    meaning: 'Codes asked for by one address in 15 minutes.',
  },
  {
    name: 'GATEHOUSE_LIMIT_PASSKEYS_PER_ADDRESS',
    default: '300',
    meaning: 'Passkey requests of one address in 15 minutes.',
  },
  {
    name: 'GATEHOUSE_LIMIT_DEVICE_CODES_PER_ADDRESS',
    default: '60',
    meaning: 'Devices that one address begins to connect in 15 minutes.',
  },
  {
    name: 'GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS',
    default: '60',
    meaning: 'Sign-ins begun at an identity provider by one address in 15 minutes.',
  },
  {
    name: 'GATEHOUSE_LIMIT_INTEREST_PER_EMAIL',
    default: '5',
    meaning: 'Requests for access of one e-mail an hour.',
  },
  {
    name: 'GATEHOUSE_LIMIT_INTEREST_PER_ADDRESS',
    default: '30',
    meaning: 'Requests for access by one address an hour.',
  },
  {
    name: 'GATEHOUSE_ALLOW_CIDRS',
    default: '',
    meaning: 'Ranges, comma-separated, that outgoing requests may reach although they are not public.',
  },
  {
    name: 'GATEHOUSE_LIMIT_IMAGES_PER_PERSON',
    default: '30',
    meaning: 'Changes of their pictures by one person an hour.',
  },
  {
    name: 'GATEHOUSE_LIMIT_EXPORTS_PER_PERSON',
    default: '10',
    meaning: 'Exports of their account by one person an hour.',
  },
  {
    name: 'GATEHOUSE_GOOGLE_CLIENT_ID',
    default: '',
    meaning: 'Client id for sign-in through Google, or the issuer below; register `BASE_URL/api/auth/google/callback`.',
  },
  { name: 'GATEHOUSE_GOOGLE_CLIENT_SECRET', default: '', meaning: 'The secret of that client.' },
  {
    name: 'GATEHOUSE_GOOGLE_ISSUER',
    default: 'https://accounts.google.com',
    meaning: 'Another OpenID Connect issuer to sign people in with; its word on e-mail addresses is taken.',
  },
  { name: 'GATEHOUSE_LIMIT_SETUP_PER_MINUTE', default: '30', meaning: 'Uses of a setup link by one address a minute.' },
];

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** @throws {StartupError} that lists every problem at once, by setting, without the values. */
export function loadConfig(environment: Environment, flags: ConfigFlags = {}): Config {
  const problems: string[] = [];
  const mode = flags.mode ?? 'normal';

  function read(name: string, flag?: string): string | null {
    const value = flag ?? environment[name];
    return value === undefined || value.trim() === '' ? null : value.trim();
  }
  function check<T>(name: string, value: string | null, parse: (value: string) => T | null, remedy: string): T | null {
    if (value === null) return null;
    const parsed = parse(value);
    if (parsed === null) problems.push(`${name}: ${remedy}`);
    return parsed;
  }
  const wholeNumber = (min: number, max: number) => (text: string) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : null;
  };
  const limit = (name: string, fallback: number) =>
    check(name, read(name), wholeNumber(1, 1_000_000), 'give a whole number from 1 to 1000000.') ?? fallback;
  /** An ephemeral instance has none, so that a test can sign in hundreds. */
  const addressLimit = (name: string, fallback: number | null) =>
    mode === 'ephemeral' ? null : limit(name, fallback ?? Infinity);

  const port = check(
    'GATEHOUSE_PORT (--port)',
    read('GATEHOUSE_PORT', flags.port),
    wholeNumber(0, 65_535),
    'give a port number from 0 to 65535.',
  );
  const baseUrl = check(
    'GATEHOUSE_BASE_URL (--base-url)',
    read('GATEHOUSE_BASE_URL', flags.baseUrl),
    parseBaseUrl,
    'give an http or https address without path, query or fragment, such as https://auth.example.com.',
  );
  const cdnUrl = check(
    'GATEHOUSE_CDN_URL',
    read('GATEHOUSE_CDN_URL'),
    (text) => (/^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text.replace(/\/+$/, '') : null),
    'give an http or https address.',
  );
  const ownerEmail = check(
    'GATEHOUSE_OWNER_EMAIL',
    read('GATEHOUSE_OWNER_EMAIL'),
    normalizeEmail,
    'give an e-mail address.',
  );
  const workspaceKey = check(
    'GATEHOUSE_WORKSPACE_KEY',
    read('GATEHOUSE_WORKSPACE_KEY'),
    (text) => (isSecret('apiKey', text) ? text : null),
    'give a key made by "gatehouse key".',
  );
  const smtpUrl = check(
    'GATEHOUSE_SMTP_URL',
    read('GATEHOUSE_SMTP_URL'),
    (text) => {
      const url = URL.parse(text);
      return url && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname ? text : null;
    },
    'give smtp://user:password@host:587 or smtps://user:password@host:465.',
  );
  const mailFrom = check(
    'GATEHOUSE_MAIL_FROM',
    read('GATEHOUSE_MAIL_FROM'),
    (text) => {
      const address = /<([^<>]+)>$/.exec(text)?.[1] ?? text;
      return /[\r\n]/.test(text) || normalizeEmail(address) === null ? null : text;
    },
    'give an address, such as Acme <no-reply@acme.example>.',
  );
  const trustedProxies = check(
    'GATEHOUSE_TRUSTED_PROXIES',
    read('GATEHOUSE_TRUSTED_PROXIES'),
    parseCidrs,
    'give addresses or CIDRs separated by commas, such as 10.0.0.0/8,::1.',
  );
  const allowedCidrs = check(
    'GATEHOUSE_ALLOW_CIDRS',
    read('GATEHOUSE_ALLOW_CIDRS'),
    parseCidrs,
    'give addresses or CIDRs separated by commas, such as 10.20.0.0/16.',
  );
  const countryHeader = check(
    'GATEHOUSE_COUNTRY_HEADER',
    read('GATEHOUSE_COUNTRY_HEADER'),
    (text) => (/^[A-Za-z0-9-]+$/.test(text) ? text.toLowerCase() : null),
    'give the name of a header, such as CF-IPCountry.',
  );
  const logLevel = check(
    'GATEHOUSE_LOG_LEVEL',
    read('GATEHOUSE_LOG_LEVEL'),
    (text) => (LOG_LEVELS.includes(text) ? text : null),
    `give one of ${LOG_LEVELS.join(', ')}.`,
  );
  const auditRetentionDays = check(
    'GATEHOUSE_AUDIT_DAYS',
    read('GATEHOUSE_AUDIT_DAYS'),
    wholeNumber(1, 36_500),
    'give a whole number of days from 1 to 36500.',
  );
  const issuer = check(
    'GATEHOUSE_GOOGLE_ISSUER',
    read('GATEHOUSE_GOOGLE_ISSUER'),
    (text) => (isIssuer(text, mode !== 'normal') ? text : null),
    'give the https address of an OpenID Connect issuer, without query or fragment.',
  );
  const clientId = read('GATEHOUSE_GOOGLE_CLIENT_ID');
  const clientSecret = read('GATEHOUSE_GOOGLE_CLIENT_SECRET');
  if (clientId !== null && clientSecret === null)
    problems.push('GATEHOUSE_GOOGLE_CLIENT_SECRET: give it together with GATEHOUSE_GOOGLE_CLIENT_ID.');
  if (clientSecret !== null && clientId === null)
    problems.push('GATEHOUSE_GOOGLE_CLIENT_ID: give it together with GATEHOUSE_GOOGLE_CLIENT_SECRET.');
  if (issuer !== null && clientId === null)
    problems.push('GATEHOUSE_GOOGLE_ISSUER: give it together with GATEHOUSE_GOOGLE_CLIENT_ID.');

  const limits: LimitSettings = {
    sessionPerMinute: limit('GATEHOUSE_LIMIT_SESSION_PER_MINUTE', DEFAULT_LIMITS.sessionPerMinute),
    failuresPerAddressPerMinute: limit(
      'GATEHOUSE_LIMIT_FAILURES_PER_MINUTE',
      DEFAULT_LIMITS.failuresPerAddressPerMinute,
    ),
    codesPerEmail: limit('GATEHOUSE_LIMIT_CODES_PER_EMAIL', DEFAULT_LIMITS.codesPerEmail),
    codesPerAddress: addressLimit('GATEHOUSE_LIMIT_CODES_PER_ADDRESS', DEFAULT_LIMITS.codesPerAddress),
    passkeysPerAddress: addressLimit('GATEHOUSE_LIMIT_PASSKEYS_PER_ADDRESS', DEFAULT_LIMITS.passkeysPerAddress),
    deviceCodesPerAddress: addressLimit(
      'GATEHOUSE_LIMIT_DEVICE_CODES_PER_ADDRESS',
      DEFAULT_LIMITS.deviceCodesPerAddress,
    ),
    providerPerAddress: addressLimit('GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS', DEFAULT_LIMITS.providerPerAddress),
    interestPerEmail: limit('GATEHOUSE_LIMIT_INTEREST_PER_EMAIL', DEFAULT_LIMITS.interestPerEmail),
    interestPerAddress: addressLimit('GATEHOUSE_LIMIT_INTEREST_PER_ADDRESS', DEFAULT_LIMITS.interestPerAddress),
    imagesPerPerson: limit('GATEHOUSE_LIMIT_IMAGES_PER_PERSON', DEFAULT_LIMITS.imagesPerPerson),
    exportsPerPerson: limit('GATEHOUSE_LIMIT_EXPORTS_PER_PERSON', DEFAULT_LIMITS.exportsPerPerson),
    setupPerAddressPerMinute: limit('GATEHOUSE_LIMIT_SETUP_PER_MINUTE', DEFAULT_LIMITS.setupPerAddressPerMinute),
  };

  const known = new Set(SETTINGS.map((setting) => setting.name));
  for (const name of Object.keys(environment))
    if (name.startsWith('GATEHOUSE_') && !known.has(name))
      problems.push(`${name}: there is no such setting; see "gatehouse help" for those there are.`);

  if (problems.length > 0)
    throw new StartupError(
      `The configuration has problems:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );

  return Object.freeze({
    mode,
    dataFolder: read('GATEHOUSE_DATA', flags.data) ?? './data',
    host: read('GATEHOUSE_HOST', flags.host) ?? '127.0.0.1',
    port: port ?? (mode === 'ephemeral' ? 0 : 8080),
    baseUrl,
    ownerEmail: ownerEmail ?? (mode === 'ephemeral' ? 'owner@example.test' : null),
    workspaceKey,
    smtpUrl,
    mailFrom,
    allowedCidrs: allowedCidrs ?? new BlockList(),
    trustedProxies: trustedProxies ?? new BlockList(),
    countryHeader,
    cdnUrl,
    auditRetentionDays: auditRetentionDays ?? 365,
    logLevel: logLevel ?? (mode === 'dev' ? 'warn' : 'info'),
    limits: Object.freeze(limits),
    provider:
      clientId !== null && clientSecret !== null
        ? Object.freeze({ issuer: issuer ?? GOOGLE_ISSUER, clientId, clientSecret })
        : null,
  });
}

function parseBaseUrl(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return null;
  return url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password ? url.origin : null;
}

function parseCidrs(text: string): BlockList | null {
  const list = new BlockList();
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
