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
export async function startPostgres({ isDurable = false } = {}): Promise<string> {
  const script = [join(import.meta.dir, 'postgres-server.ts'), ...(isDurable ? ['--durable'] : [])];
  const child = Bun.spawn([process.execPath, ...script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
  const output = child.stdout.getReader();
  const { value } = await output.read();
  await output.cancel();
  if (value === undefined) throw new Error('the PostgreSQL server for tests did not start');
  child.unref();
  return Buffer.from(value).toString().trim();
}

let server: Promise<string> | undefined;

/** Returns the URL of the run's server as superuser; starts one where a file is run by itself. */
export function postgresServer(): Promise<string> {
  const known = process.env[SERVER_URL];
  return (server ??= known === undefined ? startPostgres() : Promise.resolve(known));
}

let admin: Promise<SQL> | undefined;

/** Runs a statement as superuser. */
async function administer(sql: string): Promise<void> {
  admin ??= postgresServer().then((url) => new SQL(url, { max: 1 }));
  await (await admin).unsafe(sql);
}

let count = 0;

/** Creates a database with the present schema and no rows. @returns its URL. */
export async function freshPostgresDatabase(): Promise<string> {
  const name = `test_${process.pid}_${(count += 1)}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} OWNER ${OWNER} STRATEGY file_copy`);
  return databaseUrl(await postgresServer(), name);
}

/** Drops a database, whoever is connected to it. */
export async function dropPostgresDatabase(url: string): Promise<void> {
  await administer(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
}
