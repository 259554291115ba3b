/** PostgreSQL's settings: its address and parameters, what they exclude, and secrets in files. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { POSTGRES_URL_REMEDY } from '@/db/postgres/address.ts';
import { ConfigError, type Environment, loadConfig, type LoadOptions } from '@/config.ts';

const URL = 'postgres://gatehouse:hunter2@db.example.com/gatehouse';
const KEY_BYTES = Buffer.from(Array.from({ length: 32 }, (_, at) => 255 - at));
const KEY = KEY_BYTES.toString('base64');

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(text: string): string {
  const path = join(folder, `${crypto.randomUUID()}`);
  writeFileSync(path, text);
  return path;
}

function problemsOf(environment: Environment, options: LoadOptions = {}): readonly string[] {
  try {
    loadConfig(environment, options);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain('hunter2');
    return error.problems;
  }
}

const databaseOf = (environment: Environment) => loadConfig(environment).database;
const addressOf = (url: string) => databaseOf({ GATEHOUSE_DATABASE_URL: url })?.address;

test('threads and PostgreSQL exclude each other, and the sentence says what to do instead', () => {
  const environment = { GATEHOUSE_DATABASE_URL: URL, GATEHOUSE_INSTANCE_KEY: KEY };
  expect(problemsOf({ ...environment, GATEHOUSE_THREADS: '2' })).toEqual([
    'GATEHOUSE_THREADS (--threads): leave it out with GATEHOUSE_DATABASE_URL; run more instances instead.',
  ]);
  expect(problemsOf({ ...environment, GATEHOUSE_THREADS: '0' })).toEqual([]);
});

describe('the address of the database', () => {
  test('is split into what the driver gets, its parameters, and what people see', () => {
    expect(databaseOf({ GATEHOUSE_DATABASE_URL: URL, GATEHOUSE_DATABASE_POOL: '25' })).toEqual({
      address: {
        urls: [`${URL}?sslmode=prefer`],
        shown: 'db.example.com:5432/gatehouse',
        sslRootCert: null,
        isBouncer: false,
      },
      pool: 25,
      keyBytes: null,
    });
    const all = `${URL.replace('postgres:', 'postgresql:')}?sslmode=verify-full&sslrootcert=/etc/ca.pem&pgbouncer=true`;
    expect(addressOf(all)).toEqual({
      urls: ['postgresql://gatehouse:hunter2@db.example.com/gatehouse?sslmode=verify-full'],
      shown: 'db.example.com:5432/gatehouse',
      sslRootCert: '/etc/ca.pem',
      isBouncer: true,
    });
  });

  test('takes a percent-encoded password, an IPv6 address and a port', () => {
    const url = 'postgres://gate%40house:p%3Fw%23@[::1]:6432/gate';
    expect(addressOf(url)).toMatchObject({ urls: [`${url}?sslmode=prefer`], shown: '[::1]:6432/gate' });
  });

  test('checks a named authority with sslmode=require too, as libpq does, and takes that of the system by its name', () => {
    expect(addressOf(`${URL}?sslmode=require&sslrootcert=ca.pem`)).toMatchObject({
      urls: [`${URL}?sslmode=verify-ca`],
    });
    expect(addressOf(`${URL}?sslmode=verify-full&sslrootcert=system`)).toMatchObject({ sslRootCert: null });
  });

  test.each([
    ['?sslmode=on', 'give sslmode as disable, prefer, require, verify-ca, verify-full.'],
    ['?pgbouncer=1', 'give pgbouncer as true or false.'],
    ['?sslrootcert=ca.pem', 'give sslrootcert with sslmode verify-full or verify-ca: no other one checks it.'],
    ['?schema=x', 'give only the parameters sslmode, sslrootcert and pgbouncer; schema is not known.'],
  ])('with %s is refused with the remedy', (parameters, remedy) => {
    const problems = problemsOf({ GATEHOUSE_DATABASE_URL: `${URL}${parameters}` });
    expect(problems).toEqual([`GATEHOUSE_DATABASE_URL (--database-url): ${remedy}`]);
  });

  test('names every server of a cluster', () => {
    expect(addressOf('postgres://gatehouse:hunter2@one.example.com:5433,two.example.com/gatehouse')).toMatchObject({
      urls: [
        'postgres://gatehouse:hunter2@one.example.com:5433/gatehouse?sslmode=prefer',
        'postgres://gatehouse:hunter2@two.example.com/gatehouse?sslmode=prefer',
      ],
      shown: 'one.example.com:5433,two.example.com:5432/gatehouse',
    });
  });

  test('is shown to nobody', () => {
    const { shown } = loadConfig({ GATEHOUSE_DATABASE_URL: URL, GATEHOUSE_INSTANCE_KEY: KEY });
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(JSON.stringify(shown)).not.toContain(KEY);
  });
});

describe('a database', () => {
  const GIVEN = { GATEHOUSE_DATABASE_URL: URL };

  test.each([
    [{ ...GIVEN, GATEHOUSE_DATA: 'data' }, {}, 'GATEHOUSE_DATA (--data): leave it out (or empty)'],
    [GIVEN, { flags: { data: 'data' } }, 'GATEHOUSE_DATA (--data): leave it out (or empty)'],
    [{ ...GIVEN, GATEHOUSE_BACKUP_TO: '/backups' }, {}, 'GATEHOUSE_BACKUP_TO: leave it out'],
    [{ GATEHOUSE_INSTANCE_KEY: KEY }, {}, 'GATEHOUSE_INSTANCE_KEY: give it together with GATEHOUSE_DATABASE_URL'],
  ] as const)('excludes other places for data: %j %j', (environment, options, beginning) => {
    const [problem = '', ...others] = problemsOf(environment, options);
    expect([problem.slice(0, beginning.length), others]).toEqual([beginning, []]);
    expect(problem.length).toBeLessThan(160);
  });

  test('is accepted where an image sets a data folder, if that is emptied', () => {
    expect(problemsOf({ ...GIVEN, GATEHOUSE_DATA: '' })).toEqual([]);
  });

  test('takes the key as openssl prints it, and as instance.key contains it', () => {
    for (const key of [KEY, `${KEY_BYTES.toString('base64url')}\n`])
      expect(databaseOf({ ...GIVEN, GATEHOUSE_INSTANCE_KEY: key })?.keyBytes).toEqual(KEY_BYTES);
  });
});

describe('a secret in a file', () => {
  test('counts as given by its variable', () => {
    const environment = { GATEHOUSE_DATABASE_URL_FILE: fileOf(`${URL}\n`), GATEHOUSE_INSTANCE_KEY_FILE: fileOf(KEY) };
    expect(databaseOf(environment)).toEqual(databaseOf({ GATEHOUSE_DATABASE_URL: URL, GATEHOUSE_INSTANCE_KEY: KEY }));
    const { smtpUrl, shown } = loadConfig({ GATEHOUSE_SMTP_URL_FILE: fileOf('smtp://user:hunter2@mail.example.com') });
    expect(smtpUrl).toBe('smtp://user:hunter2@mail.example.com');
    expect(shown.find(({ name }) => name === 'GATEHOUSE_SMTP_URL')).toMatchObject({ value: '••••', isDefault: false });
  });

  test('is overridden by a flag', () => {
    const environment = { GATEHOUSE_DATABASE_URL_FILE: fileOf('hunter2') };
    const { database } = loadConfig(environment, { flags: { 'database-url': URL } });
    expect(database?.address.urls).toEqual([`${URL}?sslmode=prefer`]);
  });

  test('is refused by its own variable if it is missing, empty, invalid, or given twice', () => {
    const name = 'GATEHOUSE_DATABASE_URL_FILE';
    expect(problemsOf({ [name]: join(folder, 'missing') })).toEqual([
      `${name}: give a file that this user can read (ENOENT).`,
    ]);
    expect(problemsOf({ [name]: fileOf('\n') })).toEqual([`${name}: give a file that is not empty.`]);
    expect(problemsOf({ [name]: fileOf('hunter2') })).toEqual([`${name}: ${POSTGRES_URL_REMEDY}`]);
    expect(problemsOf({ [name]: fileOf(URL), GATEHOUSE_DATABASE_URL: URL })).toEqual([
      `${name}: give it or GATEHOUSE_DATABASE_URL, not both.`,
    ]);
  });

  test('exists for secrets only', () => {
    expect(problemsOf({ GATEHOUSE_PORT_FILE: '/run/port' })).toEqual([
      expect.stringContaining('GATEHOUSE_PORT_FILE: there is no such setting'),
    ]);
  });
});
