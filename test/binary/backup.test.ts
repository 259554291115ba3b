/** Backup, restore and drill as an operator types them, with a running server and without one. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupsUnderLoad } from '../faults/backup-under-load.ts';
import { BINARY, cleanEnvironment, emptyFolder, readDatabase, request, run, startServer } from '../support/binary.ts';

setDefaultTimeout(120_000);

const scratch = emptyFolder();
const folder = join(scratch.path, 'data');
const backup = join(scratch.path, 'one.db');
let key: string;

const gatehouse = (...args: string[]) => run(args, { cwd: scratch.path });

beforeAll(async () => {
  key = (await gatehouse('key')).stdout.trim();
  const server = await startServer(folder, {
    GATEHOUSE_WORKSPACE_KEY: key,
    GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
  });
  await request(server, 'POST', '/api/applications', { token: key, body: { name: 'Backed up' } });
  const made = await gatehouse('backup', backup, '--data', folder);
  expect(made).toMatchObject({ exitCode: 0, stdout: '' });
  expect(made.stderr).toMatch(/one\.db: \d+ KiB, \d+ rows, [\d.]+ s, sha-256 [0-9a-f]{64}\n.*holds the instance key/);
  // Changes made after the backup are not in it.
  await request(server, 'POST', '/api/applications', { token: key, body: { name: 'Later' } });
  const refused = await gatehouse('restore', backup, '--data', folder, '--force');
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining('in use by another running instance'),
  ]);
  await server.stop();
});
afterAll(() => scratch.remove());

test('a backup made while the server runs is restored, and its credentials and codes work', async () => {
  const target = join(scratch.path, 'restored');
  const { exitCode, stdout } = await gatehouse('restore', backup, '--data', target);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`Restored ${backup} into ${target}.`);
  expect(stdout).toContain(`Next: gatehouse serve --data ${target}`);
  const server = await startServer(target);
  const { json } = await request(server, 'GET', '/api/applications', { token: key });
  expect(json.data.items.map(({ name }: { name: string }) => name)).toEqual(['Backed up']);
  const sent = await request(server, 'POST', '/api/v1/auth/otp/send', { body: { email: 'owner@example.com' } });
  expect(sent.status).toBe(200);
  await server.stop();
});

test('a backup never replaces a file of the instance, under any path of its folder', async () => {
  const link = join(scratch.path, 'by-another-name');
  symlinkSync(folder, link);
  const before = readFileSync(join(folder, 'instance.key'));
  for (const at of [folder, link])
    for (const name of ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.holder', 'instance.key', 'GATEHOUSE.DB']) {
      const { exitCode, stderr } = await gatehouse('backup', join(at, name), '--data', folder, '--force');
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is a file of the instance itself')]);
    }
  expect(readFileSync(join(folder, 'instance.key'))).toEqual(before);
  const beside = await gatehouse('backup', join(folder, 'copy.db'), '--data', folder);
  expect(beside.exitCode).toBe(0);
  rmSync(join(folder, 'copy.db'));
});

test('a restore into a folder in use needs --force, and says where the old files went', async () => {
  const refused = await gatehouse('restore', backup, '--data', folder);
  expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^gatehouse: [^\n]+ is not empty[^\n]+--force\.\n$/);
  const { exitCode, stdout } = await gatehouse('restore', backup, '--data', folder, '--force');
  expect(exitCode).toBe(0);
  const [, aside = ''] = /The previous files are in (\S+);/.exec(stdout) ?? [];
  const names = (path: string) =>
    readDatabase(path, (sqlite) =>
      sqlite.query("SELECT name FROM applications WHERE client_id <> 'console' ORDER BY id").values().flat(),
    );
  expect([names(folder), names(aside)]).toEqual([['Backed up'], ['Backed up', 'Later']]);
});

test('a drill restores, starts and counts, sends nothing, and leaves nothing', async () => {
  const { path, remove } = emptyFolder();
  const data = join(path, 'data');
  const calls: string[] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (call) => (calls.push(call.url), new Response(null, { status: 500 })),
  });
  const mailServer = Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    socket: { open: (socket) => (calls.push('mail'), void socket.end()), data() {} },
  });
  const env = {
    GATEHOUSE_WORKSPACE_KEY: key,
    GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
    GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8',
    GATEHOUSE_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}?tls=optional`,
  };
  const server = await startServer(data, env, ['--dev']);
  const post = (path: string, body: object) => request(server, 'POST', path, { token: key, body });
  const { id } = (await post('/api/applications', { name: 'Shop' })).json.data;
  await post(`/api/applications/${id}/webhooks`, { url: `${receiver.url.href}hook`, events: ['*'] });
  await post(`/api/applications/${id}/users/bulk`, { users: [{ email: 'ada@example.com', roleSlugs: ['user'] }] });
  const { items } = (await request(server, 'GET', `/api/applications/${id}/users`, { token: key })).json.data;
  await post(`/api/applications/${id}/users/${items[0].userId}/pause`, {});
  await post('/api/v1/auth/otp/send', { email: 'owner@example.com' });
  await server.stop();
  // Leaves a mail and a delivery due, as after a night without a network.
  const sqlite = new Database(join(data, 'gatehouse.db'));
  const due = [
    sqlite.run("UPDATE deliveries SET status = 'pending', next_attempt_at = 0").changes,
    sqlite.run("UPDATE mails SET status = 'queued', next_attempt_at = 0, expires_at = 9e12").changes,
  ];
  sqlite.close();
  expect(due.every((count) => count > 0)).toBe(true);
  expect((await run(['backup', join(path, 'two.db'), '--data', data], { cwd: path })).exitCode).toBe(0);
  calls.length = 0;

  const fromNow = Date.now();
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('gatehouse-verify-'));
  const others = folders();
  const { exitCode, stdout } = await run(['backup', 'verify', join(path, 'two.db')], {
    cwd: path,
    // A drill ignores the settings of the machine it runs on.
    env: { ...env, GATEHOUSE_BACKUP_TO: path, GATEHOUSE_PORT: '1' },
  });
  expect(stdout).toMatch(/two\.db is good: it was restored, started and answered\.\n/);
  expect(stdout).toMatch(/applications +2\n/);
  expect(exitCode).toBe(0);
  expect(calls).toEqual([]);
  expect(folders().filter((name) => !others.includes(name))).toEqual([]);
  expect(readdirSync(path).sort()).toEqual(['data', 'two.db']);
  expect(Date.now() - fromNow).toBeLessThan(20_000);
  await receiver.stop(true);
  mailServer.stop(true);
  remove();
});

test('an invalid backup exits with 1 and one clear line; wrong usage exits with 2', async () => {
  const path = join(scratch.path, 'bad');
  writeFileSync(path, (await Bun.file(backup).bytes()).subarray(0, 300_000));
  for (const command of [
    ['backup', 'verify', path],
    ['restore', path, '--data', join(scratch.path, 'nowhere')],
    ['backup', join(scratch.path, 'x.db'), '--data', join(scratch.path, 'nobody')],
    ['backup', backup, '--data', folder],
    ['backup', join(scratch.path, 'none/x.db'), '--data', folder],
  ]) {
    const { exitCode, stdout, stderr } = await gatehouse(...command);
    expect([command, exitCode, stdout]).toEqual([command, 1, '']);
    expect(stderr).toMatch(/^gatehouse: [^\n]+\n$/);
  }
  for (const command of [['backup'], ['restore'], ['backup', 's3://bucket'], ['backup', 'verify', 'a', 'b']])
    expect((await gatehouse(...command)).exitCode).toBe(2);
  expect(existsSync(join(scratch.path, 'x.db'))).toBe(false);
});

test('a backup can be written to standard output', async () => {
  const child = Bun.spawn(['sh', '-c', '"$0" backup - --data "$1" 2>/dev/null > piped.db', BINARY, folder], {
    cwd: scratch.path,
    env: cleanEnvironment(),
  });
  expect(await child.exited).toBe(0);
  expect((await gatehouse('backup', 'verify', 'piped.db')).stdout).toContain('piped.db is good');
  expect(readdirSync(folder).filter((name) => name.includes('backup-'))).toEqual([]);
});

test('a killed restore leaves either the old instance or the restored one', async () => {
  const target = join(scratch.path, 'killed');
  const name = () =>
    readDatabase(target, (sqlite) =>
      sqlite.query("SELECT count(*) FROM applications WHERE client_id <> 'console'").values().flat().join(),
    );
  const seen: string[] = [];
  for (const afterMs of [40, 90, 140, 200]) {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
    const empty = await startServer(target);
    await empty.stop();
    const child = Bun.spawn([BINARY, 'restore', backup, '--data', target, '--force'], {
      env: cleanEnvironment(),
      stdout: 'ignore',
      stderr: 'ignore',
    });
    await Bun.sleep(afterMs);
    child.kill('SIGKILL');
    await child.exited;
    const server = await startServer(target);
    await server.stop();
    seen.push(name());
    expect(readdirSync(target).filter((file) => file.startsWith('restore.'))).toEqual([]);
  }
  expect(seen.every((count) => count === '0' || count === '1')).toBe(true);
});

test('backups under load restore without damage, and a killed one leaves no file or a valid one', async () => {
  const { restored, killed } = await backupsUnderLoad(1);
  expect(restored.map(({ losses, faults }) => [losses, faults])).toEqual([[[], []]]);
  expect(killed).toHaveLength(1);
});
