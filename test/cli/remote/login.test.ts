/** Logging in and out: questions, stored credentials, and failures. */
import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { profilePath } from '@/cli/remote/profile.ts';
import { DAY } from '@/core/clock.ts';
import { createInstance } from '../../support/instance.ts';
import { deciding, logIn, oneServer, personAt, URL_A, URL_B } from './scene.ts';

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const stored = (path: string) =>
  JSON.parse(readFileSync(path, 'utf8')).logins as { url: string; key: string; who: string }[];

describe('login', () => {
  test('shows address and code, and stores the key readable only by its owner', async () => {
    const { instance, person } = await oneServer();
    const { exitCode, out } = await logIn(person, instance);
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /^Open \S+\/device\nand enter the code {2}[A-Z0-9]{4}-[A-Z0-9]{4}\n\nWaiting .*Ctrl-C cancels\.\n/,
    );
    expect(out).toContain(`Logged in to ${URL_A} as owner@example.com.`);
    expect([mode(person.credentials), mode(dirname(person.credentials))]).toEqual(['600', '700']);
    expect(readdirSync(dirname(person.credentials))).toEqual(['credentials.json']);
    const [login] = stored(person.credentials);
    expect(login).toMatchObject({ url: URL_A, who: 'owner@example.com' });
    expect(login!.key).toStartWith('eak_');
    expect(out).not.toContain(login!.key);
  });

  test('shows a QR code of the full address only in a terminal', async () => {
    const { instance, person } = await oneServer();
    const { text, ...browser } = deciding(instance, 'approve');
    await person.gatehouse(['login', '--url', URL_A], { ...browser, isTty: true });
    expect(text()).toContain('▄▄▄▄▄');
    expect((await logIn(person, instance)).out).not.toContain('▄▄▄▄▄');
  });

  test('again replaces the key and ends the previous one', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    const [first] = stored(person.credentials);
    await logIn(person, instance);
    const logins = stored(person.credentials);
    expect(logins).toHaveLength(1);
    const call = (token: string) => instance.call('GET', '/api/me', { token });
    expect((await call(first!.key)).status).toBe(401);
    expect((await call(logins[0]!.key)).status).toBe(200);
  });

  test.each([
    [['--days', '30'], 'The login ends after 30 days.', 30],
    [['--never'], 'The login does not end by itself.', null],
  ] as const)('by a code with %p ends when it was asked to', async (flags, words, days) => {
    const { instance, person } = await oneServer();
    const { text, ...browser } = deciding(instance, 'approve');
    await person.gatehouse(['login', '--url', URL_A, ...flags], browser);
    expect(text()).toContain(`as owner@example.com. ${words}`);
    const { key } = (await person.gatehouse(['whoami', '--json'])).json();
    expect(key.expiresAt && (Date.parse(key.expiresAt) - Date.parse(key.createdAt)) / DAY).toBe(days);
  });

  test.each([['0'], ['-1'], ['1.5'], ['3651'], ['soon'], ['']])(
    'refuses --days %p before it asks a server',
    async (days) => {
      const { instance, person } = await oneServer();
      const ran = await person.gatehouse(['login', '--url', URL_A, `--days=${days}`]);
      expect([ran.exitCode, ran.err]).toEqual([2, expect.stringContaining('--days')]);
      expect(instance.sqlite.query('SELECT id FROM device_grants').all()).toEqual([]);
    },
  );

  test('refuses --days and --never together', async () => {
    const { person } = await oneServer();
    const ran = await person.gatehouse(['login', '--url', URL_A, '--days', '30', '--never']);
    expect([ran.exitCode, ran.err]).toEqual([2, expect.stringContaining('not both')]);
  });

  test('keeps several servers and uses the last', async () => {
    const [a, b] = [await createInstance(), await createInstance()];
    const person = personAt({ [URL_A]: a, [URL_B]: b });
    await logIn(person, a, URL_A);
    const { text: _, ...browser } = deciding(b, 'approve');
    await person.gatehouse(['login', '--url', URL_B], browser);
    const at = async (...flags: string[]) => (await person.gatehouse(['whoami', '--json', ...flags])).json().url;
    expect([await at(), await at('--url', URL_A), await at('--url', URL_B)]).toEqual([URL_B, URL_A, URL_B]);
    await person.gatehouse(['logout']);
    expect(await at()).toBe(URL_A);
  });

  test('reports that it was declined or that the code expired', async () => {
    const { instance, person } = await oneServer();
    const declining = deciding(instance, 'deny');
    const declined = await person.gatehouse(['login', '--url', URL_A], declining);
    expect([declined.exitCode, declining.text()]).toEqual([
      1,
      expect.stringContaining('It was declined in the browser; nothing was stored.'),
    ]);
    const late = await person.gatehouse(['login', '--url', URL_A]);
    expect([late.exitCode, late.err]).toEqual([
      1,
      expect.stringContaining('before anybody confirmed it. Run gatehouse login again.'),
    ]);
    expect(existsSync(person.credentials)).toBe(false);
  });

  test('ends cleanly when it is interrupted', async () => {
    const { person } = await oneServer();
    const interrupted = new AbortController();
    const ran = await person.gatehouse(['login', '--url', URL_A], {
      interruption: interrupted.signal,
      async wait(_ms, signal) {
        interrupted.abort();
        signal?.throwIfAborted();
      },
    });
    expect([ran.exitCode, ran.err]).toEqual([1, 'gatehouse: Cancelled; nothing was stored.\n']);
    expect(existsSync(person.credentials)).toBe(false);
  });

  test.each([
    [['--url', 'http://auth.example.com'], 2, 'Give https://auth.example.com.'],
    [['--url', 'https://auth.example.com/path'], 2, 'has a path'],
    [['--url', 'nonsense'], 2, '--url is no address'],
    [[], 2, 'Say which server'],
    [['--url', 'https://nobody.example.com'], 1, 'https://nobody.example.com cannot be reached'],
  ])('a login with %j is refused with advice', async (flags, exitCode, remedy) => {
    const { person } = await oneServer();
    const ran = await person.gatehouse(['login', ...flags]);
    expect([ran.exitCode, ran.err]).toEqual([exitCode, expect.stringContaining(remedy)]);
  });

  test.each(['http://localhost:8080', 'http://127.0.0.1:1', 'http://[::1]:1'])('accepts http at %s', async (url) => {
    const { instance } = await oneServer();
    const person = personAt({ [url]: instance });
    expect((await logIn(person, instance, url)).exitCode).toBe(0);
  });
});

