/** PostgreSQL for tests: one server per run, and databases copied from one with the present schema. */
import { join } from 'node:path';
import { SQL } from 'bun';

/** Role of the product, which owns its databases and is no superuser. */
export const OWNER = 'gatehouse';
export const TEMPLATE = 'gatehouse_template';

/** Environment variable with the URL of a run's server, as its superuser. */
export const SERVER_URL = 'GATEHOUSE_TEST_POSTGRES_URL';

/** Returns the URL of a database as the product opens it. */
export function databaseUrl(serverUrl: string, name: string): string {
  return Object.assign(new URL(serverUrl), { username: OWNER, pathname: name }).href;
}

/** Starts a server that ends with this process. @returns its URL as superuser. */
export async function startPostgres(): Promise<string> {
  const script = join(import.meta.dir, 'postgres-server.ts');
  const child = Bun.spawn([process.execPath, script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
  const output = child.stdout.getReader();
  const { value } = await output.read();
  await output.cancel();
  if (value === undefined) throw new Error('the PostgreSQL server for tests did not start');
  child.unref();
  return Buffer.from(value).toString().trim();
}

interface Server {
  readonly url: string;
  /** Connection as superuser. */
  readonly admin: SQL;
}

let server: Promise<Server> | undefined;

/** Returns the run's server; starts one where a file is run by itself. */
export function postgresServer(): Promise<Server> {
  return (server ??= (async () => {
    const url = process.env[SERVER_URL] ?? (await startPostgres());
    return { url, admin: new SQL({ url, max: 1 }) };
  })());
}

/** The next copy is made while a test uses the one before it: a copy takes 10 ms. */
let next: Promise<string> | undefined;
let count = 0;

async function copyTemplate(): Promise<string> {
  const { url, admin } = await postgresServer();
  const name = `test_${process.pid}_${(count += 1)}`;
  await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} OWNER ${OWNER} STRATEGY file_copy`);
  return databaseUrl(url, name);
}

/** Creates a database with the present schema and no rows. @returns its URL. */
export async function freshPostgresDatabase(): Promise<string> {
  const url = await (next ?? copyTemplate());
  next = copyTemplate();
  return url;
}

/** Drops a database, whoever is connected to it. */
export async function dropPostgresDatabase(url: string): Promise<void> {
  const { admin } = await postgresServer();
  await admin.unsafe(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
}
