import { describe, expect, test } from 'bun:test';
import { type Environment, loadConfig, ownUrl, type LoadOptions } from '@/config.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { StartupError } from '@/core/startup-error.ts';
import { ALL_SETTINGS } from '@/settings.ts';

function problemsOf(environment: Environment, options: LoadOptions = {}): string {
  try {
    loadConfig(environment, options);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError);
    return (error as StartupError).message;
  }
}

/** The numbers that were promised. */
const DEFAULT_LIMITS = {
  sessionPerMinute: 600,
  failuresPerAddressPerMinute: 120,
  codesPerEmail: 5,
  codesPerAddress: 20,
  codeCooldownSeconds: 30,
  wrongTriesPerCode: 5,
  wrongCodesPerEmail: 20,
  wrongCodesPerBrowser: 10,
  wrongCodesPerAddress: 50,
  wrongCodesInAll: 1000,
  codePauseMinutes: 60,
  actionCodesPerEmail: 20,
  accountCodesPerPerson: 5,
  passkeysPerAddress: 300,
  providerPerAddress: 60,
  deviceCodesPerAddress: 60,
  registrationsPerAddress: 20,
  mailsPerWorkspace: 1000,
  devicePollSeconds: 5,
  wrongDeviceCodesPerAddress: 10,
  wrongUserCodesPerSession: 5,
  wrongUserCodesPerPerson: 20,
  wrongUserCodesPerAddress: 60,
  setupPerAddressPerMinute: 30,
  interestPerEmail: 5,
  standingsPerEmail: 60,
  interestPerAddress: 30,
  imagesPerPerson: 30,
  exportsPerPerson: 10,
  slugsPerApplication: 10,
  workspacesPerAccount: 10,
  workspacesPerDay: 3,
  clientPerMinute: 600,
  wrongClientsPerAddress: 30,
  requestsAtOnce: 5000,
  bodySeconds: 20,
  slowBodiesPerAddress: 50,
  slowBodiesInAll: 500,
  anonymousBodiesMib: 16,
  authenticatedBodiesMib: 64,
  streamsPerPerson: 100,
  streamsPerAddress: 1000,
};

