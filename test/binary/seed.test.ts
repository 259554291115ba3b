/** `serve --seed`, `apply` and `export` as processes: an instance matches its file before it is ready. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, request, run, signIn, startEphemeral, startServer } from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const SHOP = {
  slug: 'shop',
  name: 'Shop',
  stage: 'live',
  roles: [{ slug: 'buyer', isDefault: true }, { slug: 'editor' }],
  apiKeys: [{ name: 'backend', access: 'read', token: { env: 'SHOP_KEY' } }],
  users: [{ email: 'ada@example.com', roles: ['editor'] }],
};

function seedFile(content: unknown): { folder: string; file: string } {
  const { path: folder } = emptyFolder();
  const file = join(folder, 'seed.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return { folder, file };
}

const newKey = async () => (await run(['key'], { cwd: '/' })).stdout.trim();

describe('serve --seed', () => {
  test('fills an ephemeral instance before its line that it is ready', async () => {
    const { file } = seedFile({ applications: [SHOP] });
    const token = await newKey();
    const server = await startEphemeral(['--seed', file], { SHOP_KEY: token });
    const { items } = (await request(server, 'GET', '/api/applications', { token: server.workspaceKey })).json.data;
    const shop = items.find(({ slug }: { slug: string }) => slug === 'shop');
    expect(shop).toMatchObject({ stage: 'live', defaultRoles: ['buyer', 'user'] });
    expect(server.applicationId).not.toBe(shop.id);
    const session = await signIn(server, 'ada@example.com', shop.clientId);
    const verified = await request(server, 'POST', '/api/v1/verify', { token, body: { token: session.token } });
    expect(verified.json.data.roles).toEqual(['buyer', 'editor', 'user']);
    await server.stop();
    const ready = JSON.parse(await server.stdout.whole);
    expect(Object.keys(ready)).toEqual(['ready', 'url', 'workspaceId', 'workspaceKey', 'applicationId', 'clientId']);
    expect(await server.stderr.whole).not.toContain(token);
  });

  test('applies changes of the file at every start, and lists them', async () => {
    const { folder, file } = seedFile({ applications: [SHOP] });
    const data = join(folder, 'data');
    const env = { SHOP_KEY: await newKey() };
    const start = async () => {
      const server = await startServer(data, env, ['--seed', file]);
      await server.stop();
      return server.stdout.whole;
    };
    expect(await start()).toContain('seed.json: 5 created, 0 changed, 0 unchanged.');
    expect(await start()).toContain('seed.json: 0 created, 0 changed, 5 unchanged.');
    writeFileSync(file, JSON.stringify({ applications: [{ ...SHOP, name: 'Boutique', stage: 'test' }] }));
    const said = await start();
    expect(said).toContain('seed.json: 0 created, 1 changed, 4 unchanged.');
    expect(said).toContain('applications.0.stage: It stays live: a stage only moves forward.');
  });

  test('starts nothing with a missing or invalid file, and names the error', async () => {
    const { folder, file } = seedFile({ applications: [{ slug: 'shop', rolez: [] }] });
    const data = join(folder, 'data');
    const serve = (seed: string, ...flags: string[]) => run(['serve', '--seed', seed, ...flags], { cwd: folder });
    const wrong = await serve(file, '--data', data);
    expect(wrong).toMatchObject({ exitCode: 1, stdout: '' });
    expect(wrong.stderr).toContain('applications.0.rolez: This field is not known here; did you mean "roles"?');
    const missing = await serve('none.json', '--ephemeral');
    expect(missing).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'gatehouse: There is no file none.json.\n',
    });
    expect(existsSync(data)).toBe(false);
    // Errors that need the data are found before the first request, and end the server.
    const { file: late } = seedFile({
      applications: [{ slug: 'shop', users: [{ email: 'a@example.com', roles: ['x'] }] }],
    });
    const refused = await serve(late, '--ephemeral', '--no-follow-parent');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain('applications.0.users.0.roles.0: This role does not exist');
  });
});

test('apply and export work between servers, and the binary prints the schema of their file', async () => {
  const { folder, file } = seedFile({ applications: [{ ...SHOP, apiKeys: [] }] });
  const [from, to] = await Promise.all([startEphemeral(), startEphemeral()]);
  const at = ({ url, workspaceKey }: typeof from, ...args: string[]) =>
    run(args, { cwd: folder, env: { GATEHOUSE_URL: url, GATEHOUSE_KEY: workspaceKey } });
  expect(await at(from, 'apply', file)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await at(from, 'export', '--users', '--out', 'out.json')).toMatchObject({ exitCode: 0, stdout: '' });
  expect((await at(to, 'apply', 'out.json')).exitCode).toBe(0);
  expect((await at(to, 'export', '--users')).stdout).toBe(readFileSync(join(folder, 'out.json'), 'utf8'));
  expect(readdirSync(folder).sort()).toEqual(['out.json', 'seed.json']);
  const { stdout } = await run(['print', 'schema'], { cwd: folder });
  expect(JSON.parse(stdout).properties).toHaveProperty('applications');
  expect((await run(['apply'], { cwd: folder })).exitCode).toBe(2);
  await Promise.all([from.stop(), to.stop()]);
});
