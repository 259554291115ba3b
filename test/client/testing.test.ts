/** Servers for integration tests: started by one call, signed in to by another, and always stopped. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import { join } from 'node:path';
import { createClient, createVerifier, type GatehouseError, type VerificationRefused } from '@/client/gatehouse.ts';
import { type EphemeralServer, startEphemeral } from '@/client/testing.ts';
import { VERSION } from '@/version.ts';
import { BINARY, cleanEnvironment, emptyFolder, eventually } from '../support/binary.ts';
import { postgresServer } from '../support/postgres.ts';

setDefaultTimeout(120_000);

const started: EphemeralServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

const isGone = async ({ url }: { url: string }) =>
  await fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );

const thrownBy = <Thrown>(promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error: unknown) => error as Thrown,
  );

describe('an ephemeral server', () => {
  test('signs hundreds of people in, some twice concurrently, shows their mails and moves its clock', async () => {
    const server = await startEphemeral({ binary: BINARY, version: VERSION });
    started.push(server);
    const { verify } = createVerifier({ url: server.url, apiKey: server.workspaceKey });
    const emails = [...Array(100).keys()].map((number) => `ada${number % 50}@example.com`);
    const sessions = await Promise.all(emails.map((email) => server.signIn(email)));
    const identities = await Promise.all(sessions.map(({ token }) => verify(token)));
    expect(identities.map(({ email }) => email)).toEqual(emails);
    expect(sessions.every(({ applicationId }) => applicationId === server.applicationId)).toBe(true);

    const [mail] = await server.outbox('ada7@example.com');
    expect(mail).toMatchObject({ to: 'ada7@example.com', code: expect.stringMatching(/^\d{6}$/) });
    await server.clearOutbox();
    expect(await server.outbox()).toEqual([]);

    const last = await server.signIn('last@example.com');
    const left = Date.parse(last.expiresAt) - Date.parse(await server.advance(0));
    expect(await server.advance(left)).toBeString();
    const refusal = await thrownBy<VerificationRefused>(verify(last.token));
    expect(refusal.reason).toBe('expired');

    await server.stop();
    await server.stop();
    expect(await isGone(server)).toBe(true);
  });

  test('takes settings, and ignores the environment it is started from', async () => {
    process.env['GATEHOUSE_BASE_URL'] = 'not an address';
    try {
      const server = await startEphemeral({ binary: BINARY, env: { GATEHOUSE_OWNER_EMAIL: 'boss@example.com' } });
      started.push(server);
      expect((await server.signIn('boss@example.com', 'console')).token).toStartWith('est_');
      await server.stop();
    } finally {
      delete process.env['GATEHOUSE_BASE_URL'];
    }
  });

  test('starts with the applications, roles and people of a seed, and shows its log', async () => {
    const seed = {
      applications: [
        {
          slug: 'shop',
          name: 'Shop',
          stage: 'live',
          roles: [{ slug: 'editor' }],
          users: [{ email: 'ada@example.com', roles: ['editor'] }],
        },
      ],
    };
    const file = join(emptyFolder().path, 'seed.json');
    await Bun.write(file, JSON.stringify(seed));
    for (const given of [seed, file]) {
      const lines: string[] = [];
      const server = await startEphemeral({ binary: BINARY, seed: given, onLog: (line) => lines.push(line) });
      started.push(server);
      const { all } = createClient({ url: server.url, apiKey: server.workspaceKey });
      const applications = await Array.fromAsync(all('/api/applications'));
      const shop = applications.find(({ slug }) => slug === 'shop');
      const { token } = await server.signIn('ada@example.com', shop?.clientId);
      const { verify } = createVerifier({ url: server.url, apiKey: server.workspaceKey });
      expect((await verify(token)).roles).toContain('editor');
      await server.stop();
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.every((line) => line !== '' && !line.includes('\n'))).toBe(true);
    }
    const wrong = await thrownBy<GatehouseError>(startEphemeral({ binary: BINARY, seed: { applicatons: [] } }));
    expect(wrong.message).toMatch(/did you mean "applications"/);
  });

  test('has a PostgreSQL database of its own if a server is given, dropped at its end', async () => {
    const databaseUrl = await postgresServer();
    await using admin = new SQL({ url: databaseUrl, max: 1 });
    const names = async () =>
      (await admin.unsafe(`SELECT datname AS name FROM pg_database WHERE datname LIKE 'gatehouse_ephemeral_%'`)) as {
        name: string;
      }[];
    const before = (await names()).length;
    const servers = await Promise.all([1, 2].map(() => startEphemeral({ binary: BINARY, databaseUrl })));
    started.push(...servers);
    expect((await names()).length).toBe(before + 2);
    for (const server of servers) {
      const { verify } = createVerifier({ url: server.url, apiKey: server.workspaceKey });
      const { token } = await server.signIn('ada@example.com');
      expect((await verify(token)).email).toBe('ada@example.com');
      // Only its own: the other has mailed to the same address.
      expect(await server.outbox()).toHaveLength(1);
      await server.advance(31 * 24 * 3600_000);
      expect((await thrownBy<VerificationRefused>(verify(token))).reason).toBe('expired');
    }
    await Promise.all(servers.map((server) => server.stop()));
    expect((await names()).length).toBe(before);
  });

  test('reports why it could not start', async () => {
    const messageOf = async (options: Parameters<typeof startEphemeral>[0]) =>
      (await thrownBy<GatehouseError>(startEphemeral(options))).message;
    expect(await messageOf({ binary: '/nowhere/gatehouse' })).toStartWith('There is no /nowhere/gatehouse: give');
    expect(await messageOf({ binary: BINARY, version: '99.0.0' })).toContain('not gatehouse 99.0.0');
    expect(await messageOf({ binary: BINARY, env: { GATEHOUSE_PORT: 'many' } })).toContain('GATEHOUSE_PORT');
    expect(await messageOf({ binary: BINARY, timeoutMs: 1 })).toContain('not ready within 1 ms');
  });
});

describe('the starting process', () => {
  const folder = emptyFolder().path;
  const testing = join(import.meta.dir, '../../src/client/testing.ts');

  async function runner(rest: string) {
    const path = join(folder, `${Bun.randomUUIDv7()}.ts`);
    const start = `import { startEphemeral } from ${JSON.stringify(testing)};
      const server = await startEphemeral({ binary: ${JSON.stringify(BINARY)} });
      process.stdout.write(server.url + '\\n');`;
    await Bun.write(path, `${start}\n${rest}`);
    const child = Bun.spawn([process.execPath, path], { cwd: folder, env: cleanEnvironment(), stdout: 'pipe' });
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    return { child, url: new TextDecoder().decode(value).trim() };
  }

  test('may exit without stopping the server, which then ends as well', async () => {
    const { child, url } = await runner('');
    expect(await child.exited).toBe(0);
    await eventually('the server is gone', () => isGone({ url }));
  });

  test('may be killed, and the server ends as well', async () => {
    const { child, url } = await runner('setInterval(() => {}, 1000);');
    expect(await isGone({ url })).toBe(false);
    child.kill('SIGKILL');
    await child.exited;
    await eventually('the server is gone', () => isGone({ url }));
  });
});
