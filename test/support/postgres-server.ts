/**
 * Starts a PostgreSQL server for tests and prints its URL. The server and its files end with the standard input of this
 * process, so that they do not outlive a run that is killed. With `--durable` it has PostgreSQL's own settings, and its
 * files on a disk. Usage: bun test/support/postgres-server.ts [--durable]
 */
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { migratePostgres } from '../../src/db/postgres/migrate.ts';
import { freePort } from './free-port.ts';
import { VERSION_TABLE } from '../../src/db/postgres/schema-version.ts';
import { databaseUrl, OWNER, TEMPLATE } from './postgres.ts';
import { embeddedBinaries, serverUser } from './postgres-binaries.ts';
import { scratchFolder } from './scratch-folder.ts';

/** Free space in memory that a run may need: each of its databases takes 10 MB until its test has ended. */
const ROOM_BYTES = 4 * 1024 ** 3;

const isDurable = process.argv.includes('--durable');

/** `C` compares texts as SQLite does. */
const CLUSTER = ['--auth=password', '--encoding=UTF8', '--locale=C', '--set=scram_iterations=1', '--no-sync'];
/** Trades durability for speed. */
const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  log_checkpoints: 'off',
  shared_buffers: '128MB',
  autovacuum: 'off',
  jit: 'off',
};
const SETTINGS = {
  ...(isDurable ? {} : FAST),
  max_connections: '300',
  // Shared memory in the folder, so that nothing is left when the server is killed.
  dynamic_shared_memory_type: 'mmap',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The client gets the errors of statements. LOG has the line that tells readiness.
  log_min_messages: 'log',
};

/** Deletes all rows but the schema's version, without the checks of foreign keys, which only a superuser can leave out. */
const WIPE = `CREATE FUNCTION wipe_for_next_test() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET session_replication_role = replica SET client_min_messages = error AS $$
  DECLARE
    part record;
  BEGIN
    FOR part IN SELECT relname AS name, relkind AS kind, pg_relation_size(oid) AS bytes FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND relname <> '${VERSION_TABLE}'
    LOOP
      IF part.kind = 'S' THEN
        PERFORM setval(part.name::regclass, 1, false);
      ELSIF part.bytes > 1000000 THEN
        EXECUTE format('TRUNCATE %I CASCADE', part.name);
      ELSIF part.bytes > 0 THEN
        EXECUTE format('DELETE FROM %I', part.name);
      END IF;
    END LOOP;
  END $$`;

async function createCluster(bin: string, folder: string, password: string): Promise<void> {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  const child = Bun.spawn(
    [join(bin, 'initdb'), join(folder, 'data'), '--username=postgres', `--pwfile=${passwordFile}`, ...CLUSTER],
    { ...serverUser, cwd: folder, stdout: 'ignore', stderr: 'pipe' },
  );
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`initdb failed: ${errors}`);
}

/** Starts the server, and resolves once it answers. */
async function start(bin: string, folder: string, port: number) {
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).map(([name, value]) => `--${name}=${value}`);
  const child = Bun.spawn([join(bin, 'postgres'), '-D', join(folder, 'data'), ...settings], {
    ...serverUser,
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const ready = Promise.withResolvers<void>();
  void (async () => {
    let log = '';
    for await (const chunk of child.stderr) {
      log = (log + Buffer.from(chunk).toString()).slice(-4000);
      if (log.includes('is ready to accept connections')) ready.resolve();
    }
    ready.reject(new Error(`PostgreSQL did not start: ${log}`));
  })();
  await ready.promise;
  return child;
}

/** Creates the role of the product, and the database that tests copy. */
async function createTemplate(url: string): Promise<void> {
  const admin = new SQL(url, { max: 1 });
  await admin.unsafe(`CREATE ROLE ${OWNER} LOGIN CREATEDB PASSWORD '${new URL(url).password}'`);
  await admin.unsafe(`CREATE DATABASE ${TEMPLATE} OWNER ${OWNER}`);
  const template = () => new SQL(databaseUrl(url, TEMPLATE), { max: 1 });
  const migrating = template();
  await migratePostgres(migrating, { binaryVersion: 'test' });
  await migrating.close();
  const superuser = new SQL(url.replace(/\w+$/, TEMPLATE), { max: 1 });
  await superuser.unsafe(WIPE);
  await superuser.close();
  // The first connection after a migration stores the catalog's cache in a file, which copies share.
  const first = template();
  await first.unsafe('SELECT 1');
  await first.close();
  // A copy requires that nobody is connected.
  await admin.unsafe(`ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false`);
  await admin.close();
}

// An interrupt of the terminal goes to each process of a run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

// A process that has opened a data folder hands on a mask that hides new files from the server's user.
process.umask(0o022);

const folder = scratchFolder('gatehouse-cluster', isDurable ? Infinity : ROOM_BYTES);
let server: Awaited<ReturnType<typeof start>> | undefined;
try {
  if (serverUser.uid !== undefined) chownSync(folder, serverUser.uid, serverUser.gid);
  const password = crypto.randomUUID();
  const [bin, port] = [embeddedBinaries(), freePort()];
  await createCluster(bin, folder, password);
  server = await start(bin, folder, port);
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  await createTemplate(url);
  console.log(url);
  // The end of the input is the end of the process that holds the other end.
  for await (const _ of Bun.stdin.stream());
} finally {
  server?.kill('SIGQUIT');
  await server?.exited;
  rmSync(folder, { recursive: true, force: true });
}
