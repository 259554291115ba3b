/**
 * The doctor's findings on given inputs: file systems, clocks, certificates, proxies, a damaged or older database.
 */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateFindings } from '@/cli/doctor/certificate.ts';
import { countryFindings } from '@/cli/doctor/countries.ts';
import { addressFindings, proxyFindings } from '@/cli/doctor/base-url.ts';
import { runChecks } from '@/cli/doctor/run-checks.ts';
import type { Finding } from '@/cli/doctor/finding.ts';
import { folderFindings, networkFileSystemWarning } from '@/cli/doctor/folder.ts';
import { clockFindings, clockInGreeting } from '@/cli/doctor/machine.ts';
import { report } from '@/cli/doctor/report.ts';
import { type DoctorContext, doctorContext } from '@/cli/doctor/context.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { fileSystemOf, kindOfFileSystem } from '@/db/sqlite/file-system.ts';
import { openData } from '@/dependencies.ts';
import { makeCertificate } from '../../support/certificate.ts';

const DAY = 86_400_000;
const root = mkdtempSync(join(tmpdir(), 'gatehouse-doctor-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const said = (findings: readonly Finding[]) => findings.map(({ status, message }) => `${status} ${message}`).join('\n');

function sceneOf(environment: Record<string, string> = {}): DoctorContext {
  return doctorContext({
    environment: { GATEHOUSE_DATA: root, ...environment },
    flags: {},
    now: Date.now,
    timeoutMs: 2000,
  });
}

describe('a file system', () => {
  test.each([
    ['nfs4', 'network'],
    ['nfs', 'network'],
    ['cifs', 'network'],
    ['smb3', 'network'],
    ['ceph', 'network'],
    ['fuse.sshfs', 'network'],
    ['fuse.s3fs', 'network'],
    ['fuse.fuse-overlayfs', 'fleeting'],
    ['fuseblk', 'local'],
    ['ext4', 'local'],
    ['xfs', 'local'],
    ['btrfs', 'local'],
    ['zfs', 'local'],
    ['overlay', 'fleeting'],
    ['tmpfs', 'fleeting'],
    ['9p', 'shared'],
    ['virtiofs', 'shared'],
  ] as const)('%s is %s', (type, kind) => expect(kindOfFileSystem(type)).toBe(kind));

  test('is that of the longest mount of the folder, and of the last if several share a path', () => {
    const mounts = [
      '1 0 8:1 / / rw - ext4 /dev/sda1 rw',
      `2 1 0:9 / ${root} rw - ext4 /dev/sdb rw`,
      `3 1 0:9 / ${root} rw shared:1 - nfs4 nas:/x rw`,
      `4 1 0:9 / ${root}-other rw - xfs /dev/sdc rw`,
    ].join('\n');
    expect(fileSystemOf(root, mounts)).toEqual({ type: 'nfs4', kind: 'network' });
    expect(fileSystemOf(tmpdir(), mounts)?.type).toBe('ext4');
  });

  test('a network file system fails in the doctor and is reported by a starting server', () => {
    const nfs = { type: 'nfs4', kind: 'network' } as const;
    expect(said(folderFindings(sceneOf(), nfs))).toContain('fail ');
    expect(networkFileSystemWarning(root, nfs)).toContain('Move it to a local disk');
    expect(networkFileSystemWarning(root, { type: 'ext4', kind: 'local' })).toBeNull();
  });
});

describe('the clock', () => {
  test('is a warning from 30 seconds off, in either direction', () => {
    const seen = (aheadMs: number) => said(clockFindings([{ whose: 'the mail server', aheadMs }], null));
    expect(seen(29_000)).toBe('ok Agrees with the mail server.');
    expect(seen(600_000)).toBe('warn This machine is 10 minutes behind the mail server.');
    expect(seen(-45_000)).toBe('warn This machine is 45 seconds ahead of the mail server.');
    expect(said(clockFindings([], false))).toContain('warn ');
  });

  test('is read from greetings that contain it', () => {
    const at = Date.parse('2026-11-22T14:00:00Z');
    const greeting = '220 mx.example.com ESMTP Exim 4.96 Sun, 22 Nov 2026 14:01:00 +0000';
    expect(clockInGreeting(greeting, at)?.aheadMs).toBe(60_500);
    expect(clockInGreeting('220 mx.example.com ESMTP Postfix', at)).toBeNull();
  });
});

describe('a certificate', () => {
  const trial = async (endsIn: number, host = 'localhost') => {
    const made = await makeCertificate({ endsAt: Date.now() + endsIn });
    const server = Bun.serve({ port: 0, tls: made, fetch: () => new Response() });
    try {
      return said(await certificateFindings(`https://${host}:${server.port}`, 3000, Date.now()));
    } finally {
      await server.stop(true);
    }
  };

  test('an untrusted certificate fails with the reason, and its expiry is given in days', async () => {
    expect(await trial(60 * DAY)).toBe('fail Clients will not trust it: it is self-signed.');
    expect(await trial(10.5 * DAY)).toContain('warn It expires in 10 days.');
    expect(await trial(-60_000)).toContain('fail It expired');
  });

  test('a certificate for another name fails', async () => {
    expect(await trial(60 * DAY, '127.0.0.2')).toContain('fail It is not for 127.0.0.2');
  });

  test('fails if the port does not speak TLS', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response() });
    const findings = await certificateFindings(`https://localhost:${server.port}`, 3000, Date.now());
    await server.stop(true);
    expect(said(findings)).toContain('fail No TLS at');
  });
});

