/** Runs the guides block by block against one server, as a reader would. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleAddress, PRODUCT_NAMES, productOf } from '@/console/views/settings/openid-snippets.ts';
import { EVENT_SCHEMAS, EVENT_TYPES, type EventType } from '@/core/event.ts';
import { EVENT_SAMPLES } from '@/core/event-samples.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { GUIDES } from '@/modules/docs/guides.ts';
import { ALL_SETTINGS, KNOWN_VARIABLES } from '@/settings.ts';
import { eventually, type EphemeralServer, freePort, request, signIn, startEphemeral } from '../../support/binary.ts';
import { databaseUrl, dropPostgresDatabase, OWNER, postgresServer } from '../../support/postgres.ts';
import { type Block, blocksOfGuides, Workplace } from './blocks.ts';

setDefaultTimeout(120_000);

const readme = await Bun.file(join(import.meta.dir, '../../../README.md')).text();
const place = new Workplace();
let server: EphemeralServer;
let blocks: Block[];
let token: string;
const taken = new Set<string>();
let verified: Promise<string>;

beforeAll(async () => {
  [server] = await Promise.all([
    // Lets a device poll often.
    startEphemeral([], { GATEHOUSE_LIMIT_DEVICE_POLL_SECONDS: '1' }),
    place.prepare(),
  ]);
  blocks = blocksOfGuides(server.url);
  ({ token } = await signIn(server, 'ada@example.com', server.clientId));
});
afterAll(async () => {
  await place.clear();
  await server.stop();
});

function take(name: string): Block {
  const block = blocks.find((one) => one.name === name);
  if (!block) throw new Error(`there is no block ${name}`);
  taken.add(name);
  return block;
}

const environment = () => ({
  GATEHOUSE: server.url,
  API_KEY: server.workspaceKey,
  CLIENT_ID: server.clientId,
  KEY: server.workspaceKey,
  APP: server.applicationId,
});

/** Runs blocks in one shell, with the variables of the first guide. */
function shell(names: string[], change: (script: string) => string = (script) => script): Promise<string> {
  const { url, workspaceKey, applicationId, clientId } = server;
  const given = `set -eu\nurl=${url} key=${workspaceKey} app=${applicationId} client=${clientId} token=${token}\n`;
  return place.run(['bash', '-c', given + change(names.map((name) => take(name).code).join('\n'))]);
}

const call = async (method: string, path: string, body?: unknown) =>
  (await request(server, method, path, { token: server.workspaceKey, body })).json;
const ofApplication = (path: string) => `/api/applications/${server.applicationId}${path}`;
/** Returns the field names of an object at any depth; a list counts by its first entry. */
function fieldsOf(value: unknown, before = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return fieldsOf(value[0], before);
  return Object.entries(value).flatMap(([name, one]) => [`${before}${name}`, ...fieldsOf(one, `${before}${name}.`)]);
}

