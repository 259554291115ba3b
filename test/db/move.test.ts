/** Moving an instance between SQLite and PostgreSQL: nothing is lost, whatever happens meanwhile, and nothing is claimed. */
import { afterAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { StartupError } from '@/core/startup-error.ts';
import { moveInstance, type MoveStep } from '@/db/move/move.ts';
import type { MoveSource, MoveTarget } from '@/db/move/tables.ts';
import { readPostgresUrl } from '@/db/postgres/address.ts';
import { MIGRATION_LOCK, migratePostgres } from '@/db/postgres/migrate.ts';
import { openPostgresSource } from '@/db/postgres/move-source.ts';
import { openPostgresTarget } from '@/db/postgres/move-target.ts';
import { openPostgres } from '@/db/postgres/open.ts';
import { openFolderSource } from '@/db/sqlite/move-source.ts';
import { openFolderTarget } from '@/db/sqlite/move-target.ts';
import { lockDataFolder } from '@/db/sqlite/locks.ts';
import { openData } from '@/dependencies.ts';
import { UNMOVED_TABLES } from '@/store/unmoved-tables.ts';
import { FIXTURE_KEY } from '../fixtures/world.ts';
import { emptyFolder, eventually } from '../support/binary.ts';
import { allRows, inFolder, makeDataFolder } from '../support/folders.ts';
import { databaseUrl, dropPostgresDatabase, OWNER, postgresServer } from '../support/postgres.ts';

const scratch = emptyFolder();
const serverUrl = await postgresServer();
const admin = new SQL({ url: serverUrl, max: 1 });
const databases: string[] = [];
const clients: SQL[] = [admin];

afterAll(async () => {
  for (const client of clients) await client.close({ timeout: 0 });
  for (const url of databases) await dropPostgresDatabase(url);
  scratch.remove();
});

let count = 0;
const folderName = (name: string) => join(scratch.path, `${name}-${(count += 1)}`);

async function emptyDatabase(): Promise<{ url: string; sql: SQL }> {
  const name = `move_${process.pid}_${(count += 1)}`;
  await admin.unsafe(`CREATE DATABASE ${name} OWNER ${OWNER}`);
  const url = databaseUrl(serverUrl, name);
  databases.push(url);
  const sql = new SQL({ url, max: 4, bigint: true });
  clients.push(sql);
  return { url, sql };
}

const isMoved = (table: string) => !(table in UNMOVED_TABLES);
const rowsOf = (folder: string) => allRows(folder, isMoved);

interface Watch {
  readonly onStep?: (step: MoveStep) => void;
  readonly onRows?: (table: string) => void;
}

/** Moves between a source and the target that is opened for it, and closes both. */
async function moveBetween(source: MoveSource, open: () => Promise<MoveTarget>, watch: Watch = {}) {
  try {
    const target = await open();
    try {
      return await moveInstance(source, target, { onStep() {}, onRows() {}, ...watch });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function toPostgres(folder: string, sql: SQL, watch?: Watch) {
  const source = openFolderSource(folder, { isMoved, to: 'postgres://db/moved' });
  const target = { isMoved, key: source.key, binaryVersion: 'test', shown: 'db/moved' };
  return moveBetween(source, () => openPostgresTarget(sql, target), watch);
}

async function toFolder(sql: SQL, folder: string, watch?: Watch) {
  const source = await openPostgresSource(sql, { isMoved, keyBytes: FIXTURE_KEY, to: folder });
  const target = { isMoved, key: source.key, keyBytes: source.keyBytes };
  return moveBetween(source, async () => openFolderTarget(folder, target), watch);
}

/** Returns every column, index and constraint of a schema. */
async function shapeOf(sql: SQL): Promise<string[]> {
  const rows = (await sql.unsafe(
    `SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || a.attidentity::text || a.attgenerated::text AS text
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname NOT LIKE 'gatehouse%'
     UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated
     FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE 'gatehouse%'
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'gatehouse%'
     ORDER BY 1`,
  )) as { text: string }[];
  return rows.map(({ text }) => text);
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StartupError);
  return (error as Error).message;
}

describe('A move to PostgreSQL and back', () => {
  test('keeps every row of every table, in the schema of a new instance, and gives equal digests', async () => {
    const first = makeDataFolder(folderName('first'));
    const before = rowsOf(first);
    const { sql } = await emptyDatabase();
    const there = await toPostgres(first, sql);
    const second = folderName('second');
    const back = await toFolder(sql, second);
    expect(back.sha256).toBe(there.sha256);
    expect(back.tables).toEqual(there.tables);
    expect(rowsOf(second)).toEqual(before);
    expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
    const model = await emptyDatabase();
    await migratePostgres(model.sql, { binaryVersion: 'test' });
    expect((await shapeOf(sql)).filter((line) => !line.includes('gatehouse_moved'))).toEqual(await shapeOf(model.sql));
  });

  test('leaves a folder that a server opens, with its key, and no file that others can read', async () => {
    const { sql } = await emptyDatabase();
    await toPostgres(makeDataFolder(folderName('first')), sql);
    const folder = folderName('second');
    await toFolder(sql, folder);
    for (const name of ['gatehouse.db', 'instance.key']) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(join(folder, 'instance.key'), 'utf8'), 'base64url')).toEqual(
      Buffer.from(FIXTURE_KEY),
    );
    expect(existsSync(join(folder, 'move.unfinished'))).toBe(false);
    const schema = (path: string) =>
      inFolder(path, (sqlite) => sqlite.query('SELECT name, sql FROM sqlite_schema ORDER BY name').values());
    expect(schema(folder)).toEqual(schema(makeDataFolder(folderName('model'))));
    const data = await openData(folder);
    await data.close();
  });

  test('goes on numbering where the source stopped', async () => {
    const folder = makeDataFolder(folderName('first'));
    const last = inFolder(folder, (sqlite) => sqlite.query('SELECT max(id) AS id FROM code_failures').get()) as {
      id: number;
    };
    const { sql } = await emptyDatabase();
    await toPostgres(folder, sql);
    const [{ id }] = await sql.unsafe(
      "INSERT INTO code_failures (application_id, email, purpose, failed_at) VALUES ('app', 'a@example.com', 'sign_in', 1) RETURNING id",
    );
    expect(Number(id)).toBe(last.id + 1);
  });

  test('copies many records of the same people, whose addresses are entered on the way in any order', async () => {
    const folder = makeDataFolder(folderName('first'));
    inFolder(folder, (sqlite) =>
      sqlite.run(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11999)
        INSERT INTO audit_records (id, workspace_id, kind, ok, email, actor_type, created_at)
        SELECT printf('aud_%05d', i), 'wks_1', 'signin.succeeded', 1,
          CASE (i / 2000) % 2 WHEN 0 THEN i % 2000 ELSE 1999 - i % 2000 END || '-' || (i / 4000) || '@example.com', 'anonymous', i
        FROM n`),
    );
    const { sql } = await emptyDatabase();
    await toPostgres(folder, sql);
    const [{ entered }] = await sql.unsafe(
      "SELECT CAST(count(*) AS int) AS entered FROM address_search WHERE workspace_id = 'wks_1'",
    );
    expect(entered).toBe(6000);
  });

  test('keeps texts and bytes of every kind', async () => {
    const folder = makeDataFolder(folderName('first'));
    const names = ['', ' ', "O'Neill", '{"a",\\}', 'NULL', 'Łódź 🦊', 'a\nb\tc\r', '\u007f\u0080', '%_$1', 'é'];
    inFolder(folder, (sqlite) => {
      const insert = sqlite.prepare(
        "INSERT INTO users (id, kind, email, name, created_at, updated_at) VALUES (?, 'person', ?, ?, ?, 0)",
      );
      for (const [at, name] of names.entries())
        insert.run(`usr_${at}`, `${at}@example.com`, name, at % 2 ? -(2 ** 53) + 1 : 2 ** 53 - 1);
      const image = sqlite.prepare(
        "INSERT INTO user_images (user_id, kind, size, bytes, updated_at) VALUES ('usr_0', 'avatar', ?, ?, 0)",
      );
      for (const [size, bytes] of [
        new Uint8Array(),
        new Uint8Array([0, 255, 0]),
        new Uint8Array(100_000).fill(7),
      ].entries())
        image.run(size, bytes);
    });
    const before = rowsOf(folder);
    const { sql } = await emptyDatabase();
    await toPostgres(folder, sql);
    const second = folderName('second');
    await toFolder(sql, second);
    expect(rowsOf(second)).toEqual(before);
  });
});

describe('Changes while a server runs', () => {
  test('arrive, also where a unique value has gone from one row to another', async () => {
    const folder = makeDataFolder(folderName('first'));
    inFolder(folder, (sqlite) =>
      sqlite.run(`INSERT INTO users (id, kind, email, created_at, updated_at) VALUES
        ('usr_1', 'person', 'one@example.com', 1, 1), ('usr_2', 'person', 'two@example.com', 1, 1), ('usr_3', 'person', 'three@example.com', 1, 1)`),
    );
    const server = lockDataFolder(folder);
    const { sql } = await emptyDatabase();
    const steps: MoveStep[] = [];
    await toPostgres(folder, sql, {
      onStep(step) {
        steps.push(step);
        if (step === 'indexes')
          inFolder(folder, (sqlite) => {
            sqlite.run("UPDATE users SET email = 'x' WHERE id = 'usr_1'");
            sqlite.run("UPDATE users SET email = 'one@example.com' WHERE id = 'usr_2'");
            sqlite.run("UPDATE users SET email = 'two@example.com' WHERE id = 'usr_1'");
            sqlite.run("DELETE FROM users WHERE id = 'usr_3'");
          });
        if (step !== 'wait') return;
        inFolder(folder, (sqlite) => {
          sqlite.run(
            "INSERT INTO users (id, kind, email, created_at, updated_at) VALUES ('usr_0', 'person', 'zero@example.com', 1, 1)",
          );
          sqlite.run('DELETE FROM code_failures');
        });
        server.release();
      },
    });
    expect(steps).toEqual(['copy', 'indexes', 'catch up', 'wait', 'verify', 'complete']);
    const after = rowsOf(folder);
    const second = folderName('second');
    await toFolder(sql, second);
    expect(rowsOf(second)).toEqual(after);
    expect(after['users']?.filter((row) => row.includes('one@example.com'))).toHaveLength(1);
  });

  test('of a database end before its last pass, and are refused for good after it', async () => {
    const { sql } = await emptyDatabase();
    await toPostgres(makeDataFolder(folderName('first')), sql);
    const other = new SQL({ url: databases.at(-1)!, max: 1 });
    clients.push(other);
    const changes: Promise<unknown>[] = [];
    const second = folderName('second');
    await toFolder(sql, second, {
      onStep(step) {
        if (step === 'catch up') changes.push(other.unsafe("UPDATE workspaces SET name = 'Renamed'").execute());
        if (step === 'verify') changes.push(other.unsafe("UPDATE workspaces SET name = 'Lost'").execute());
      },
    });
    const [first, late] = await Promise.allSettled(changes);
    expect(first?.status).toBe('fulfilled');
    expect((late as PromiseRejectedResult).reason).toMatchObject({ errno: '25006' });
    const [row] = await other.unsafe('SELECT name FROM workspaces');
    expect(row).toEqual({ name: 'Renamed' });
    expect(rowsOf(second)['workspaces']?.every((row) => row.includes('Renamed'))).toBe(true);
  });
});

const stop = (at: MoveStep) => (now: MoveStep) => {
  if (now === at) throw new Error(`stopped at ${at}`);
};

describe('A move that ends in the middle', () => {
  for (const step of ['indexes', 'verify', 'complete'] as const)
    test(`goes on after ${step}, and its target is no instance until then`, async () => {
      const folder = makeDataFolder(folderName('first'));
      const before = rowsOf(folder);
      const { sql, url } = await emptyDatabase();
      await expect(toPostgres(folder, sql, { onStep: stop(step) })).rejects.toThrow('stopped');
      expect(await refusal(openServer(url))).toBe(
        'A move into this database is unfinished. Run it again, or name another database.',
      );
      await (await openData(folder)).close();
      await toPostgres(folder, sql);
      const second = folderName('second');
      await expect(toFolder(sql, second, { onStep: stop(step) })).rejects.toThrow('stopped');
      expect(await refusal(openData(second))).toContain(`A move into ${second} is unfinished.`);
      expect(await refusal(openData(second, { isServer: false }))).toContain('is unfinished');
      await (await openServer(url)).close();
      await toFolder(sql, second);
      expect(rowsOf(second)).toEqual(before);
    });

  test('goes on where it was killed between the source’s mark and the target’s', async () => {
    const folder = makeDataFolder(folderName('first'));
    const { sql } = await emptyDatabase();
    const source = openFolderSource(folder, { isMoved, to: 'postgres://db/moved' });
    const target = await openPostgresTarget(sql, { isMoved, key: source.key, binaryVersion: 'test', shown: 'db' });
    const killed = { ...target, activate: () => Promise.reject(new Error('killed')) };
    await expect(moveInstance(source, killed, { onStep() {}, onRows() {} })).rejects.toThrow('killed');
    await target.close();
    await source.close();
    expect(await refusal(openData(folder))).toContain('This instance was moved to postgres://db/moved: serve that.');
    await toPostgres(folder, sql);
    await expect(toFolder(sql, folderName('second'))).resolves.toBeDefined();
  });

  test('is no instance for a server that starts on the empty database at the same moment', async () => {
    const { sql, url } = await emptyDatabase();
    const other = new SQL({ url, max: 2 });
    clients.push(other);
    const holder = await other.reserve();
    await holder.unsafe(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const waiting = (count: number) =>
      eventually(`${count} wait for the lock`, async () => {
        const [row] = await other.unsafe(
          "SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
        return Number(row.count) === count || null;
      });
    const moved = toPostgres(makeDataFolder(folderName('first')), sql);
    await waiting(1);
    const started = refusal(openServer(url));
    await waiting(2);
    await holder.unsafe('COMMIT');
    holder.release();
    expect(await started).toContain('A move into this database is unfinished.');
    await moved;
    await (await openServer(url)).close();
  });

  test('is refused to another instance, and to a second move at the same time', async () => {
    const folder = makeDataFolder(folderName('first'));
    const { sql } = await emptyDatabase();
    await expect(toPostgres(folder, sql, { onStep: stop('verify') })).rejects.toThrow('stopped');
    const other = makeDataFolder(folderName('other'));
    await Bun.write(join(other, 'instance.key'), `${Buffer.alloc(32, 5).toString('base64url')}\n`);
    inFolder(other, (sqlite) => sqlite.run('PRAGMA application_id = 0'));
    expect(await refusal(toPostgres(other, sql))).toBe(
      'db/moved holds an unfinished move of another instance or version. Name an empty database with --to.',
    );
    let second: Promise<string> | undefined;
    await toPostgres(folder, sql, {
      onStep(step) {
        if (step === 'indexes') second = refusal(toPostgres(makeDataFolder(folderName('third')), sql));
      },
    });
    expect(await second).toBe('Another move into db/moved is running. Wait until it has ended.');
  });
});

describe('A move is refused', () => {
  test('into a database with tables, or with an instance', async () => {
    const folder = makeDataFolder(folderName('first'));
    const { sql } = await emptyDatabase();
    await sql.unsafe('CREATE TABLE invoices (id bigint)');
    expect(await refusal(toPostgres(folder, sql))).toBe(
      'db/moved is not empty: it holds invoices. Name an empty database with --to.',
    );
    const used = await emptyDatabase();
    await migratePostgres(used.sql, { binaryVersion: 'test' });
    expect(await refusal(toPostgres(folder, used.sql))).toBe(
      'db/moved already holds a Gatehouse instance. Name an empty database with --to.',
    );
    await (await openData(folder)).close();
  });

  test('into a folder with files', async () => {
    const { sql } = await emptyDatabase();
    await toPostgres(makeDataFolder(folderName('first')), sql);
    const folder = makeDataFolder(folderName('second'));
    expect(await refusal(toFolder(sql, folder))).toContain(`${folder} is not empty: it holds `);
  });

  test('of what is no instance, is not of this schema, or was moved already', async () => {
    const { sql } = await emptyDatabase();
    expect(await refusal(toFolder(sql, folderName('new')))).toContain('There is no Gatehouse');
    expect(await refusal((async () => toPostgres(folderName('missing'), sql))())).toContain(
      'There is no Gatehouse database',
    );
    const older = makeDataFolder(folderName('older'));
    inFolder(older, (sqlite) => sqlite.run('PRAGMA user_version = 12'));
    expect(await refusal((async () => toPostgres(older, sql))())).toContain('has schema 12');
    const folder = makeDataFolder(folderName('first'));
    await toPostgres(folder, sql);
    await toFolder(sql, folderName('second'));
    expect(await refusal(toFolder(sql, folderName('third')))).toContain('This instance was moved to');
    expect(
      await refusal((async () => openFolderSource(folder, { isMoved, to: 'postgres://elsewhere/x' }))()),
    ).toContain('This instance was moved to postgres://db/moved');
  });

  test('without the key of the instance, or with another', async () => {
    const { sql } = await emptyDatabase();
    await toPostgres(makeDataFolder(folderName('first')), sql);
    const open = (keyBytes: Uint8Array | null) => openPostgresSource(sql, { isMoved, keyBytes, to: '/x' });
    expect(await refusal(open(null))).toContain('GATEHOUSE_INSTANCE_KEY_FILE');
    expect(await refusal(open(new Uint8Array(32)))).toContain('The instance key is not the one of this database.');
  });

  test('where a row refers to a missing one, or holds what PostgreSQL cannot store', async () => {
    const folder = makeDataFolder(folderName('first'));
    inFolder(folder, (sqlite) => {
      sqlite.run('PRAGMA foreign_keys = OFF');
      sqlite.run("UPDATE sessions SET application_user_id = 'missing' WHERE id = (SELECT min(id) FROM sessions)");
    });
    const { sql } = await emptyDatabase();
    expect(await refusal(toPostgres(folder, sql))).toContain('A row of the source refers to a missing one:');
    inFolder(folder, (sqlite) => sqlite.run('UPDATE workspaces SET name = ?', ['a\0b']));
    expect(await refusal(toPostgres(folder, sql))).toContain('the character U+0000');
    await (await openData(folder)).close();
  });

  test('where the copy is not what was copied', async () => {
    const folder = makeDataFolder(folderName('first'));
    const { sql } = await emptyDatabase();
    await expect(toPostgres(folder, sql, { onStep: stop('verify') })).rejects.toThrow('stopped');
    await sql.unsafe(
      `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name = NEW.name || '!'; RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION spoil();
       DELETE FROM workspaces`,
    );
    expect(await refusal(toPostgres(folder, sql))).toBe(
      'workspaces still differs after it was copied. Nothing was switched over; run the move again.',
    );
    await (await openData(folder)).close();
  });
});

async function openServer(url: string) {
  const address = readPostgresUrl(url);
  if (typeof address === 'string') throw new Error(address);
  return openPostgres(
    { address, pool: 4, keyBytes: FIXTURE_KEY },
    {
      clock: systemClock,
      random: systemRandom,
      version: 'test',
      isServer: true,
      events: { onWaiting() {}, onMigration() {}, onOutage() {}, onSilence() {} },
    },
  );
}