describe('the configuration', () => {
  test('has a default for everything', () => {
    const config = loadConfig({});
    expect(config.limits).toEqual(DEFAULT_LIMITS);
    expect(config).toMatchObject({
      mode: 'normal',
      dataFolder: './data',
      host: '127.0.0.1',
      port: 8080,
      baseUrl: null,
      ownerEmail: null,
      workspaceKey: null,
      smtpUrl: null,
      mailFrom: null,
      countryHeader: null,
      cdnUrl: null,
      logLevel: 'info',
      auditRetentionDays: 365,
      provider: null,
      tlsFiles: null,
      database: null,
    });
  });

  test('requires a certificate to come with its key, and then rejects a base URL with plain http', () => {
    const given = { GATEHOUSE_TLS_CERT: 'cert.pem', GATEHOUSE_TLS_KEY: 'key.pem' };
    const config = loadConfig(given);
    expect(config.tlsFiles).toEqual({ certFile: 'cert.pem', keyFile: 'key.pem' });
    expect([ownUrl(config, 8443), ownUrl(config, 443)]).toEqual(['https://localhost:8443', 'https://localhost']);
    for (const name of ['GATEHOUSE_TLS_CERT', 'GATEHOUSE_TLS_KEY'])
      expect(() => loadConfig({ ...given, [name]: '' })).toThrow(`${name} (--tls-`);
    expect(() => loadConfig({ ...given, GATEHOUSE_BASE_URL: 'http://auth.example.com' })).toThrow(
      'GATEHOUSE_BASE_URL (--base-url): with a certificate, give the https address.',
    );
  });

  test('of an ephemeral instance has a free port, an owner, and no limits per client address or on codes per e-mail', () => {
    expect(loadConfig({}, { mode: 'ephemeral' })).toMatchObject({
      port: 0,
      ownerEmail: 'owner@example.test',
      limits: {
        ...DEFAULT_LIMITS,
        codesPerAddress: null,
        codesPerEmail: null,
        codeCooldownSeconds: null,
        deviceCodesPerAddress: null,
        registrationsPerAddress: null,
        passkeysPerAddress: null,
        providerPerAddress: null,
        interestPerAddress: null,
        wrongCodesPerAddress: null,
        wrongCodesInAll: null,
        wrongUserCodesPerAddress: null,
        workspacesPerAccount: null,
        workspacesPerDay: null,
        streamsPerAddress: null,
      },
    });
    const named = loadConfig({ GATEHOUSE_OWNER_EMAIL: 'ada@example.com', GATEHOUSE_PORT: '9' }, { mode: 'ephemeral' });
    expect([named.ownerEmail, named.port]).toEqual(['ada@example.com', 9]);
    const limited = loadConfig({ GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '7' }, { mode: 'ephemeral' });
    expect(limited.limits.codesPerAddress).toBeNull();
  });

  test('of dev mode logs less', () => {
    expect(loadConfig({}, { mode: 'dev' }).logLevel).toBe('warn');
    expect(loadConfig({ GATEHOUSE_LOG_LEVEL: 'debug' }, { mode: 'dev' }).logLevel).toBe('debug');
  });

  test('reads every setting, normalised', () => {
    const key = mintSecret('apiKey', systemRandom);
    const config = loadConfig({
      GATEHOUSE_DATA: ' /var/lib/gatehouse ',
      GATEHOUSE_HOST: '0.0.0.0',
      GATEHOUSE_PORT: '443',
      GATEHOUSE_BASE_URL: 'https://Auth.Example.com/',
      GATEHOUSE_OWNER_EMAIL: ' Ada@Example.COM ',
      GATEHOUSE_WORKSPACE_KEY: key,
      GATEHOUSE_SMTP_URL: 'smtps://user:pw@mail.example.com:465',
      GATEHOUSE_MAIL_FROM: 'Acme <no-reply@acme.example>',
      GATEHOUSE_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1, 2001:db8::/32',
      GATEHOUSE_COUNTRY_HEADER: 'CF-IPCountry',
      GATEHOUSE_CDN_URL: 'https://cdn.example.com/images//',
      GATEHOUSE_LOG_LEVEL: 'error',
      GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '1',
      GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '2',
      GATEHOUSE_LIMIT_CODES_PER_EMAIL: '3',
      GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '4',
      GATEHOUSE_LIMIT_SETUP_PER_MINUTE: '1000000',
      GATEHOUSE_GOOGLE_CLIENT_ID: 'gatehouse',
      GATEHOUSE_GOOGLE_CLIENT_SECRET: ' hunter2 ',
      GATEHOUSE_GOOGLE_ISSUER: 'https://id.example.com/realms/acme',
    });
    expect(config).toMatchObject({
      dataFolder: '/var/lib/gatehouse',
      host: '0.0.0.0',
      port: 443,
      baseUrl: 'https://auth.example.com',
      ownerEmail: 'ada@example.com',
      workspaceKey: key,
      smtpUrl: 'smtps://user:pw@mail.example.com:465',
      mailFrom: 'Acme <no-reply@acme.example>',
      countryHeader: 'cf-ipcountry',
      cdnUrl: 'https://cdn.example.com/images',
      logLevel: 'error',
      limits: {
        sessionPerMinute: 1,
        failuresPerAddressPerMinute: 2,
        codesPerEmail: 3,
        codesPerAddress: 4,
        setupPerAddressPerMinute: 1_000_000,
      },
      provider: { issuer: 'https://id.example.com/realms/acme', clientId: 'gatehouse', clientSecret: 'hunter2' },
    });
    const trusted = (address: string, family: 'ipv4' | 'ipv6' = 'ipv4') => config.trustedProxies.check(address, family);
    expect([trusted('10.9.9.9'), trusted('192.0.2.1'), trusted('2001:db8::9', 'ipv6')]).toEqual([true, true, true]);
    expect([trusted('11.0.0.1'), trusted('192.0.2.2'), trusted('2001:db9::9', 'ipv6')]).toEqual([false, false, false]);
  });

  test('treats an empty value as unset', () => {
    const empty = Object.fromEntries(ALL_SETTINGS.map(({ env }) => [env, ' ']));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });

  test('reports an invalid value even in a mode that ignores the setting', () => {
    expect(problemsOf({ GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '0' }, { mode: 'ephemeral' })).toContain(
      'CODES_PER_ADDRESS',
    );
  });

  test('prefers a flag to its environment variable', () => {
    const environment = {
      GATEHOUSE_DATA: 'a',
      GATEHOUSE_HOST: 'a',
      GATEHOUSE_PORT: '1',
      GATEHOUSE_BASE_URL: 'https://a.example',
    };
    const flags = { data: 'b', host: 'b', port: '2', 'base-url': 'https://b.example' };
    expect(loadConfig(environment, { flags })).toMatchObject({
      dataFolder: 'b',
      host: 'b',
      port: 2,
      baseUrl: 'https://b.example',
    });
    expect(problemsOf({ GATEHOUSE_PORT: 'broken' }, { flags: { port: '2' } })).toBe('');
    expect(problemsOf({ GATEHOUSE_PORT: '1' }, { flags: { port: 'broken' } })).toContain('--port');
  });

  test('uses Google if only a client is given', () => {
    const { provider } = loadConfig({ GATEHOUSE_GOOGLE_CLIENT_ID: 'a', GATEHOUSE_GOOGLE_CLIENT_SECRET: 'b' });
    expect(provider).toEqual({ issuer: 'https://accounts.google.com', clientId: 'a', clientSecret: 'b' });
  });

  test('accepts an issuer on loopback in dev and ephemeral mode', () => {
    const client = { GATEHOUSE_GOOGLE_CLIENT_ID: 'id', GATEHOUSE_GOOGLE_CLIENT_SECRET: 'secret' };
    for (const issuer of ['http://localhost:9000', 'http://127.0.0.1:9000/realm', 'http://[::1]:9000']) {
      const settings = { ...client, GATEHOUSE_GOOGLE_ISSUER: issuer };
      expect(problemsOf(settings)).toContain('GATEHOUSE_GOOGLE_ISSUER');
      for (const mode of ['dev', 'ephemeral'] as const) expect(problemsOf(settings, { mode })).toBe('');
    }
    const plain = { ...client, GATEHOUSE_GOOGLE_ISSUER: 'http://id.example.com' };
    expect(problemsOf(plain, { mode: 'dev' })).not.toBe('');
  });

  test('refuses an issuer without a client, which would have no effect', () => {
    expect(problemsOf({ GATEHOUSE_GOOGLE_ISSUER: 'https://id.example.com' })).toContain('GATEHOUSE_GOOGLE_CLIENT_ID');
  });

  test('is frozen', () => {
    const config = loadConfig({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.limits)).toBe(true);
    expect(Object.isFrozen(loadConfig({}).limits)).toBe(true);
  });
});