describe('the production guide', () => {
  test('names only existing settings', () => {
    const names = ['production text 0', 'production text 2', 'backups text 0'].flatMap((name) =>
      take(name)
        .code.trim()
        .split('\n')
        .map((line) => line.split('=')[0] ?? ''),
    );
    expect(names.filter((name) => !ALL_SETTINGS.some(({ env }) => env === name))).toEqual([]);
  });

  // test/binary/reverse-proxy.test.ts runs them, and test/cli/print.test.ts compares them with the printed ones.
  test('shows proxies that forward to this server', () => {
    for (const name of ['production text 1', 'production nginx 0', 'production haproxy 0'])
      expect(take(name).code).toContain('127.0.0.1:8080');
  });

  test('answers health checks', async () => {
    expect(await shell(['monitoring sh 0'])).not.toBe('');
  });

  test('prints a systemd unit and a container image', async () => {
    await shell(['production sh 0']);
    expect(await Bun.file(join(place.folder, 'gatehouse.service')).text()).toContain('[Service]');
    expect(await Bun.file(join(place.folder, 'Dockerfile')).text()).toContain('HEALTHCHECK');
    expect(await Bun.file(join(place.folder, 'compose.yaml')).text()).toContain('services:');
  });

  test('backs up a running server, restores it, and lets an owner sign in again', async () => {
    const { child, stdout } = place.spawn(['gatehouse', 'serve', '--port', '0'], {});
    await stdout.until(/setup\?token=/);
    const said = await shell(['backups sh 0', 'backups sh 2', 'production sh 2', 'production sh 3']);
    expect(said).toContain('Restored gatehouse.backup');
    expect(said).toContain('/setup?token=');
    // The doctor may find real problems on this machine.
    const looked = await shell(['production sh 1'], (script) => `${script.trim()} || [ $? = 1 ]`);
    expect(looked).toContain('base URL');
    // It starts its own server while the other guides continue.
    verified = shell(['backups sh 1']);
    child.kill('SIGTERM');
    await child.exited;
  });

  test('moves the instance to PostgreSQL and back', async () => {
    const name = `guide_move_${process.pid}`;
    const serverUrl = await postgresServer();
    const admin = new SQL({ url: serverUrl, max: 1 });
    await admin.unsafe(`CREATE DATABASE ${name} OWNER ${OWNER}`);
    const url = databaseUrl(serverUrl, name);
    writeFileSync(join(place.folder, 'database-url'), url);
    expect(await shell(['backups sh 3'])).toContain('Both sides are equal');
    const back = await shell(
      ['backups sh 4'],
      (script) =>
        `GATEHOUSE_DATABASE_URL_FILE=database-url GATEHOUSE_INSTANCE_KEY_FILE=data/instance.key ${script.trimStart()}`,
    );
    expect(back).toContain('Both sides are equal');
    await admin.close();
    await dropPostgresDatabase(url);
  });

  test('prints a dashboard and alert rules', async () => {
    await shell(['monitoring sh 1']);
    expect((await Bun.file(join(place.folder, 'gatehouse-dashboard.json')).json()).title).toBe('Gatehouse');
    expect(await Bun.file(join(place.folder, 'gatehouse-alerts.yaml')).text()).toContain('alert:');
  });
});

describe('the guide on several instances', () => {
  const role = `guide_${process.pid}`;
  const drill = `${role}_drill`;
  let postgres: { url: string; admin: SQL };
  let databaseUrl: string;
  beforeAll(async () => {
    const url = await postgresServer();
    postgres = { url, admin: new SQL({ url, max: 1 }) };
    databaseUrl = Object.assign(new URL(postgres.url), { username: role, password: 'PASSWORD', pathname: role }).href;
  });
  afterAll(async () => {
    for (const name of [role, drill]) await postgres.admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await postgres.admin.unsafe(`DROP ROLE IF EXISTS ${role}`);
    await postgres.admin.close();
  });

  function settings(): Record<string, string> {
    const lines = take('growing text 0').code.trim().split('\n');
    return Object.fromEntries(lines.map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]));
  }

  test('names only existing settings', () => {
    expect(Object.keys(settings()).filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
  });

  test('makes an instance key, and prints files for two instances', async () => {
    await shell(['growing sh 0', 'growing sh 1']);
    const text = (name: string) => Bun.file(join(place.folder, name)).text();
    expect(Buffer.from(await text('instance-key'), 'base64')).toHaveLength(32);
    expect(await text('compose.yaml')).toContain('gatehouse-2:');
    expect(await text('gatehouse.yaml')).toContain('kind: Deployment');
  });

  test('prepares a database that a server takes, with the key', async () => {
    const statements = take('growing sql 0').code.replaceAll('gatehouse', role).trim().split('\n');
    for (const statement of statements) await postgres.admin.unsafe(statement);
    const { child, stdout } = place.spawn(['gatehouse', 'serve'], {
      ...settings(),
      GATEHOUSE_DATABASE_URL: databaseUrl,
      GATEHOUSE_INSTANCE_KEY_FILE: 'instance-key',
      GATEHOUSE_PORT: '0',
    });
    expect(await stdout.until(/setup\?token=/)).not.toContain('PASSWORD');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    await using client = new SQL({ url: databaseUrl, max: 1 });
    expect(await client.unsafe('SELECT count(*)::int AS n FROM workspaces')).toEqual([{ n: 1 }]);
  });

  const dumper = /(\d+)\./.exec(Bun.which('pg_dump') === null ? '' : String(Bun.spawnSync(['pg_dump', '-V']).stdout));
  const isThere = Number(dumper?.[1] ?? 0) >= 18;
  test.skipIf(!isThere)(`dumps it, and restores the dump${isThere ? '' : ' (needs pg_dump 18)'}`, async () => {
    const { hostname, port, username, password } = new URL(postgres.url);
    const given = `export PGHOST=${hostname} PGPORT=${port} PGUSER=${username} PGPASSWORD='${password}'\n`;
    const names = ['growing sh 2', 'growing sh 3'];
    const drillUrl = Object.assign(new URL(databaseUrl), { pathname: drill }).href;
    const said = await shell(names, (script) => {
      const renamed = script.replace(/\bgatehouse(?=_drill|$)|(?<=(?:owner|role)=)gatehouse/gm, role);
      return `${given}DRILL_URL='${drillUrl}'\n${renamed}`;
    });
    expect(said).toBe('No mail yet.\n');
  });

  test('has commands for a dump and a drill', () => {
    expect(take('growing sh 2').code).toContain('pg_dump --format=custom');
    expect(take('growing sh 3').code).toContain('pg_restore --exit-on-error');
  });
});