describe('the public address', () => {
  test.each([
    ['http://auth.example.com', 'warn http://auth.example.com is not encrypted'],
    ['https://203.0.113.7', 'warn https://203.0.113.7 is an address without a host name'],
    ['https://auth.example.com', 'ok https://auth.example.com; passkeys are bound to auth.example.com.'],
    ['', 'warn GATEHOUSE_BASE_URL is not set'],
  ])('is classified: %s', (address, words) =>
    expect(said(addressFindings(sceneOf({ GATEHOUSE_BASE_URL: address })))).toContain(words),
  );

  const seen = {
    host: null,
    forwardedProto: null,
    forwarded: null,
    forwardedFor: null,
    peer: '10.0.0.2',
    client: '10.0.0.2',
  };
  test.each([
    [
      'believes a trusted proxy',
      { ...seen, forwardedFor: '203.0.113.9', client: '203.0.113.9' },
      'ok X-Forwarded-For of 10.0.0.2',
    ],
    ['names an untrusted proxy', { ...seen, forwardedFor: '203.0.113.9' }, 'fail X-Forwarded-For came from 10.0.0.2'],
    ['misses the header behind https', seen, 'warn A proxy (10.0.0.2) sends no X-Forwarded-For'],
    ['without a response from the server warns that no proxy is trusted', null, 'warn A proxy terminates https'],
  ])('%s', (_, request, words) => {
    const trusted = words.startsWith('ok') ? '10.0.0.0/8' : '';
    const scene = sceneOf({ GATEHOUSE_BASE_URL: 'https://auth.example.com', GATEHOUSE_TRUSTED_PROXIES: trusted });
    expect(said(proxyFindings(scene, request, null))).toContain(words);
  });
});

describe('countries', () => {
  const at = (time: string, environment: Record<string, string> = {}) =>
    said(countryFindings({ ...sceneOf(environment), now: () => Date.parse(time) }));

  test('come from a table with its date and source, until it is too old', () => {
    expect(at('2026-11-22')).toBe('ok Read from the table in the binary, as of 2026-06-17 (NRO, CC BY 4.0).');
    expect(at('2027-06-18')).toContain('warn Read from the table in the binary, as of 2026-06-17');
  });

  test('come from the header of a trusted proxy if one is set', () => {
    expect(at('2030-01-01', { GATEHOUSE_COUNTRY_HEADER: 'CF-IPCountry' })).toBe(
      'ok Read from CF-IPCountry, which trusted proxies set.',
    );
  });
});

