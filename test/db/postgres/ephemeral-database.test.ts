/** Databases of ephemeral instances: each has one of its own, and none stays for long. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import { MINUTE } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { type PostgresAddress, readPostgresUrl } from '@/db/postgres/address.ts';
import { makeEphemeralDatabase } from '@/db/postgres/ephemeral-database.ts';
import { postgresServer } from '../../support/postgres.ts';

setDefaultTimeout(60_000);

const url = await postgresServer();
const admin = new SQL({ url, max: 1 });
const maker = `ephemeral_maker_${process.pid}`;
const nobody = `ephemeral_nobody_${process.pid}`;
await admin.unsafe(`CREATE ROLE ${maker} LOGIN CREATEDB PASSWORD 'PASSWORD'`);
await admin.unsafe(`CREATE ROLE ${nobody} LOGIN PASSWORD 'PASSWORD'`);

const settingsOf = (username: string) => {
  const address = readPostgresUrl(Object.assign(new URL(url), { username, password: 'PASSWORD' }).href);
  return { address: address as PostgresAddress, pool: 2, keyBytes: null };
};
const make = (now: number) =>
  makeEphemeralDatabase(settingsOf(maker), { clock: { now: () => now }, random: systemRandom });

async function names(): Promise<string[]> {
  const rows = (await admin.unsafe(
    `SELECT datname AS name FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba WHERE rolname = '${maker}' ORDER BY 1`,
  )) as { name: string }[];
  return rows.map(({ name }) => name);
}

afterAll(async () => {
  for (const name of await names()) await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.unsafe(`DROP ROLE ${maker}, ${nobody}`);
  await admin.close();
});

test('each has a name, a key and a database of its own, which is dropped with its connections', async () => {
  const [one, other] = await Promise.all([make(0), make(0)]);
  const [name, otherName] = [one, other].map(({ settings }) => settings.address.shown.split('/')[1] ?? '');
  expect(await names()).toEqual([name, otherName].toSorted() as string[]);
  expect(one.settings.keyBytes).not.toEqual(other.settings.keyBytes);

  const client = new SQL({ url: one.settings.address.urls[0]!, max: 1 });
  expect(await client.unsafe('SELECT current_database() AS name')).toEqual([{ name }]);
  await Promise.all([one.drop(), other.drop()]);
  await one.drop();
  expect(await names()).toEqual([]);
  await client.close({ timeout: 0 });
});

test('what a killed instance has left is dropped a minute later, and nothing that is in use', async () => {
  const [killed, used] = [await make(0), await make(0)];
  const client = new SQL({ url: used.settings.address.urls[0]!, max: 1 });
  await client.unsafe('SELECT 1');
  const early = await make(MINUTE - 1);
  expect(await names()).toHaveLength(3);
  const late = await make(MINUTE);
  expect(await names()).toHaveLength(3);
  await killed.drop();
  expect(await names()).toHaveLength(3);
  await client.close({ timeout: 0 });
  for (const one of [used, early, late]) await one.drop();
});

test('a user who may not create databases is told what to run', async () => {
  const refused = makeEphemeralDatabase(settingsOf(nobody), { clock: { now: () => 0 }, random: systemRandom });
  await expect(refused).rejects.toThrow(/may not create databases.* ALTER ROLE … CREATEDB;$/);
  expect((await refused.catch((error: Error) => error.message)).toString()).not.toContain('PASSWORD');
});

test('a pooler is refused, which does not know new databases', async () => {
  const { address, ...others } = settingsOf(maker);
  const pooled = { ...others, address: { ...address, isBouncer: true } };
  await expect(makeEphemeralDatabase(pooled, { clock: { now: () => 0 }, random: systemRandom })).rejects.toThrow(
    'the address of the server itself',
  );
});