/** Each value is invalid for a different reason. Errors must not repeat the value. */
const WRONG: [setting: string, values: string[]][] = [
  ['GATEHOUSE_PORT', ['eighty', '65536', '-1', '1.5', '0x50', '99999999999']],
  [
    'GATEHOUSE_BASE_URL',
    [
      'auth.example.com',
      'ftp://auth.example.com',
      'https://auth.example.com/path',
      'https://auth.example.com/?q',
      'https://auth.example.com/#f',
      'https://user@auth.example.com',
      'https://:hunter2@auth.example.com',
      'javascript:alert(1)',
    ],
  ],
  [
    'GATEHOUSE_DATABASE_URL',
    [
      'db.example.com',
      'mysql://gatehouse:hunter2@db.example.com/gatehouse',
      'postgres://gatehouse:hunter2@db.example.com',
      'postgres://gatehouse:hunter2@db.example.com/',
      'postgres://db.example.com/gatehouse',
      'postgres://gatehouse:hunter2@/gatehouse',
      'postgres://gatehouse:hunter2@db.example.com:port/gatehouse',
      'postgres://gatehouse:hunter#2@db.example.com/gatehouse',
      'postgres://gatehouse:hunter?2@db.example.com/gatehouse',
      'postgres://gatehouse:hunter/2@db.example.com/gatehouse',
      'postgres://gatehouse:hunter2@db.example.com/gatehouse#x',
      'postgres://gatehouse:hunter2@db.example.com/gatehouse/x',
      'postgres://gatehouse:hunter2@db.example.com,/gatehouse',
    ],
  ],
  ['GATEHOUSE_DATABASE_POOL', ['3', '501', 'many']],
  ['GATEHOUSE_INSTANCE_KEY', ['hunter2', 'A'.repeat(42), 'A'.repeat(45), `${'A'.repeat(42)}!=`, '0'.repeat(64)]],
  ['GATEHOUSE_OWNER_EMAIL', ['ada', 'ada@localhost', 'ada@example.com,eve@example.com']],
  ['GATEHOUSE_WORKSPACE_KEY', ['hunter2', 'eak_hunter2', `est_${'0'.repeat(49)}`, `eak_${'0'.repeat(49)}`]],
  ['GATEHOUSE_SMTP_URL', ['mail.example.com:587', 'http://mail.example.com', 'smtp://', 'hunter2']],
  ['GATEHOUSE_MAIL_FROM', ['Acme', 'Acme <acme>', 'a@b.example\r\nBcc: eve@example.com', 'Acme <a@b.example> x']],
  [
    'GATEHOUSE_TRUSTED_PROXIES',
    ['everyone', '10.0.0.0/33', '10.0.0/8', '2001:db8::/129', '10.0.0.0/', '10.0.0.1,,10.0.0.2', '10.0.0.0/8/8'],
  ],
  ['GATEHOUSE_COUNTRY_HEADER', ['CF IPCountry', 'X:Y']],
  ['GATEHOUSE_CDN_URL', ['cdn.example.com', 'ftp://cdn.example.com', 'httpx://cdn.example.com']],
  ['GATEHOUSE_LOG_LEVEL', ['loud', 'INFO', 'trace']],
  ['GATEHOUSE_LIMIT_SESSION_PER_MINUTE', ['0', 'many', '1000001', '1e3', '-5']],
  ['GATEHOUSE_LIMIT_FAILURES_PER_MINUTE', ['0', '12.5']],
  ['GATEHOUSE_LIMIT_CODES_PER_EMAIL', ['0', 'x5']],
  ['GATEHOUSE_LIMIT_CODES_PER_ADDRESS', ['0', 'x5']],
  ['GATEHOUSE_LIMIT_SETUP_PER_MINUTE', ['0', 'x5']],
  ['GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS', ['0', 'x5']],
  ['GATEHOUSE_LIMIT_USER_CODES_PER_SESSION', ['0', '1001', 'x5']],
  ['GATEHOUSE_LIMIT_TRIES_PER_CODE', ['0', '21', 'x5']],
  ['GATEHOUSE_LIMIT_CODE_COOLDOWN_SECONDS', ['0', '601', 'x5']],
  ['GATEHOUSE_AUDIT_DAYS', ['0', '36501', 'year']],
  ['GATEHOUSE_ALLOW_CIDRS', ['everyone', '10.0.0.0/33', ',']],
  [
    'GATEHOUSE_GOOGLE_ISSUER',
    [
      'id.example.com',
      'http://id.example.com',
      'http://localhost:9000',
      'https://id.example.com?hunter2',
      'https://id.example.com/#hunter2',
      'https://:hunter2@id.example.com',
      'https:/id.example.com',
      'https://id.example.com\\hunter2',
      'https://id.exam ple.com',
      `https://id.example.com/${'a'.repeat(500)}`,
      'javascript:alert(1)',
    ],
  ],
];