describe('without a running server', () => {
  const runDoctor = async (folder: string, isFull = false) => {
    const scene = doctorContext({
      environment: { GATEHOUSE_DATA: folder, GATEHOUSE_PORT: '1' },
      flags: {},
      now: Date.now,
    });
    return said(await runChecks(scene, { sendTo: null, isFull }));
  };
  const made = async (name: string) => {
    const folder = join(root, name);
    await (await openData(folder, { isDurable: false })).close();
    return folder;
  };

  test('an intact folder has no failures', async () => {
    const text = await runDoctor(await made('whole'), true);
    expect(text).not.toContain('fail ');
    expect(text).toContain('are intact, their indexes too');
    expect(text).toContain('warn No server runs');
    expect(text).toContain('warn No mail is sent');
  });

  test('an earlier schema is left unchanged and reported', async () => {
    const folder = await made('older');
    const sqlite = new Database(join(folder, 'gatehouse.db'));
    sqlite.run(`PRAGMA user_version = ${SCHEMA_VERSION - 1}`);
    sqlite.close();
    expect(await runDoctor(folder)).toContain(`warn The database has schema ${SCHEMA_VERSION - 1}`);
  });

  test('a damaged database fails', async () => {
    const folder = await made('damaged');
    const path = join(folder, 'gatehouse.db');
    const bytes = Buffer.from(await Bun.file(path).bytes());
    bytes.fill(0x55, 4096 * 3, 4096 * 30);
    writeFileSync(path, bytes);
    expect(await runDoctor(folder)).toMatch(/fail (?:The database is damaged|.*damaged)/);
  });

  test.each<[string, (key: string, database: string) => void, string]>([
    ['a missing key', (key) => rmSync(key), 'instance.key is missing, but the database exists'],
    ['a key that is rubbish', (key) => writeFileSync(key, 'rubbish'), 'instance.key is damaged'],
    [
      'the key of another instance',
      (key) => writeFileSync(key, Buffer.alloc(32, 7).toString('base64url')),
      'instance.key is the key of another instance',
    ],
    [
      'a folder in the key’s place',
      (key) => (rmSync(key), mkdirSync(key, { mode: 0o700 })),
      'is a folder where a file must be',
    ],
    ['a key that others may read', (key) => chmodSync(key, 0o644), 'Other users can read or change'],
    ['a key without its database', (_, database) => rmSync(database), 'gatehouse.db is missing or empty, but'],
    [
      'a key beside an empty database',
      (_, database) => writeFileSync(database, ''),
      'gatehouse.db is missing or empty',
    ],
  ])('%s fails with advice, as a start would', async (name, spoil, words) => {
    const folder = await made(name.replaceAll(' ', '-'));
    spoil(join(folder, 'instance.key'), join(folder, 'gatehouse.db'));
    const scene = doctorContext({
      environment: { GATEHOUSE_DATA: folder, GATEHOUSE_PORT: '1' },
      flags: {},
      now: Date.now,
    });
    const findings = await runChecks(scene, { sendTo: null, isFull: false });
    const finding = findings.find(({ message }) => message.includes(words));
    expect(finding).toMatchObject({ status: 'fail', remedy: expect.stringMatching(/^(?:Run: |Restore )/) });
    expect(finding?.message).not.toContain('next start');
    await expect(openData(folder, { isDurable: false })).rejects.toThrow(words);
  });

  test('a key file left by an interrupted first start is accepted, as by a start', async () => {
    const folder = await made('first-start');
    const key = join(folder, 'instance.key');
    renameSync(key, `${key}.new`);
    expect(await runDoctor(folder)).toContain(`ok ${key}.new belongs to the database.`);
  });

  test('a missing folder and a file that is no database fail with the flag to use', async () => {
    expect(await runDoctor(join(root, 'nowhere'))).toContain('does not exist');
    writeFileSync(join(root, 'file'), '');
    expect(await runDoctor(join(root, 'file'))).toContain('is a file.');
    const folder = join(root, 'other');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'gatehouse.db'), 'hello', { mode: 0o600 });
    expect(await runDoctor(folder)).toContain('fail ');
  });
});

test('the report fits 80 columns, and uses words without a terminal and colours with one', () => {
  const findings: Finding[] = [
    { check: 'mail', status: 'fail', message: 'word '.repeat(40).trim(), remedy: 'do '.repeat(60).trim() },
    { check: 'log', status: 'ok', message: 'Fine.', remedy: null },
  ];
  const plain = report('Gatehouse', findings, { isTerminal: false, isColoured: false });
  expect(plain.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(plain).toContain('  FAIL  mail');
  expect(plain).toContain('1 to fix now, 1 ok.');
  expect(plain).not.toContain('\u001b');
  expect(report('Gatehouse', findings, { isTerminal: true, isColoured: true })).toContain('\u001b[31m✗\u001b[0m');
});
