/** The command line against a server, from login to logout, both the compiled binary. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BINARY,
  cleanEnvironment,
  collect,
  emptyFolder,
  type EphemeralServer,
  request,
  run,
  signIn,
  startEphemeral,
} from '../support/binary.ts';
import { startReceiver } from '../support/receiver.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

let server: EphemeralServer;
const home = emptyFolder();
beforeAll(async () => {
  const env = { GATEHOUSE_OWNER_EMAIL: 'owner@example.com', GATEHOUSE_LIMIT_DEVICE_POLL_SECONDS: '1' };
  server = await startEphemeral([], env);
});
afterAll(() => server.stop());

const here = { XDG_CONFIG_HOME: join(home.path, 'config'), NO_COLOR: '1' };
const gatehouse = (...args: string[]) => run(args, { cwd: home.path, env: here });

/** Starts a command that runs until it is stopped. */
function start(...args: string[]) {
  const child = Bun.spawn([BINARY, ...args], {
    cwd: home.path,
    env: cleanEnvironment(here),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  return { child, stdout: collect(child.stdout), stderr: collect(child.stderr) };
}

test('login, whoami, an application, people, and logout', async () => {
  const login = start('login', '--url', server.url);
  const [user_code] = /[A-Z0-9]{4}-[A-Z0-9]{4}/.exec(await login.stdout.until(/Ctrl-C cancels\.\n/))!;
  const owner = await signIn(server, 'owner@example.com', 'console');
  await request(server, 'POST', '/api/account/device/approve', { token: owner.token, body: { user_code } });
  expect(await login.stdout.whole).toEndWith(
    `Logged in to ${server.url} as owner@example.com. The login ends after 90 days.\n`,
  );
  expect([await login.child.exited, await login.stderr.whole]).toEqual([0, '']);
  expect(statSync(join(here.XDG_CONFIG_HOME, 'gatehouse/credentials.json')).mode & 0o777).toBe(0o600);

  expect((await gatehouse('whoami')).stdout).toContain('owner@example.com');
  const made = await gatehouse('apps', 'create', 'Bakery', '--json');
  expect(JSON.parse(made.stdout)).toMatchObject({ slug: 'bakery', stage: 'draft' });
  writeFileSync(join(home.path, 'users.csv'), 'email,roles\nada@example.com,developer\nbob@example.com,\n');
  const imported = await gatehouse('users', 'import', 'users.csv', '--app', 'bakery');
  expect([imported.exitCode, imported.stdout]).toEqual([0, '2 created, 0 linked, 0 there already, 0 skipped.\n']);
  const listed = await gatehouse('users', 'list', '--app', 'bakery', '--role', 'developer', '--json');
  expect(JSON.parse(listed.stdout).items).toMatchObject([{ email: 'ada@example.com' }]);
  expect([listed.exitCode, listed.stderr]).toEqual([0, '']);

  expect(await gatehouse('logout')).toEqual({ exitCode: 0, stderr: '', stdout: `Logged out of ${server.url}.\n` });
  expect((await gatehouse('whoami')).stderr).toBe(
    'gatehouse: You are not logged in. Run: gatehouse login --url https://…\n',
  );
});

test('webhooks listen forwards signed events until it is stopped', async () => {
  const key = join(home.path, 'key');
  writeFileSync(key, server.workspaceKey);
  const receiver = await startReceiver();
  const target = ['--url', server.url, '--key-file', key, '--app', server.applicationId];
  const { child, stdout, stderr } = start('webhooks', 'listen', '--forward', receiver.url, ...target);
  const [, secret] = /Signing secret: (\S+)/.exec(await stderr.until(/Ready\.\n/))!;
  receiver.trust(secret!);
  await signIn(server, 'ada@example.com', server.clientId);
  await stdout.until(/user\.signed_in +evt_\w+ {2}200 in \d+ ms\n/);
  child.kill('SIGTERM');
  expect([await child.exited, receiver.received.map(({ event }) => event.type)]).toEqual([0, ['user.signed_in']]);
  await receiver.close();
});

test('a closed output pipe is not an error', async () => {
  const key = join(home.path, 'key');
  writeFileSync(key, server.workspaceKey);
  const command = `"$0" users export --url ${server.url} --key-file "$1" --app ${server.applicationId} | true`;
  const child = Bun.spawn(['sh', '-c', command, BINARY, key], { env: cleanEnvironment(here), stderr: 'pipe' });
  expect(await new Response(child.stderr).text()).toBe('');
});