describe('the first sign-in guide', () => {
  test('has the README’s commands with this instance’s address', () => {
    const shared = ['sh 0', 'sh 1', 'sh 2'].map((name) => take(`first-sign-in ${name}`).code);
    for (const block of shared) expect(readme).toContain(block.replaceAll(server.url, 'http://localhost:8080'));
  });

  test('opens the application to everyone', async () => {
    const { data } = await call('POST', '/api/applications', { name: 'Draft' });
    const said = await shell(['first-sign-in sh 3'], (script) => `app=${data.id}\n${script}`);
    expect(said).toContain('"stage":"test"');
    expect(said).toContain('"stage":"live"');
  });
});

describe('the guide on sessions', () => {
  test('sets their lifetime', async () => {
    expect(await shell(['sessions sh 0'])).toContain('"sessionTtlSeconds":604800');
    await call('PATCH', ofApplication(''), { sessionTtlSeconds: 2_592_000 });
  });

  test('has a page’s call, which signs in again once the session is over', async () => {
    const { code, ...block } = take('sessions js 0');
    await place.write({ ...block, code: code.replace('cli_…', server.clientId) });
    const page = [
      `globalThis.sessionStorage = { kept: { token: process.argv[2] }, getItem(name) { return this.kept[name] ?? null; }, setItem(name, value) { this.kept[name] = value; }, removeItem(name) { delete this.kept[name]; } };`,
      `globalThis.location = { origin: 'https://shop.example', pathname: '/cart', href: '' };`,
      `globalThis.document = {};`,
      `const { api } = await import('./api.js');`,
      `const { status } = await api('${server.url}/api/v1/session', { method: 'POST' });`,
      `console.log(status, sessionStorage.getItem('token') !== null, location.href);`,
    ].join('\n');
    await Bun.write(join(place.folder, 'api-page.js'), page);
    const session = await signIn(server, 'staying@example.com', server.clientId);
    const run = () => place.run(['bun', 'api-page.js', session.token]);
    expect(await run()).toBe('200 true \n');
    await fetch(`${server.url}/api/v1/session`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${session.token}` },
    });
    const [status, isKept, href = ''] = (await run()).trim().split(' ');
    expect([status, isKept, new URL(href).origin + new URL(href).pathname]).toEqual([
      '401',
      'false',
      `${server.url}/sign-in`,
    ]);
    expect(new URL(href).searchParams.get('returnTo')).toStartWith('https://shop.example/cart');
  });
});

describe('the guide on putting it on a page', () => {
  test('registers the return URL', async () => {
    expect(await shell(['on-a-page sh 0'])).toContain('"returnUrls":["http://localhost:3000/"]');
  });

  test('signs out', async () => {
    const session = await signIn(server, 'leaving@example.com', server.clientId);
    await shell(['on-a-page sh 1'], (script) => `token=${session.token}\n${script}`);
    expect((await call('POST', '/api/v1/verify', { token: session.token })).errorMessage).toBe('revoked');
  });

  // test/browser/docs.test.ts runs them in a browser.
  test.each(['ts 0', 'js 0'])('has a page: %s', (name) => {
    expect(take(`on-a-page ${name}`).code).toContain(`${server.url}`);
  });
});

// test/browser/readme.test.ts runs it in a browser.
test('the shop guide has its file', () => {
  for (const name of ['shop sh 0', 'shop sh 1', 'shop js 0']) expect(take(name).code).not.toBe('');
});

// test/client/package.test.ts installs and runs it.
test('the package guide has an example', () => {
  for (const name of ['typescript sh 0', 'typescript js 0']) expect(take(name).code).toContain('gatehouse');
});

describe('the frameworks guide', () => {
  test('protects a route of Express', async () => {
    const port = freePort();
    const block = take('frameworks js 0');
    const name = await place.write({ ...block, code: block.code.replace('3000', String(port)) });
    const run = await shell(['frameworks sh 1'], (script) =>
      script
        .replace(`node ${name}`, `exec ${process.execPath} ${name}`)
        .replaceAll('3000', String(port))
        // Waits for the program instead of a second, asks as a stranger too, and ends it.
        .replace(
          'sleep 1',
          `until curl -s -o stranger http://localhost:${port}/me; do sleep 0.05; done; trap 'kill %1' EXIT`,
        ),
    );
    expect(JSON.parse(run)).toMatchObject({ email: 'ada@example.com' });
    expect(await Bun.file(join(place.folder, 'stranger')).json()).toMatchObject({ error: 'no_token' });
  });

  test('registers the page of React, and the client of Next.js with its secret', async () => {
    const install = /^npm install .*$/gm;
    const withoutNpm = (script: string) => script.replace(install, ':');
    expect(await shell(['frameworks sh 2'], withoutNpm)).toContain('"returnUrls":["http://localhost:5173/"]');
    const said = await shell(['frameworks sh 3'], (script) => `${withoutNpm(script)}\necho "secret: $secret."`);
    expect(said).toMatch(/secret: ecs_[0-9A-Za-z]{20,}\.\n$/);
  });

  // test/client/package.test.ts compiles them, and those next to it run the adapters.
  test('has an example of each', () => {
    const names = blocks.map(({ name }) => name).filter((name) => name.startsWith('frameworks '));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(take(name).code).toMatch(/gatehouse|auth|main\.tsx/i);
  });
});

