/** Every table's rows stay for a stated reason or are removed after a stated time. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { CONNECTION, type Database, type Unit } from '@/db/database.ts';
import { VERSION_TABLE } from '@/db/postgres/schema-version.ts';
import { RETENTION_RULES } from '@/jobs/retention-rules.ts';
import { retentionJob } from '@/jobs/retention.ts';
import { ENGINE } from '../support/engine.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const SRC = join(import.meta.dir, '../../src');

interface Table {
  readonly name: string;
  /** Tables whose rows delete this table's rows with them. */
  readonly owners: string | null;
}

const TABLES = {
  sqlite: `SELECT t.name AS name, (SELECT group_concat(f."table") FROM pragma_foreign_key_list(t.name) f
      WHERE f.on_delete = 'CASCADE') AS owners
    FROM pragma_table_list t WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
  postgres: `SELECT t.relname AS name, (SELECT string_agg(o.relname, ',') FROM pg_constraint c
      JOIN pg_class o ON o.oid = c.confrelid WHERE c.conrelid = t.oid AND c.confdeltype = 'c') AS owners
    FROM pg_class t WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'
      AND t.relname <> '${VERSION_TABLE}'`,
}[ENGINE];

const tablesOf = ({ sqlite }: Pick<Instance, 'sqlite'>) => sqlite.query(TABLES).all() as Table[];

/** Returns the tables from which a run of the job deletes. */
async function tablesSwept({ db, clock }: Instance): Promise<Set<string>> {
  const swept = new Set<string>();
  const note = (sql: string) => {
    const [, table] = /^\s*DELETE FROM (\w+)/.exec(sql) ?? [];
    if (table !== undefined) swept.add(table);
  };
  const watching = ({ [CONNECTION]: connection, ...unit }: Unit): Unit => ({
    ...unit,
    [CONNECTION]: {
      ...connection,
      changes: (bound, scope) => (note(bound.compiled.sql), connection.changes(bound, scope)),
      rows: (bound, scope) => (note(bound.compiled.sql), connection.rows(bound, scope)),
    },
  });
  const watched: Database = { ...db, write: (actor, work) => db.write(actor, (unit) => work(watching(unit))) };
  await retentionJob({ db: watched, clock, auditDays: 365 }).runOnce();
  return swept;
}

/** Returns advice for tables without a rule. */
const undecided = (tables: readonly Table[], decided: object) =>
  tables
    .filter(({ name }) => !Object.hasOwn(decided, name))
    .map(
      ({ name }) =>
        `${name}: say in src/jobs/retention-rules.ts why its rows stay, or which sweep takes them and after how long`,
    );

describe('the retention of each table', () => {
  test('is decided for every table of the schema and for no other', async () => {
    const tables = tablesOf(await createInstance());
    expect(undecided(tables, RETENTION_RULES)).toEqual([]);
    const names = tables.map(({ name }) => name);
    expect(Object.keys(RETENTION_RULES).filter((name) => !names.includes(name))).toEqual([]);
    expect(Object.keys(RETENTION_RULES)).toEqual(Object.keys(RETENTION_RULES).sort());
  });

  test('is demanded for a new table', async () => {
    const instance = await createInstance();
    instance.sqlite.run('CREATE TABLE novelties (id TEXT PRIMARY KEY)');
    expect(undecided(tablesOf(instance), RETENTION_RULES)).toEqual([
      'novelties: say in src/jobs/retention-rules.ts why its rows stay, or which sweep takes them and after how long',
    ]);
  });

  test('is enforced by the job, which sweeps exactly the declared tables', async () => {
    const instance = await createInstance();
    const { applicationId } = await instance.signIn((await instance.createApplication()).clientId, 'ada@example.com');
    // Adds an expired event, so that the job reaches its statement.
    instance.sqlite.run(
      `INSERT INTO events (id, application_id, type, data, created_at) VALUES ('e', ?, 'x', '{}', 1)`,
      [applicationId],
    );
    const swept = [...(await tablesSwept(instance))].sort();
    const declared = Object.entries(RETENTION_RULES).flatMap(([table, rule]) =>
      'sweeps' in rule || ('by' in rule && rule.by === 'purgeEvents') ? [table] : [],
    );
    expect(swept).toEqual(declared.sort());
  });

  test('follows the owning row if a foreign key deletes it', async () => {
    const tables = tablesOf(await createInstance());
    for (const [table, rule] of Object.entries(RETENTION_RULES))
      if ('with' in rule) expect(tables.find(({ name }) => name === table)?.owners?.split(',')).toContain(rule.with);
  });

  test('is enforced by functions that exist and are called', async () => {
    const sources = await Promise.all(
      [...new Bun.Glob('**/*.ts').scanSync(SRC)].map((path) => Bun.file(join(SRC, path)).text()),
    );
    for (const rule of Object.values(RETENTION_RULES)) {
      if (!('by' in rule)) continue;
      const named = sources.filter((text) => new RegExp(`\\b${rule.by}\\b`).test(text));
      expect(
        named.filter((text) => new RegExp(`export (?:const|(?:async )?function) ${rule.by}\\b`).test(text)),
      ).toHaveLength(1);
      expect(named.length, `${rule.by} is called`).toBeGreaterThan(2);
    }
  });
});
