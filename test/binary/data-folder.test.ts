/** The data folder is private, belongs to one server, and stays unharmed by a binary that cannot serve it. */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '../../src/db/sqlite/migrate.ts';
import { BINARY, cleanEnvironment, emptyFolder, request, run, signIn, startServer } from '../support/binary.ts';
import { amount } from '../support/long.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

let scratch: ReturnType<typeof emptyFolder>;
let folder: string;
beforeEach(() => {
  scratch = emptyFolder();
  folder = join(scratch.path, 'data');
});
afterEach(() => scratch.remove());

/** Runs a start that must be refused. */
async function refusal(command = 'serve', env: Record<string, string> = {}) {
  const port = command === 'serve' ? ['--port', '0'] : [];
  const { stdout, stderr, exitCode } = await run([command, '--data', folder, ...port], { cwd: scratch.path, env });
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^gatehouse: [^\n]+\n$/);
  return stderr;
}

async function makeFolder(env: Record<string, string> = {}): Promise<void> {
  const server = await startServer(folder, env);
  await server.stop();
}

const kept = emptyFolder();
let isKept = false;

/** Copies the folder of a first start and a clean stop, which is made once. */
async function givenFolder(): Promise<void> {
  const path = join(kept.path, 'data');
  if (!isKept) {
    const server = await startServer(path);
    expect(await server.stop()).toBe(0);
    isKept = true;
  }
  await Bun.$`cp -a ${path} ${folder}`;
}

function change(sql: string): void {
  const sqlite = new Database(join(folder, 'gatehouse.db'));
  sqlite.run('PRAGMA journal_mode = DELETE');
  sqlite.run(sql);
  sqlite.close();
}

/** Returns the hash of every file by its name, without the lock file. */
function fingerprints(): Record<string, string> {
  const names = readdirSync(folder).filter((name) => name !== 'gatehouse.lock');
  return Object.fromEntries(
    names.sort().map((name) => [name, Bun.SHA256.hash(readFileSync(join(folder, name)), 'hex') as string]),
  );
}

function modes(path: string): Record<string, string> {
  const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
  return {
    '.': mode(path),
    ...Object.fromEntries(readdirSync(path).map((name) => [name, mode(join(path, name))])),
  };
}

describe('a new data folder', () => {
  test('is 0700 and its files are 0600, during and after a run, with any umask', async () => {
    const server = Bun.spawn(['sh', '-c', 'umask 000; exec "$0" "$@"', BINARY, 'serve', '--data', folder, '--port=0'], {
      cwd: scratch.path,
      env: cleanEnvironment({ GATEHOUSE_LOG_LEVEL: 'warn' }),
      stdout: 'pipe',
      stderr: 'ignore',
    });
    const { value } = await server.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toContain('Gatehouse is running');
    const link = Bun.spawn(['sh', '-c', 'umask 000; exec "$0" "$@"', BINARY, 'setup-link', '--data', folder], {
      env: cleanEnvironment(),
      stdout: 'ignore',
      stderr: 'ignore',
    });
    expect(await link.exited).toBe(0);
    const served = modes(folder);
    expect(Object.keys(served)).toEqual(
      expect.arrayContaining(['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.lock', 'instance.key']),
    );
    server.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    for (const { '.': own, ...files } of [served, modes(folder)]) {
      expect(own).toBe('700');
      expect([...new Set(Object.values(files))]).toEqual(['600']);
    }
  });

  test('is made with its parents, and nothing is written anywhere else', async () => {
    folder = join(scratch.path, 'deep', 'er', 'data');
    await makeFolder({ TMPDIR: scratch.path });
    expect(existsSync(join(folder, 'gatehouse.db'))).toBe(true);
    expect(readdirSync(scratch.path)).toEqual(['deep']);
  });

  test('has one database file after a clean stop, with the log checkpointed', async () => {
    await makeFolder();
    expect(readdirSync(folder).sort()).toEqual(['gatehouse.db', 'gatehouse.holder', 'gatehouse.lock', 'instance.key']);
  });
});