describe('the verify guide', () => {
  test('makes a key with high rate limits', async () => {
    const said = await shell(['verify sh 0'], (script) => `${script}\necho "$API_KEY $GATEHOUSE"`);
    const [key = '', address] = said.trim().split(' ');
    expect(address).toBe(server.url);
    const answer = await request(server, 'POST', '/api/v1/verify', { token: key, body: { token } });
    expect(answer.headers.get('ratelimit-limit')).toBe('6000');
  });

  test('shows verdicts exactly as served', async () => {
    const [good, bad] = [await call('POST', '/api/v1/verify', { token }), { success: false, errorMessage: 'expired' }];
    expect(fieldsOf(good)).toEqual(expect.arrayContaining(fieldsOf(JSON.parse(take('verify json 0').code))));
    expect(JSON.parse(take('verify json 1').code)).toEqual(bad);
  });

  test('includes one’s own data', async () => {
    const { include } = JSON.parse(take('verify json 2').code);
    const { data } = await call('POST', '/api/v1/verify', { token, include });
    expect(data).toMatchObject({ externalId: null, metadata: {} });
  });

  test('works in TypeScript', async () => {
    const PORT = String(freePort());
    place.spawn([process.execPath, await place.write(take('verify ts 0'))], { ...environment(), PORT });
    const ask = (authorization: string) =>
      fetch(`http://127.0.0.1:${PORT}/`, { headers: { authorization } }).catch(() => null);
    const good = await eventually('the backend answers', () => ask(`Bearer ${token}`));
    expect(await good.text()).toBe('ada@example.com: user');
    expect((await ask('Bearer est_0'))?.status).toBe(401);
  });

  const WHOAMI = [
    ['python', 'python3', ['python3', 'whoami.py']],
    ['go', 'go', ['go', 'run', 'whoami.go']],
    ['php', 'php', ['php', 'whoami.php']],
  ] as const;
  describe.each(WHOAMI)('in %s', (language, tool, command) => {
    const isThere = Bun.which(tool) !== null;

    test('reads only fields that the verdict has', async () => {
      const { code } = take(`verify ${language} 0`);
      const { data } = await call('POST', '/api/v1/verify', { token });
      expect(code).toContain('/api/v1/verify');
      for (const field of ['success', 'errorMessage', 'token', 'email'])
        expect(code).toMatch(new RegExp(`["']${field}["']`));
      for (const [, field = ''] of code.matchAll(/`json:"(\w+)"`/g))
        expect([...Object.keys(data), 'success', 'data', 'errorMessage']).toContain(field);
    });

    test.skipIf(!isThere)(`works${isThere ? '' : ` (${tool} is not on this machine)`}`, async () => {
      await place.write(take(`verify ${language} 0`));
      expect(await place.run([...command, token], environment())).toBe('ada@example.com\n');
      expect(await place.run([...command, 'est_0'], environment())).toBe('not admitted: invalid_token\n');
    });
  });

  test('introspects with an OAuth library', async () => {
    const said = await shell(['verify sh 1'], (script) => `${script}\necho "$CLIENT_SECRET"`);
    const env = { ...environment(), CLIENT_SECRET: said.trim() };
    const file = await place.write(take('verify js 0'));
    expect(await place.run([process.execPath, file, token], env)).toMatch(/^ada@example\.com is usr_\w+\n$/);
    expect(await place.run([process.execPath, file, 'est_0'], env)).toBe('nobody\n');
  });

  test('guards a service that cannot verify tokens itself', async () => {
    const PORT = String(freePort());
    place.spawn([process.execPath, await place.write(take('verify js 1'))], { ...environment(), PORT });
    const guard = `http://127.0.0.1:${PORT}/`;
    const ask = (at: string, given: string) =>
      fetch(at, { headers: { authorization: `Bearer ${given}` } }).catch(() => null);
    const good = await eventually('the guard answers', () => ask(guard, token));
    expect([good.status, good.headers.get('x-email'), good.headers.get('x-roles')]).toEqual([
      204,
      'ada@example.com',
      'user',
    ]);
    expect((await ask(guard, 'est_0'))?.status).toBe(401);

    const { code } = take('verify nginx 0');
    if (Bun.which('nginx') === null) return;
    const behind = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ headers }) => new Response(headers.get('x-user')),
    });
    const front = freePort();
    const site = code
      .replaceAll('127.0.0.1:4180', `127.0.0.1:${PORT}`)
      .replace('127.0.0.1:8000', `127.0.0.1:${behind.port}`);
    startNginx(`server { listen 127.0.0.1:${front}; ${site} }`);
    const passed = await eventually('the proxy answers', () => ask(`http://127.0.0.1:${front}/`, token));
    expect(await passed.text()).toMatch(/^usr_/);
    expect((await ask(`http://127.0.0.1:${front}/`, 'est_0'))?.status).toBe(401);
    await behind.stop(true);
  });
});