describe('an invalid setting', () => {
  test.each(WRONG.flatMap(([name, values]) => values.map((value) => [name, value, values[0]!] as const)))(
    '%s=%j is refused by name, with a remedy and without the value',
    (name, value, other) => {
      const message = problemsOf({ [name]: value });
      expect(message).toMatch(new RegExp(`^The configuration has problems:\\n  - ${name}[^\\n]*: [^\\n]+\\.$`));
      // One message for all invalid values, so that it cannot contain any part of the value.
      expect(message).toBe(problemsOf({ [name]: other }));
      expect(message).not.toContain('hunter2');
    },
  );

  test.each([
    ['GATEHOUSE_GOOGLE_CLIENT_ID', 'GATEHOUSE_GOOGLE_CLIENT_SECRET'],
    ['GATEHOUSE_GOOGLE_CLIENT_SECRET', 'GATEHOUSE_GOOGLE_CLIENT_ID'],
  ])('%s without its other half is refused', (name, missing) => {
    const message = problemsOf({ [name]: 'hunter2' });
    expect(message).toEndWith(`\n  - ${missing}: give it together with ${name}.`);
    expect(message).not.toContain('hunter2');
  });

  test('is reported together with all other errors', () => {
    const environment = Object.fromEntries(WRONG.map(([name, values]) => [name, values[0]!]));
    const message = problemsOf({ ...environment, GATEHOUSE_COLOUR: 'red' });
    for (const [name] of WRONG) expect(message).toContain(`  - ${name}`);
    expect(message.split('\n')).toHaveLength(1 + WRONG.length + 1);
  });

  test.each(['GATEHOUSE_KEY', 'GATEHOUSE_URL'])('%s is accepted, though only remote commands read it', (name) => {
    expect(() => loadConfig({ [name]: 'hunter2' })).not.toThrow();
  });

  test.each(['GATEHOUSE_COLOUR', 'GATEHOUSE_PROT', 'GATEHOUSE_', 'GATEHOUSE_port'])(
    '%s, which does not exist, is refused: a typo is not ignored',
    (name) => {
      const message = problemsOf({ [name]: 'hunter2' });
      expect(message).toContain(`${name}: there is no such setting`);
      expect(message).not.toContain('hunter2');
    },
  );

  test('without our prefix is ignored', () => {
    expect(problemsOf({ PORT: 'x', gatehouse_port: 'x', MY_GATEHOUSE_PORT: 'x' })).toBe('');
  });
});

test('each setting is listed once, with a description', () => {
  const names = ALL_SETTINGS.map(({ env }) => env);
  expect(new Set(names).size).toBe(names.length);
  for (const { env, meaning, remedy } of ALL_SETTINGS) {
    expect(env).toMatch(/^GATEHOUSE_[A-Z0-9_]+$/);
    expect(meaning).toMatch(/^(?:[A-Z]|`).*\.$/);
    expect(remedy).toMatch(/^give .*\.$/);
  }
});