describe('serve refuses the data folder', () => {
  test('if a file has its name', async () => {
    writeFileSync(folder, 'mine');
    expect(await refusal()).toBe(`gatehouse: The data folder ${folder} is a file; name a folder with --data.\n`);
    expect(readFileSync(folder, 'utf8')).toBe('mine');
  });

  test.each([
    ['lies below a file', () => (writeFileSync(folder, ''), join(folder, 'below')), 'is a file. Name another folder'],
    ['is a link to nowhere', () => (symlinkSync('nowhere', folder), folder), 'is a link that leads to no folder; name'],
    ['is a link to itself', () => (symlinkSync('data', folder), folder), 'is a link that leads to no folder; name'],
    ['has too long a name', () => join(folder, 'a'.repeat(300)), 'is too long. Name another'],
    ['takes no folders', () => '/proc/gatehouse/data', 'Fix that, or name another folder with --data'],
    [
      'has a folder for its database',
      () => (mkdirSync(join(folder, 'gatehouse.db'), { recursive: true }), folder),
      'Move it',
    ],
    [
      'has a folder for its lock',
      () => (mkdirSync(join(folder, 'gatehouse.lock'), { recursive: true }), folder),
      'Fix that',
    ],
  ])('and names the remedy if it %s', async (_, make, remedy) => {
    folder = make();
    expect(await refusal()).toContain(remedy);
  });

  test.skipIf(process.getuid?.() !== 0)('because it is another user’s is refused, and the remedy named', async () => {
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(scratch.path, 0o711);
    for (const path of [folder, join(folder, 'below')]) {
      const args = ['--reuid=65534', '--regid=65534', '--clear-groups', BINARY, 'serve', '--port=0', '--data', path];
      const child = Bun.spawn(['setpriv', ...args], { env: cleanEnvironment(), stdout: 'ignore', stderr: 'pipe' });
      expect(await new Response(child.stderr).text()).toBe(
        `gatehouse: ${path} cannot be read and written by this user. Run Gatehouse as the user that it belongs to, give this one ` +
          'access to it, or name another folder with --data.\n',
      );
      expect(await child.exited).toBe(1);
    }
  });

  test('and names the remedy if no temporary one can be made', async () => {
    const env = { TMPDIR: join(scratch.path, 'none') };
    const { stderr, exitCode } = await run(['serve', '--ephemeral'], { cwd: scratch.path, env });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^gatehouse: No temporary folder .* in TMPDIR[^\n]*\n$/),
    ]);
  });

  test('if another instance runs on it, and leaves that one undisturbed', async () => {
    const server = await startServer(folder, { GATEHOUSE_OWNER_EMAIL: 'owner@example.com' });
    const { token } = await signIn(server, 'owner@example.com');
    expect(await refusal()).toContain('in use by another running instance');
    expect((await request(server, 'POST', '/api/v1/session', { token })).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  test('to all but one of four that start at once', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 4 }, () => startServer(folder)));
    const running = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    const refused = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason as Error] : []));
    await Promise.all(running.map((server) => server.stop()));
    expect(running).toHaveLength(1);
    for (const { message } of refused) expect(message).toContain('in use by another running instance');
  });
});

test('a damaged lock file is reported as that, not as a damaged database', async () => {
  await givenFolder();
  const lock = join(folder, 'gatehouse.lock');
  writeFileSync(lock, 'This is no lock, however long the text in the file may be. '.repeat(20));
  expect(await refusal()).toContain(`${lock} is not the lock that Gatehouse made. Remove it`);
  rmSync(lock);
  await makeFolder();
});

describe('the next start continues a first start', () => {
  test('that was killed at any moment', async () => {
    const kills = amount(4, 40);
    for (let kill = 0; kill < kills; kill += 1) {
      rmSync(folder, { recursive: true, force: true });
      const server = Bun.spawn([BINARY, 'serve', '--data', folder, '--port=0'], {
        cwd: scratch.path,
        env: cleanEnvironment(),
        stdout: 'ignore',
        stderr: 'ignore',
      });
      while (!existsSync(folder)) await Bun.sleep(0);
      await Bun.sleep((kill * 24) / kills);
      server.kill('SIGKILL');
      await server.exited;
      await makeFolder();
    }
  });

  test.each([
    ['the key alone', []],
    ['the key and an empty database', ['gatehouse.db']],
  ])('that left %s', async (_, files) => {
    mkdirSync(folder, { mode: 0o700 });
    for (const name of ['instance.key.new', ...files]) writeFileSync(join(folder, name), '', { mode: 0o600 });
    await makeFolder();
    expect(readdirSync(folder).sort()).toEqual(['gatehouse.db', 'gatehouse.holder', 'gatehouse.lock', 'instance.key']);
  });

  test('that left the key under its temporary name, with that key only', async () => {
    await givenFolder();
    const [named, unnamed] = [join(folder, 'instance.key'), join(folder, 'instance.key.new')];
    renameSync(named, unnamed);
    await makeFolder();
    expect(existsSync(unnamed)).toBe(false);
    rmSync(named);
    writeFileSync(unnamed, Buffer.alloc(32, 7).toString('base64url'), { mode: 0o600 });
    expect(await refusal()).toContain('is the key of another instance');
  });
});

