/** The PostgreSQL engine over real connections: concurrent changes, lookups of one turn, lost connections, errors. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { SQL } from 'bun';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import { AppError } from '@/core/error.ts';
import { systemRandom } from '@/core/random.ts';
import { type Database, topic, type Unit } from '@/db/database.ts';
import { cachedRow } from '@/db/lookups.ts';
import { openPostgresEngine } from '@/db/postgres/engine.ts';
import { change, pipelinedChange, query, savepoint } from '@/db/statements.ts';
import { eventually } from '../../support/eventually.ts';
import { type EmptyDatabases, emptyDatabases } from '../../support/empty-postgres.ts';

const LANES = { lookups: 1, reads: 2, longReads: 1, changes: 6 };

let databases: EmptyDatabases;
let db: Database;
let client: SQL;
let url: string;
let outages: unknown[];
let statements: string[];

beforeAll(async () => {
  databases = await emptyDatabases();
});
beforeEach(async () => {
  const database = await databases.create();
  client = database.client();
  url = database.url;
  await client.unsafe(
    'CREATE TABLE people (id text PRIMARY KEY, name text UNIQUE, hash bytea UNIQUE, n bigint NOT NULL)',
  );
  outages = [];
  statements = [];
  db = await openPostgresEngine({
    urls: [url],
    tls: false,
    isBouncer: false,
    lanes: LANES,
    clock: systemClock,
    random: systemRandom,
    slow: { thresholdMs: 0, report: (sql) => void statements.push(sql) },
    events: { onOutage: (error) => void outages.push(error), onSilence() {} },
  });
});
afterEach(async () => {
  await db.close();
  await databases.drop();
});
afterAll(() => databases.drop());

const insert = change<{ id: string; name: string; hash: Uint8Array; n: number }>(
  'INSERT INTO people (id, name, hash, n) VALUES (:id, :name, :hash, :n)',
);
const numberOf = query.value<number, string>('SELECT n FROM people WHERE id = :id');
const setNumber = change<{ id: string; n: number }>('UPDATE people SET n = :n WHERE id = :id');
const setName = change<{ id: string; name: string }>('UPDATE people SET name = :name WHERE id = :id');
const renamePipelined = pipelinedChange<{ id: string; name: string }>('UPDATE people SET name = :name WHERE id = :id');
const setNumberPipelined = pipelinedChange<{ id: string; n: number }>('UPDATE people SET n = :n WHERE id = :id');
const hashOf = (name: string) => Bun.SHA256.hash(name) as Uint8Array;

async function add(...names: string[]): Promise<void> {
  await db.write(SYSTEM_ACTOR, async (unit) => {
    for (const name of names) await insert(unit, { id: name, name, hash: hashOf(name), n: 0 });
  });
}

async function increase(unit: Unit, id: string): Promise<number> {
  const n = (await numberOf(unit, id)) as number;
  await setNumber(unit, { id, n: n + 1 });
  return n + 1;
}

describe('concurrent changes', () => {
  test('of one row lose no update, and each gets its own result', async () => {
    await add('ada');
    const results = await Promise.all(
      Array.from({ length: 20 }, () => db.write(SYSTEM_ACTOR, (unit) => increase(unit, 'ada'))),
    );
    expect(results.sort((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(await numberOf(db.reader, 'ada')).toBe(20);
    expect(db.metrics.conflicts).toBeGreaterThan(0);
  });

  test('that check each other’s rows keep their rule, and only one is acknowledged', async () => {
    await add('ada', 'bob');
    // At most one of the two may be 1.
    const claim = (own: string, other: string) =>
      db.write(SYSTEM_ACTOR, async (unit) => {
        if ((await numberOf(unit, other)) === 1) return false;
        await setNumber(unit, { id: own, n: 1 });
        return true;
      });
    const claimed = await Promise.all([claim('ada', 'bob'), claim('bob', 'ada')]);
    expect(claimed.filter(Boolean)).toHaveLength(1);
  });

  test('publish their messages once, after the run that was committed', async () => {
    await add('ada');
    const INCREASED = topic<number>('increased');
    const seen: number[] = [];
    db.onCommit(INCREASED, (messages) => seen.push(...messages));
    await Promise.all(
      Array.from({ length: 10 }, () =>
        db.write(SYSTEM_ACTOR, async (unit) => unit.publish(INCREASED, await increase(unit, 'ada'))),
      ),
    );
    expect(seen.sort((left, right) => left - right)).toEqual(Array.from({ length: 10 }, (_, at) => at + 1));
  });
});

describe('a change', () => {
  test('that throws changes nothing', async () => {
    const failing = db.write(SYSTEM_ACTOR, async (unit) => {
      await insert(unit, { id: 'ada', name: 'ada', hash: hashOf('ada'), n: 1 });
      throw new AppError('conflict');
    });
    expect(await failing.catch((error: unknown) => (error as AppError).code)).toBe('conflict');
    expect(await numberOf(db.reader, 'ada')).toBeUndefined();
  });

  test('goes on after a part of it failed on a unique value', async () => {
    await add('ada', 'bob');
    await db.write(SYSTEM_ACTOR, async (unit) => {
      const taken = await savepoint(unit, () => setName(unit, { id: 'bob', name: 'ada' })).catch(() => 'taken');
      expect(taken).toBe('taken');
      await setNumber(unit, { id: 'bob', n: 7 });
    });
    expect(await numberOf(db.reader, 'bob')).toBe(7);
  });

  test('with a pipelined statement that fails changes nothing, and says why', async () => {
    await add('ada', 'bob');
    const rename = db.write(SYSTEM_ACTOR, async (unit) => {
      await setNumber(unit, { id: 'bob', n: 7 });
      await renamePipelined(unit, { id: 'bob', name: 'ada' });
      return numberOf(unit, 'bob');
    });
    expect(await rename.catch((error: { errno: string }) => error.errno)).toBe('23505');
    expect(await numberOf(db.reader, 'bob')).toBe(0);
  });

  test('whose last statement is pipelined is not acknowledged where it fails', async () => {
    await add('ada', 'bob');
    const rename = db.write(SYSTEM_ACTOR, (unit) => renamePipelined(unit, { id: 'bob', name: 'ada' }));
    expect(await rename.catch((error: { errno: string }) => error.errno)).toBe('23505');
  });

  test('runs again where a pipelined statement conflicts, and loses no update', async () => {
    await add('ada');
    await Promise.all(
      Array.from({ length: 20 }, () =>
        db.write(SYSTEM_ACTOR, async (unit) => {
          const n = (await numberOf(unit, 'ada')) as number;
          await setNumberPipelined(unit, { id: 'ada', n: n + 1 });
        }),
      ),
    );
    expect(await numberOf(db.reader, 'ada')).toBe(20);
    expect(db.metrics.conflicts).toBeGreaterThan(0);
  });

  test('goes on after a part of it with a pipelined statement has failed', async () => {
    await add('ada', 'bob');
    await db.write(SYSTEM_ACTOR, async (unit) => {
      const part = savepoint(unit, () => renamePipelined(unit, { id: 'bob', name: 'ada' }));
      expect(await part.catch((error: { errno: string }) => error.errno)).toBe('23505');
      await setNumberPipelined(unit, { id: 'bob', n: 7 });
    });
    expect(await numberOf(db.reader, 'bob')).toBe(7);
  });

  test('cannot be used after its end', async () => {
    let kept: Unit | undefined;
    await db.write(SYSTEM_ACTOR, async (unit) => void (kept = unit));
    expect(numberOf(kept as Unit, 'ada')).rejects.toThrow('after its end');
  });

  test('with a statement that nobody awaits is refused', async () => {
    await add('ada');
    const work = async (unit: Unit) => void numberOf(unit, 'ada');
    expect(db.write(SYSTEM_ACTOR, work)).rejects.toThrow('was awaited');
  });
});

describe('an error of the server', () => {
  test('quotes no value of a row, since it is logged', async () => {
    await add('secret-name');
    const error = await db
      .write(SYSTEM_ACTOR, (unit) => insert(unit, { id: 'x', name: 'secret-name', hash: hashOf('x'), n: 0 }))
      .catch((failure: unknown) => failure);
    expect(Bun.inspect(error)).toContain('duplicate key');
    expect(Bun.inspect(error)).not.toContain('secret-name');
  });
});

const byHash = cachedRow<{ id: string; n: number }>({
  sql: 'SELECT p.id, p.n FROM people p WHERE p.hash = :hash',
  rowIds: ({ id }) => [id],
  rowTables: ['people'],
});
const asItIs = (row: { id: string; n: number }) => row;

describe('lookups', () => {
  test('of one turn travel as one statement, and each caller gets its own row', async () => {
    await add('ada', 'bob', 'eve');
    statements.length = 0;
    const names = ['bob', 'nobody', 'ada', 'eve', 'ada'];
    const found = await Promise.all(names.map((name) => byHash(db.reader, hashOf(name), asItIs)));
    expect(found.map((row) => row?.id)).toEqual(['bob', undefined, 'ada', 'eve', 'ada']);
    expect(statements).toHaveLength(1);
  });

  test('show what another connection has committed', async () => {
    await add('ada');
    await byHash(db.reader, hashOf('ada'), asItIs);
    await client.unsafe('UPDATE people SET n = 5');
    expect((await byHash(db.reader, hashOf('ada'), asItIs))?.n).toBe(5);
  });

  test('inside a change show what it has written', async () => {
    await add('ada');
    const seen = await db.write(SYSTEM_ACTOR, async (unit) => {
      await setNumber(unit, { id: 'ada', n: 9 });
      return byHash(unit, hashOf('ada'), asItIs);
    });
    expect(seen?.n).toBe(9);
  });
});

describe('lost connections', () => {
  const endAll = () =>
    databases.admin.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse' AND datname = $1",
      [new URL(url).pathname.slice(1)],
    );

  test('are replaced, and neither reads nor changes are refused', async () => {
    await add('ada');
    for (let round = 1; round <= 3; round += 1) {
      await endAll();
      expect(await numberOf(db.reader, 'ada')).toBe(round - 1);
      await db.write(SYSTEM_ACTOR, (unit) => increase(unit, 'ada'));
    }
    expect(outages).toEqual([]);
    expect(db.status().outage).toBeNull();
  });

  test('to a server that takes no changes refuse everything until it does again', async () => {
    await add('ada');
    const name = new URL(url).pathname.slice(1);
    await databases.admin.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await endAll();
    await eventually('the loss is noticed', () => db.status().outage !== null);
    const refusal = await numberOf(db.reader, 'ada').catch((error: unknown) => error as AppError);
    expect(refusal).toMatchObject({ code: 'unavailable', hint: 'database_away', retryAfterSeconds: 1 });
    expect(db.status().outage).toBe('database_away');
    await databases.admin.unsafe(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await eventually('it takes changes again', () => db.status().outage === null);
    expect(await numberOf(db.reader, 'ada')).toBe(0);
    expect(outages).toEqual([expect.anything(), null]);
  });
});