describe('the stored logins', () => {
  test('are not used while others can read them', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    chmodSync(person.credentials, 0o644);
    const ran = await person.gatehouse(['whoami']);
    expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining(`chmod 600 "${person.credentials}"`)]);
  });

  test('malformed logins are reported with the file', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    writeFileSync(person.credentials, '{"logins": [{}]}');
    const ran = await person.gatehouse(['whoami']);
    expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining('Delete it and log in again.')]);
  });

  test.each([
    ['linux', {}, '/home/ada/.config/gatehouse/credentials.json'],
    ['linux', { XDG_CONFIG_HOME: '/x' }, '/x/gatehouse/credentials.json'],
    ['linux', { XDG_CONFIG_HOME: 'relative' }, '/home/ada/.config/gatehouse/credentials.json'],
    ['darwin', {}, '/home/ada/Library/Application Support/gatehouse/credentials.json'],
    ['win32', { APPDATA: '/roaming' }, '/roaming/gatehouse/credentials.json'],
  ] as const)('are on %s with %j in the standard folder', (platform, env, path) => {
    expect(profilePath({ platform, env, home: '/home/ada' })).toBe(path);
  });
});

describe('logout', () => {
  test('revokes the key on the server and deletes it', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    const [login] = stored(person.credentials);
    const ran = await person.gatehouse(['logout']);
    expect(ran).toMatchObject({ exitCode: 0, out: `Logged out of ${URL_A}.\n`, err: '' });
    expect((await instance.call('GET', '/api/me', { token: login!.key })).status).toBe(401);
    expect(existsSync(person.credentials)).toBe(false);
    expect((await person.gatehouse(['logout'])).err).toContain('There is no login to end.');
  });

  test('deletes the key even if the server is unreachable, and says that it still works', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    const ran = await person.gatehouse(['logout'], { fetch: () => Promise.reject(new TypeError('gone')) });
    expect([ran.exitCode, existsSync(person.credentials)]).toEqual([0, false]);
    expect(ran.err).toContain(
      'The server could not be reached. The key is deleted here, but works until it is revoked',
    );
  });
});

describe('whoami', () => {
  test('shows the person, server, key and role', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    const { out } = await person.gatehouse(['whoami']);
    expect(out).toContain(`Server     ${URL_A}\nWho        owner@example.com, usr_`);
    expect(out).toContain('Key        Command line on laptop, eak_');
    expect(out).toContain('Expires    31 May 12:00\nWorkspace  Workspace, owner\n');
    expect(out).toContain(person.credentials);
  });

  test('an API key is shown with its access', async () => {
    const { person } = await oneServer();
    const { out } = await person.manage(['whoami']);
    expect(out).toContain('Who        an API key, usr_');
    expect(out).toContain('from GATEHOUSE_KEY\n');
    expect(out).toContain('Workspace  Workspace, full access\n');
  });

  test('a login that has come to its end is reported with the way to log in again', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    instance.clock.advance(90 * 24 * 3600_000);
    const ran = await person.gatehouse(['whoami']);
    expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining('Log in again: gatehouse login --url')]);
  });

  test('a revoked key is reported with the way to get another', async () => {
    const { instance, person } = await oneServer();
    await logIn(person, instance);
    const [login] = stored(person.credentials);
    await instance.call('DELETE', '/api/me/key', { token: login!.key });
    const ran = await person.gatehouse(['whoami']);
    expect([ran.exitCode, ran.out]).toEqual([1, '']);
    expect(ran.err).toMatch(
      /^gatehouse: [^\n]+Log in again: gatehouse login --url https:\/\/auth\.example\.com \(unauthenticated, request req_\w+\)\n$/,
    );
  });

  test('a missing login is reported with the command to log in', async () => {
    const { person } = await oneServer();
    const ran = await person.gatehouse(['whoami']);
    expect([ran.exitCode, ran.err]).toEqual([
      1,
      'gatehouse: You are not logged in. Run: gatehouse login --url https://…\n',
    ]);
  });
});

describe('a given key', () => {
  test('is read from a file or from the environment, and needs its server’s address', async () => {
    const { instance, person } = await oneServer();
    const file = `${person.home}/key`;
    writeFileSync(file, `${instance.workspaceKey}\n`);
    const byFile = await person.gatehouse(['whoami', '--json', '--url', URL_A, '--key-file', file]);
    expect(byFile.json()).toMatchObject({ kind: 'key', url: URL_A });
    const homeless = await person.gatehouse(['whoami', '--key-file', file]);
    expect([homeless.exitCode, homeless.err]).toEqual([2, expect.stringContaining('The key needs a server')]);
    writeFileSync(file, 'hunter2');
    const wrong = await person.gatehouse(['whoami', '--url', URL_A, '--key-file', file]);
    expect([wrong.exitCode, wrong.err.includes('hunter2')]).toEqual([1, false]);
  });
});