describe('a database is refused', () => {
  test.each(['serve', 'setup-link'])('by %s and stays untouched if its schema is newer', async (command) => {
    await givenFolder();
    change(`PRAGMA user_version = ${SCHEMA_VERSION + 7}`);
    const before = fingerprints();
    const message = await refusal(command);
    expect(message).toContain(`has schema ${SCHEMA_VERSION + 7}, this binary knows ${SCHEMA_VERSION}`);
    expect(fingerprints()).toEqual(before);
  });

  test('and stays untouched if its schema is newer by the write-ahead log of a crash', async () => {
    await givenFolder();
    const script = `
      const sqlite = new (require('bun:sqlite').Database)(${JSON.stringify(join(folder, 'gatehouse.db'))});
      sqlite.run('PRAGMA user_version = ${SCHEMA_VERSION + 7}');
      process.kill(process.pid, 'SIGKILL');`;
    await Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'ignore' }).exited;
    const { 'gatehouse.db-shm': _, ...before } = fingerprints();
    expect(Object.keys(before)).toContain('gatehouse.db-wal');
    expect(await refusal()).toContain(`has schema ${SCHEMA_VERSION + 7}`);
    expect(fingerprints()).toMatchObject(before);
  });

  test.each([
    ['a text', 'This is not a database, however long the text in the file may be. '.repeat(10)],
    ['a stub', 'SQLite'],
  ])('and stays untouched if it is %s instead of SQLite', async (_, content) => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'gatehouse.db'), content, { mode: 0o600 });
    const before = fingerprints();
    expect(await refusal()).toContain('is not a SQLite database');
    expect(fingerprints()).toEqual(before);
  });

  test.each([
    ['cut short', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['overwritten in the middle', (whole: Buffer) => whole.fill(0xa5, 100, 20_000)],
  ])('with a message instead of a stack trace if it is %s', async (_, damage) => {
    await givenFolder();
    const path = join(folder, 'gatehouse.db');
    writeFileSync(path, damage(readFileSync(path)));
    expect(await refusal()).toContain(path);
  });

  test('if its instance key is missing, and no new key is made', async () => {
    await givenFolder();
    rmSync(join(folder, 'instance.key'));
    expect(await refusal()).toContain('instance.key is missing');
    expect(existsSync(join(folder, 'instance.key'))).toBe(false);
  });

  test.each([
    ['is gone', () => rmSync(join(folder, 'gatehouse.db'))],
    ['is empty', () => writeFileSync(join(folder, 'gatehouse.db'), '')],
    [
      'has nothing in it',
      () => {
        rmSync(join(folder, 'gatehouse.db'));
        change('VACUUM');
        chmodSync(join(folder, 'gatehouse.db'), 0o600);
      },
    ],
  ])('if it %s while an instance key exists, and no new instance is created', async (_, lose) => {
    await givenFolder();
    lose();
    const before = fingerprints();
    expect(await refusal()).toContain('Put back the database of this key');
    expect(fingerprints()).toEqual(before);
    rmSync(join(folder, 'instance.key'));
    rmSync(join(folder, 'gatehouse.db'), { force: true });
    await makeFolder();
  });

  test('and stays untouched if it belongs to another instance’s key', async () => {
    await givenFolder();
    const own = readFileSync(join(folder, 'instance.key'));
    writeFileSync(join(folder, 'instance.key'), Buffer.alloc(32, 7).toString('base64url'));
    const before = fingerprints();
    for (const command of ['serve', 'setup-link'])
      expect(await refusal(command)).toContain('is the key of another instance');
    expect(fingerprints()).toEqual(before);
    writeFileSync(join(folder, 'instance.key'), own);
    await makeFolder();
  });

  test('and stays untouched if it is another product’s', async () => {
    mkdirSync(folder);
    change('CREATE TABLE bookmarks (url TEXT)');
    chmodSync(join(folder, 'gatehouse.db'), 0o600);
    const before = fingerprints();
    expect(await refusal()).toContain('is the database of something else than Gatehouse');
    expect(fingerprints()).toEqual(before);
  });

  test('if its instance key is damaged', async () => {
    await givenFolder();
    writeFileSync(join(folder, 'instance.key'), 'short');
    expect(await refusal()).toContain('is damaged');
  });
});

describe('an address to listen on', () => {
  test('is reported with its port and exit code 1 if that is in use, before a folder is made', async () => {
    const squatter = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const { stderr, exitCode } = await run(['serve', '--data', folder, '--port', String(squatter.port)], {
      cwd: scratch.path,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Port ${squatter.port} on 127.0.0.1 is in use already`);
    expect(existsSync(folder)).toBe(false);
    await squatter.stop(true);
  });

  test.each(['203.0.113.9', 'nowhere.invalid'])('is reported as not this machine’s: %s', async (host) => {
    const { stderr, exitCode } = await run(['serve', '--data', folder, '--port=0', '--host', host], {
      cwd: scratch.path,
    });
    expect([exitCode, stderr]).toEqual([
      1,
      `gatehouse: ${host} is no address of this machine; give --host one that is, or 0.0.0.0 for all.\n`,
    ]);
  });
});
