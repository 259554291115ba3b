/** Opens the product's engine on databases of their own, and closes each with the test or file that opened it. */
import { type Clock } from '../../src/core/clock.ts';
import { deadlineIn } from '../../src/core/deadline.ts';
import { systemRandom } from '../../src/core/random.ts';
import type { Database } from '../../src/db/database.ts';
import { openPostgresEngine } from '../../src/db/postgres/engine.ts';
import { dropPostgresDatabase, freshPostgresDatabase } from './postgres.ts';
import { openRows, type Rows } from './postgres-rows.ts';

export interface PostgresTestDatabase {
  readonly db: Database;
  readonly sqlite: Rows;
  /** URL of the database. */
  readonly path: string;
}

/** Few, since every test has its own; several changes run at once, as on a server. */
const LANES = { lookups: 1, reads: 1, longReads: 1, changes: 4 };

const CLOSING_MS = 2000;

interface Opened {
  readonly databases: Database[];
  readonly sqlite: Rows;
  readonly url: string;
  readonly isOfTest: boolean;
}

let isInTest = false;
let opened: Opened[] = [];

/** Opens an engine on an existing database, as a further instance does. */
export async function openPostgresBeside(url: string, clock: Clock): Promise<Database> {
  const db = await openPostgresEngine({
    urls: [url],
    tls: undefined,
    isBouncer: false,
    lanes: LANES,
    clock,
    random: systemRandom,
  });
  opened.find((one) => one.url === url)?.databases.push(db);
  return db;
}

export async function openPostgresTestDatabase(clock: Clock): Promise<PostgresTestDatabase> {
  const isOfTest = isInTest;
  const url = await freshPostgresDatabase();
  const sqlite = openRows(url);
  opened.push({ databases: [], sqlite, url, isOfTest });
  return { db: await openPostgresBeside(url, clock), sqlite, path: url };
}

export function beginTest(): void {
  isInTest = true;
}

/** Closes what the last test opened, or everything. */
export async function closeDatabases(of: 'test' | 'file'): Promise<void> {
  isInTest = false;
  const [ended, kept] = [opened.filter((one) => one.isOfTest || of === 'file'), opened.filter((one) => !one.isOfTest)];
  opened = of === 'file' ? [] : kept;
  for (const { databases, sqlite, url } of ended) {
    await Promise.all(databases.map((db) => db.close(deadlineIn(CLOSING_MS))));
    sqlite.close();
    await dropPostgresDatabase(url);
  }
}
