/** Moves an instance to PostgreSQL and back by the command, with its server running, and with kills in the middle. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HELD } from '../fixtures/world.ts';
import {
  BINARY,
  cleanEnvironment,
  collect,
  emptyFolder,
  eventually,
  request,
  run,
  startServer,
} from '../support/binary.ts';
import { inFolder, makeDataFolder } from '../support/folders.ts';
import { type EmptyDatabase, emptyDatabases } from '../support/empty-postgres.ts';

setDefaultTimeout(120_000);

const scratch = emptyFolder();
const databases = await emptyDatabases();

afterAll(async () => {
  await databases.drop();
  await databases.admin.close();
  scratch.remove();
});

let count = 0;
const folderName = (name: string) => join(scratch.path, `${name}-${(count += 1)}`);

const passwords = new Set<string>();

async function emptyDatabase(): Promise<EmptyDatabase> {
  const database = await databases.create();
  passwords.add(new URL(database.url).password);
  return database;
}

function requireNoPassword(text: string): void {
  for (const password of passwords) expect(text).not.toContain(password);
}

async function gatehouse(args: string[], env: Record<string, string> = {}) {
  const ended = await run(args, { cwd: scratch.path, env });
  requireNoPassword(ended.stdout + ended.stderr);
  return ended;
}

function spawn(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([BINARY, 'move', ...args], {
    env: cleanEnvironment(env),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  return { child, stdout: collect(child.stdout), stderr: collect(child.stderr) };
}

/** Asks a server for something that only a working key of the instance may see. */
async function requireServed(server: { url: string }): Promise<void> {
  const { status, json } = await request(server, 'GET', '/api/workspace/api-keys', { token: HELD.workspaceKey });
  expect({ status, hasKeys: json.data.items.length > 0 }).toEqual({ status: 200, hasKeys: true });
}

const digestIn = (text: string) => /sha-256 (\w{64})/.exec(text)?.[1];

describe('An instance', () => {
  test('moves to PostgreSQL once its server has stopped, and back, with everything that it knows', async () => {
    const folder = makeDataFolder(folderName('first'));
    const key = { GATEHOUSE_INSTANCE_KEY_FILE: join(folder, 'instance.key') };
    const server = await startServer(folder);
    const { url } = await emptyDatabase();
    const urlFile = join(scratch.path, 'url');
    writeFileSync(urlFile, `${url}\n`);
    const { child, stdout, stderr } = spawn(['--data', folder, '--to-file', urlFile]);
    await stderr.until(new RegExp(`Stop the server \\(process ${server.process.pid}\\) now\\.`));
    await requireServed(server);
    expect(await server.stop()).toBe(0);
    const moved = await stdout.whole;
    expect(await child.exited).toBe(0);
    expect(moved).toContain(`Moved ${folder} to PostgreSQL at `);
    requireNoPassword(moved + stderr.text());

    const refused = await gatehouse(['serve', '--data', folder, '--port', '0']);
    expect({ exitCode: refused.exitCode, stderr: refused.stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('This instance was moved to PostgreSQL at '),
    });
    const onPostgres = await startServer('', { GATEHOUSE_DATABASE_URL: url, ...key });
    await requireServed(onPostgres);
    await onPostgres.stop();

    const second = folderName('second');
    const back = await gatehouse(['move', '--to', second], { GATEHOUSE_DATABASE_URL: url, ...key });
    expect({ exitCode: back.exitCode, stderr: back.stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(digestIn(back.stdout)).toBeString();
    const again = await startServer(second);
    await requireServed(again);
    await again.stop();
    const left = await gatehouse(['serve', '--port', '0'], { GATEHOUSE_DATABASE_URL: url, ...key });
    expect({ exitCode: left.exitCode, stderr: left.stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining(`This instance was moved to ${second}: serve that.`),
    });
  });
});

describe('A move that is killed', () => {
  test('goes on with the same command, in both directions', async () => {
    const folder = makeDataFolder(folderName('first'));
    inFolder(folder, (sqlite) =>
      sqlite.run(
        `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 30000)
         INSERT INTO audit_records (id, kind, ok, actor_type, detail, created_at)
         SELECT printf('aud_%010d', n), 'signin.succeeded', 1, 'anonymous', json_object('text', hex(randomblob(200))), n FROM numbers`,
      ),
    );
    const rows = inFolder(folder, (sqlite) => sqlite.query('SELECT count(*) FROM audit_records').values())[0]?.[0];
    const database = await emptyDatabase();
    const { url } = database;
    const sql = database.client();
    const countThere = async () => Number((await sql.unsafe('SELECT count(*) AS count FROM audit_records'))[0].count);
    const key = { GATEHOUSE_INSTANCE_KEY_FILE: join(folder, 'instance.key') };

    const there = spawn(['--data', folder, '--to', url]);
    await eventually('rows arrive', async () => (await countThere().catch(() => 0)) || null);
    there.child.kill('SIGKILL');
    await there.child.exited;
    const unfinished = await gatehouse(['serve', '--port', '0'], { GATEHOUSE_DATABASE_URL: url, ...key });
    expect(unfinished.stderr).toContain('A move into this database is unfinished. Run it again');
    const moved = await gatehouse(['move', '--data', folder, '--to', url]);
    expect({ exitCode: moved.exitCode, stderr: moved.stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(await countThere()).toBe(rows as number);

    const second = folderName('second');
    const back = spawn(['--to', second], { GATEHOUSE_DATABASE_URL: url, ...key });
    const staged = join(second, 'move.unfinished');
    const countHere = () => inFolder(staged, (sqlite) => sqlite.query('SELECT count(*) FROM audit_records').values());
    const isBegun = () => {
      try {
        return countHere()[0]?.[0] || null;
      } catch {
        return null;
      }
    };
    await eventually('rows arrive', isBegun);
    back.child.kill('SIGKILL');
    await back.child.exited;
    const serve = await gatehouse(['serve', '--data', second, '--port', '0']);
    expect(serve.stderr).toContain(`A move into ${second} is unfinished. Run it again, or remove ${staged}.`);
    const ended = await gatehouse(['move', '--to', second], { GATEHOUSE_DATABASE_URL: url, ...key });
    expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(digestIn(ended.stdout)).toBe(digestIn(moved.stdout));
  });
});

describe('The command', () => {
  test('says what is wrong with its target', async () => {
    const folder = makeDataFolder(folderName('first'));
    const said = async (args: string[], env: Record<string, string> = {}) => {
      const { exitCode, stderr } = await gatehouse(['move', ...args], env);
      return `${exitCode} ${stderr}`;
    };
    const data = ['--data', folder];
    const database = { GATEHOUSE_DATABASE_URL: 'postgres://gatehouse:hunter2@127.0.0.1:1/gatehouse' };
    expect(await said(data)).toStartWith('2 gatehouse: Say where to: --to');
    expect(await said([...data, '--to', folderName('x')])).toStartWith(
      '2 gatehouse: Source and target are both folders.',
    );
    expect(await said(['--to', 'postgres://a@b/c'], database)).toStartWith(
      '2 gatehouse: Source and target are both Postgre',
    );
    expect(await said([...data, '--to', 'postgres://nowhere'])).toStartWith('2 gatehouse: --to: give postgres://user');
    expect(await said([...data, '--to-file', '/missing'])).toStartWith(
      '1 gatehouse: /missing cannot be read (--to-file)',
    );
    expect(await said([...data, '--to', database.GATEHOUSE_DATABASE_URL])).toContain('is away');
  });
});