function startNginx(site: string): void {
  const { folder } = place;
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  const config = `${user} daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary} ${site} }`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  place.spawn(['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {});
}

describe('the webhook guide', () => {
  let secret = '';
  let webhook = '';
  const port = freePort();
  const names = ['webhooks sh 0', 'webhooks sh 1', 'webhooks sh 2', 'webhooks sh 3', 'webhooks sh 4'];
  const runBlock = (name: string) => shell([name], (script) => `webhook=${webhook}\n${script}`);

  test('subscribes an endpoint', async () => {
    const said = await shell(
      [names[0]!],
      (script) =>
        `${script.replace('http://localhost:3000', `http://localhost:${port}`)}\necho "$webhook $SIGNING_SECRET"`,
    );
    [webhook = '', secret = ''] = said.trim().split(' ');
    expect(secret).toStartWith('whsec_');
  });

  test.each(['ts 0', 'js 0'])('receives deliveries: %s', async (name) => {
    const file = await place.write(take(`webhooks ${name}`));
    const env = { SIGNING_SECRET: secret, PORT: String(port) };
    const { child, stdout } = place.spawn([process.execPath, file], env);
    const address = `http://localhost:${port}/hook`;
    const forge = () =>
      fetch(address, { method: 'POST', body: '{}', headers: { 'svc-signature': 't=1,v1=00' } }).catch(() => null);
    expect((await eventually('it listens', forge)).status).toBe(401);
    expect(await runBlock(names[1]!)).toContain('"eventType":"webhook.test"');
    await stdout.until(/^webhook\.test /m);
    child.kill();
    await child.exited;
  });

  test.skipIf(Bun.which('python3') === null)('verifies signatures in plain Python', async () => {
    await place.write(take('webhooks python 0'));
    const t = Math.floor(Date.now() / 1000);
    const sign = (at: number, key: string) =>
      `t=${at},v1=${createHmac('sha256', key).update(`${at}.{}`).digest('hex')}`;
    const program = 'import sys, receive\nfor one in sys.argv[1:]: print(receive.is_genuine(b"{}", one, "whsec_1"))';
    const rotated = `${sign(t, 'whsec_0')},v1=${sign(t, 'whsec_1').split('v1=')[1]}`;
    const signatures = [sign(t, 'whsec_1'), rotated, sign(t, 'whsec_0'), sign(t - 400, 'whsec_1'), ''];
    const verdicts = await place.run(['python3', '-c', program, ...signatures]);
    expect(verdicts.trim().split('\n')).toEqual(['True', 'True', 'False', 'False', 'False']);
  });

  test('releases only from quarantine, replays failed events, and rotates the secret', async () => {
    take('webhooks python 0');
    expect(await runBlock(names[2]!)).toContain('"error":"invalid_state"');
    expect(await runBlock(names[3]!)).toContain('"events":0,"running":null');
    expect(await runBlock(names[4]!)).toMatch(/"signingSecret":"whsec_\w+"/);
  });
});

test('the shown event matches the schema', () => {
  const { type, data, ...rest } = JSON.parse(take('events json 0').code) as { type: EventType; data: object };
  expect(Object.keys(rest)).toEqual(['id', 'createdAt', 'applicationId']);
  expect(Object.keys(EVENT_SCHEMAS[type].properties)).toEqual(Object.keys(data).toSorted().toReversed());
});

test('the samples in the events guide are those of the catalogue', () => {
  const lines = take('events jsonc 0').code.trim().split('\n');
  for (const type of EVENT_TYPES)
    expect(JSON.parse(lines[lines.indexOf(`// ${type}`) + 1]!)).toEqual(EVENT_SAMPLES[type]);
});

describe('the guide on errors and limits', () => {
  test('shows the answer to an invalid body', async () => {
    const shown = JSON.parse(take('errors-and-limits json 0').code);
    const said = JSON.parse(await shell(['errors-and-limits sh 0']));
    expect(Object.keys(said)).toEqual(Object.keys(shown));
    expect([said.error, said.message]).toEqual([shown.error, shown.message]);
    expect(said.fields).toEqual(shown.fields);
  });

  test('reads a list', async () => {
    expect(JSON.parse(await shell(['errors-and-limits sh 1'])).data).toHaveProperty('nextCursor');
  });
});

describe('the device login guide', () => {
  const decide = (code: string) =>
    request(server, 'POST', '/api/account/device/approve', { token, body: { user_code: code } });

  test('gets Retry-After, with curl', async () => {
    const said = await shell(['device-login sh 0', 'device-login sh 1']);
    expect(said).toContain(`"verification_uri_complete":"${server.url}/device?code=`);
    expect(said).toContain('"error":"authorization_pending"');
  });

  test('ends with a key, with our client', async () => {
    const { stdout } = place.spawn([process.execPath, await place.write(take('device-login ts 0'))], environment());
    const [, code = ''] = /type (\S+)/.exec(await stdout.until(/type \S+\n/)) ?? [];
    await request(server, 'GET', `/api/account/device?user_code=${code}`, { token });
    expect((await decide(code)).status).toBe(200);
    await stdout.until(/^Signed in; .*eak_/m);
  });
});

describe('the migration guide', () => {
  test('imports rows and reports the outcome of each', async () => {
    const said = await shell(['migrate sh 0']);
    expect(said).toContain('"outcome":"created"');
    expect(said).toContain('"error":"email_invalid"');
  });

  test('imports a file', async () => {
    writeFileSync(join(place.folder, 'users.csv'), 'email,name,roles\nmary@example.com,Mary,editor\nnobody,No,\n');
    const file = await place.write(take('migrate js 0'));
    const said = await place.run([process.execPath, file, 'users.csv'], environment());
    expect(said).toMatch(/created: 1/);
    expect(said).toContain('nobody: email_invalid\n');
    const { data } = await call('GET', ofApplication('/users?q=mary'));
    expect(data.items.map(({ roles }: { roles: string[] }) => roles.toSorted())).toEqual([['editor', 'user']]);
  });

  test('sets ids of one’s own, and finds users by them', async () => {
    expect(await shell(['migrate sh 1'])).toContain('"externalId":"crm-4711"');
  });

  test('checks usernames', async () => {
    expect(await shell(['migrate sh 2'])).toContain('"status":"taken"');
  });
});

test.each([
  ['clerk', 'clerk.csv'],
  ['auth0', 'auth0.json.gz'],
  ['firebase', 'firebase.json'],
  ['supabase', 'supabase.csv'],
  ['keycloak', 'keycloak.json'],
  ['better-auth', 'better-auth.csv'],
])('the guide for those who come from elsewhere imports from %s', async (from, file) => {
  const { data: shop } = await call('POST', '/api/applications', { name: `From ${from}` });
  const block = blocks.find(({ name, code }) => name.startsWith('coming-from') && code.includes(`--from ${from} `));
  const sample = Bun.file(join(import.meta.dir, '../../fixtures/user-exports', file.replace('.json.gz', '.jsonl')));
  const bytes = await sample.bytes();
  await Bun.write(join(place.folder, file), file.endsWith('.gz') ? Bun.gzipSync(bytes) : bytes);
  // With several applications, the command asks which one.
  const said = await shell(
    [block?.name ?? ''],
    (script) => `export GATEHOUSE_URL=$url GATEHOUSE_KEY=$key\n${script.trimEnd()} --app ${shop.id}`,
  );
  expect(said).toContain(' 0 skipped.');
});

describe('the guide on integration tests', () => {
  test('runs tests with our client', async () => {
    const file = await place.write(take('integration-tests ts 0'));
    const { child, stderr } = place.spawn([process.execPath, 'test', `./${file}`], {
      BINARY: join(place.folder, 'gatehouse'),
    });
    expect(await stderr.whole).toContain('1 pass');
    expect(await child.exited).toBe(0);
  });

  test('starts with a seed, and shows the log', async () => {
    const file = await place.write(take('integration-tests ts 1'));
    const { child, stderr } = place.spawn([process.execPath, file], { BINARY: join(place.folder, 'gatehouse') });
    expect(await stderr.whole).toMatch(/^\{.*seed/m);
    expect(await child.exited).toBe(0);
  });

  test('runs tests from a shell', async () => {
    const waits = 'until [ -s ready.json ]; do sleep 0.02; done; cat ready.json';
    const said = JSON.parse(await shell(['integration-tests sh 0'], (script) => `${script}${waits}`));
    expect(Object.keys(said)).toEqual(Object.keys(JSON.parse(take('integration-tests json 0').code)));
    expect(await shell(['integration-tests sh 1'])).toMatch(/"code":"\d{6}"/);
  });
});

describe('the OpenID guide', () => {
  test('sets up a client, and finds the endpoints', async () => {
    const said = await shell(['openid sh 0', 'openid sh 1']);
    expect(said).toContain('"redirectUris":["https://wiki.example.com/oidc/callback"]');
    expect(said).toMatch(/"clientSecret":"ecs_\w+"/);
    expect(said).toContain(`"issuer":"${server.url}"`);
    expect(said).toContain(`"token_endpoint":"${server.url}/oauth/token"`);
  });

  test('shows the settings of products that the console shows', () => {
    const shown = blocks.filter(({ slug, name }) => slug === 'openid' && !taken.has(name));
    const known = PRODUCT_NAMES.flatMap((name) => {
      const at = exampleAddress(name);
      const settings = productOf(name, at, { issuer: server.url, clientId: 'cli_…' })?.settings;
      return settings && 'code' in settings ? [`${settings.code}\n`] : [];
    });
    expect(shown.map(({ name }) => take(name).code)).toEqual(known);
  });
});

describe('the command-line guide', () => {
  test('logs in by a code', async () => {
    const { code } = take('command-line-and-agents sh 0');
    const { child, stdout } = place.spawn(['bash', '-c', `exec ${code}`], { HOME: place.folder });
    await stdout.until(/[A-Z]{4}-[A-Z]{4}/);
    child.kill();
    await child.exited;
  });

  test('uses a key from the environment', async () => {
    const said = await shell(['command-line-and-agents sh 1']);
    expect(said).toContain('from GATEHOUSE_KEY');
    expect(said).toContain('test-application');
    expect(said).toContain('ada@example.com');
    const created = await shell(['command-line-and-agents sh 1', 'command-line-and-agents sh 2']);
    expect(created).toContain('corner-shop');
  });

  test('applies a file, and then finds nothing to change', async () => {
    await Bun.write(join(place.folder, 'shop.json'), take('command-line-and-agents json 0').code);
    const env = {
      HOME: place.folder,
      GATEHOUSE_URL: server.url,
      GATEHOUSE_KEY: server.workspaceKey,
      SHOP_KEY: mintSecret('apiKey', systemRandom),
      SHOP_HOOK: 'whsec_of_at_least_24_characters',
    };
    const apply = async (...flags: string[]) => {
      const { child, stdout, stderr } = place.spawn(['gatehouse', 'apply', 'shop.json', ...flags], env);
      expect([await child.exited, stderr.text()]).toEqual([0, '']);
      return stdout.text();
    };
    expect(await apply('--dry-run')).toMatch(/\+ application shop/);
    await apply();
    expect(await apply('--dry-run')).not.toMatch(/^\s*[+~]/m);
  });

  test('forwards signed events to this machine', async () => {
    const events: string[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        events.push(`${(await request.json()).type} ${request.headers.has('svc-signature')}`);
        return new Response();
      },
    });
    const { code } = take('command-line-and-agents sh 3');
    const script = code.replace('$app', server.applicationId).replace('localhost:3000', `127.0.0.1:${receiver.port}`);
    const env = { HOME: place.folder, GATEHOUSE_URL: server.url, GATEHOUSE_KEY: server.workspaceKey };
    const { child, stdout, stderr } = place.spawn(['bash', '-c', `exec ${script}`], env);
    await eventually('it listens', () => /whsec_/.test(stdout.text() + stderr.text()));
    await signIn(server, 'heard@example.com', server.clientId);
    await eventually('the event is forwarded', () => events.includes('user.signed_in true'));
    child.kill();
    await child.exited;
    await receiver.stop(true);
  });

  test('names the address of the MCP server', async () => {
    expect(take('command-line-and-agents sh 4').code).toContain(`${server.url}/mcp`);
    const { url } = JSON.parse(take('command-line-and-agents json 1').code).mcpServers.gatehouse;
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'guide', version: '1' } },
    };
    const ask = (headers: Record<string, string>) =>
      fetch(url, {
        method: 'POST',
        body: JSON.stringify(initialize),
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      });
    expect((await ask({ authorization: `Bearer ${server.workspaceKey}` })).status).toBe(200);
    expect((await ask({})).status).toBe(401);
  });
});

