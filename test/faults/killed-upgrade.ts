/**
 * Kills upgrades at each of their stages. Afterwards the database has the old schema or the new one, complete, and
 * every named copy is usable. Prints figures when run directly:
 *
 *   bun test/faults/killed-upgrade.ts [ROUNDS [RECORDS]]
 */
import { Database } from 'bun:sqlite';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspectBackup } from '../../src/db/sqlite/backup.ts';
import { SCHEMA_VERSION } from '../../src/db/sqlite/migrate.ts';
import { writeFixture } from '../fixtures/schemas.ts';
import { FIXTURE_KEY, FIXTURE_TIME } from '../fixtures/world.ts';
import { BINARY, cleanEnvironment, emptyFolder, readDatabase, startServer } from '../support/binary.ts';
import { faultsOf } from './promises.ts';

/** The last schema before a migration that changes every audit record. */
const OLD = 8;

/** The moment of the kill: what appears in the folder, and how long after that. */
const STAGES = {
  copying: (folder: string) => namesIn(folder).some((name) => name.endsWith('.unfinished')),
  'copy made': (folder: string) => copiesIn(folder).length > 0,
  changing: (folder: string) => copiesIn(folder).length > 0 && logBytes(folder) > 2 ** 20,
  done: (folder: string) => namesIn(folder).includes('gatehouse.server.json'),
} as const;

type Stage = keyof typeof STAGES;

export interface KilledUpgrade {
  readonly stage: Stage;
  readonly afterMs: number;
  readonly schema: number;
  readonly logBytes: number;
  readonly copies: number;
  /** Findings; empty if all is well. */
  readonly faults: readonly unknown[];
}

const namesIn = (folder: string) => readdirSync(folder);
const copiesIn = (folder: string) => namesIn(folder).filter((name) => /\.schema-[^.]+\.\d{8}T\d{6}Z$/.test(name));
const logBytes = (folder: string) => statSync(join(folder, 'gatehouse.db-wal'), { throwIfNoEntry: false })?.size ?? 0;

/** Creates a data folder of the old schema with audit records. */
function layOld(folder: string, records: number): void {
  mkdirSync(folder, { mode: 0o700 });
  writeFixture(OLD, join(folder, 'gatehouse.db'));
  writeFileSync(join(folder, 'instance.key'), `${Buffer.from(FIXTURE_KEY).toString('base64url')}\n`);
  const sqlite = new Database(join(folder, 'gatehouse.db'), { readwrite: true });
  sqlite.run('PRAGMA synchronous = OFF');
  sqlite
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
       INSERT INTO audit_records (id, application_id, kind, ok, email, actor_type, ip, ip_country, detail, created_at)
       SELECT printf('aud_%010d', n), (SELECT id FROM applications WHERE slug = 'shop'), 'signin.succeeded', 1,
         printf('person%d@example.com', n % 5000), 'anonymous', '203.0.113.7', 'DE', '{"method":"otp"}', ?2 + n * 1000 FROM numbers`,
    )
    .run(records, FIXTURE_TIME);
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
  sqlite.close();
  for (const name of namesIn(folder)) if (/-(?:wal|shm)$/.test(name)) rmSync(join(folder, name));
  Bun.spawnSync(['chmod', '600', ...namesIn(folder).map((name) => join(folder, name))]);
}

/** Returns the schema of a database. */
const shapeOf = (sqlite: Database) =>
  JSON.stringify([
    sqlite.query("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name").all(),
    sqlite.query('PRAGMA user_version').values(),
  ]);

async function killOne(folder: string, stage: Stage, afterMs: number): Promise<void> {
  const child = Bun.spawn([BINARY, 'serve', '--data', folder, '--port', '0'], {
    env: cleanEnvironment({ GATEHOUSE_LOG_LEVEL: 'error' }),
    stdout: 'ignore',
    stderr: 'ignore',
  });
  while (child.exitCode === null && !STAGES[stage](folder)) await Bun.sleep(1);
  await Bun.sleep(afterMs);
  child.kill('SIGKILL');
  await child.exited;
}

export async function killUpgrades(
  rounds: number,
  { records = 30_000, tell = () => {} }: { records?: number; tell?: (line: string) => void } = {},
): Promise<KilledUpgrade[]> {
  const scratch = emptyFolder();
  const old = join(scratch.path, 'old');
  layOld(old, records);
  const whole = join(scratch.path, 'whole');
  cpSync(old, whole, { recursive: true });
  const began = performance.now();
  const server = await startServer(whole);
  const wholeMs = performance.now() - began;
  await server.stop();
  const count = (sqlite: Database) => sqlite.query('SELECT count(*) FROM audit_records').values()[0]?.[0] as number;
  const shapes = new Map([
    [OLD, readDatabase(old, shapeOf)],
    [SCHEMA_VERSION, readDatabase(whole, shapeOf)],
  ]);
  const rowsBefore = readDatabase(old, count);
  tell(`${records} audit records, an upgrade and start take ${Math.round(wholeMs)} ms`);
  const stages = Object.keys(STAGES) as Stage[];
  const killed: KilledUpgrade[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const stage = stages[round % stages.length]!;
    const folder = join(scratch.path, `killed-${round}`);
    cpSync(old, folder, { recursive: true });
    const afterMs = round < stages.length ? 0 : Math.random() * (wholeMs / 4);
    await killOne(folder, stage, afterMs);
    const found = { stage, afterMs, logBytes: logBytes(folder), copies: copiesIn(folder).length };
    for (const copy of copiesIn(folder)) inspectBackup(join(folder, copy), copy);
    const schema = readDatabase(folder, (sqlite) => sqlite.query('PRAGMA user_version').values()[0]?.[0] as number);
    const faults: unknown[] = readDatabase(folder, faultsOf);
    if (readDatabase(folder, shapeOf) !== shapes.get(schema)) faults.push(`a mix, or neither schema: ${schema}`);
    if (schema !== OLD && found.copies === 0) faults.push('upgraded without a copy');
    if (readDatabase(folder, count) < rowsBefore) faults.push('audit records are gone');
    const again = await startServer(folder);
    await again.stop();
    if (readDatabase(folder, shapeOf) !== shapes.get(SCHEMA_VERSION)) faults.push('the next start did not finish it');
    if (namesIn(folder).some((name) => name.includes('.unfinished'))) faults.push('what was unfinished stays');
    killed.push({ ...found, schema, faults });
    tell(
      `killed at "${stage}" and ${Math.round(afterMs)} ms: schema ${schema}, log ${Math.round(found.logBytes / 2 ** 20)} MiB, ${found.copies} copies, ${faults.length} faults`,
    );
    rmSync(folder, { recursive: true });
  }
  scratch.remove();
  return killed;
}

if (import.meta.main) {
  const [rounds = 20, records = 200_000] = process.argv.slice(2).map(Number);
  const killed = await killUpgrades(rounds, { records, tell: console.log });
  const bad = killed.filter(({ faults }) => faults.length > 0);
  const olds = killed.filter(({ schema }) => schema === OLD).length;
  console.log(
    `${killed.length} kills: ${olds} left the old schema, ${killed.length - olds} the new one, ${bad.length} with faults`,
  );
  for (const { faults } of bad) console.log(faults);
  process.exit(bad.length === 0 ? 0 : 1);
}