test('the guide for agents reads the contents and a guide, and creates a key', async () => {
  const said = await shell(['command-line-and-agents sh 5', 'command-line-and-agents sh 6']);
  expect(said).toContain(`${server.url}/docs/guides/verify.md`);
  expect(said).toContain('# Verify in a backend');
  expect(said).toContain('"access":"read"');
});

test('every command and flag in README and guides exists', async () => {
  const texts = [readme, ...GUIDES.map(({ text }) => text)].join('\n');
  const named = [...texts.matchAll(/(?<=`|^)(?:\.\/)?gatehouse (?:help )?([a-z][^`\n|>]*)/gm)].map(
    ([, rest = '']) => rest,
  );
  expect(named.length).toBeGreaterThan(40);
  const helps = new Map<string, Promise<string>>();
  for (const rest of named) {
    const [command = '', ...words] = rest.trim().split(' ');
    // A subcommand has its own help; other words, such as `nginx` for `print`, are in the command's help.
    const subcommand = /^[a-z-]+$/.exec(words[0] ?? '')?.[0];
    const help = (...path: string[]) => place.run(['gatehouse', 'help', ...path]);
    const path = [command, ...(subcommand ? [subcommand] : [])];
    const key = path.join(' ');
    if (!helps.has(key))
      helps.set(
        key,
        help(...path).catch(() => help(command)),
      );
    const flags = words.filter((word) => word.startsWith('--'));
    for (const word of [...path, ...flags])
      expect([rest, await helps.get(key)]).toEqual([rest, expect.stringContaining(word)]);
  }
});

test('the guide’s backup is valid', async () => {
  expect(await verified).toContain('gatehouse.backup is good');
});

test('every block of every guide is tested', () => {
  expect(blocks.map(({ name }) => name).filter((name) => !taken.has(name))).toEqual([]);
});
