/** A PostgreSQL primary with a synchronous standby, each of which can be stopped, cut off or promoted. */
import {
  appendFileSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { serverUser } from '../../support/postgres-binaries.ts';
import { owned } from './processes.ts';

/** Durable enough for processes that are killed; the machine stays up. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  max_connections: '100',
  shared_buffers: '64MB',
  wal_retrieve_retry_interval: '200ms',
  wal_sender_timeout: '60s',
  log_min_messages: 'warning',
  dynamic_shared_memory_type: 'mmap',
};

export const DATABASE = 'gatehouse';

interface Node {
  readonly name: string;
  readonly port: number;
  readonly data: string;
  process: Bun.Subprocess | null;
}

export interface PostgresPair {
  readonly ports: readonly number[];
  /** Runs a query on the product's database at the primary. @throws while it is away. */
  // biome-ignore lint: each caller knows the rows that it asked for.
  query(text: string): Promise<any[]>;
  /** Stops the primary at once, without a checkpoint. */
  stopPrimary(): Promise<void>;
  startPrimary(): Promise<void>;
  /** Stops all processes of the primary without closing a connection, as a cut network does. */
  freeze(): void;
  thaw(): void;
  /** Makes the standby the primary. The former primary is stopped. */
  promote(): Promise<void>;
  /** Makes a standby of the stopped node, from a base backup of the primary. */
  rebuildStandby(): Promise<void>;
  /** Waits until the primary commits changes. */
  committing(): Promise<void>;
  close(): Promise<void>;
}

/** Starts both. @param bin folder of PostgreSQL's programs */
export async function startPair(bin: string, folder: string): Promise<PostgresPair> {
  const own = (path: string) => {
    if (serverUser.uid !== undefined) chownSync(path, serverUser.uid, serverUser.gid);
  };
  const makeNode = (name: string): Node => ({ name, port: freePort(), data: join(folder, name), process: null });
  let primary = makeNode('first');
  let standby = makeNode('second');
  const ports = [primary.port, standby.port];
  const clients = new Map<string, SQL>();
  mkdirSync(folder, { recursive: true });
  own(folder);

  async function program(name: string, args: readonly string[]): Promise<void> {
    const child = Bun.spawn([join(bin, name), ...args], {
      ...serverUser,
      cwd: folder,
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const errors = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`${name} failed: ${errors}`);
  }

  async function start(node: Node): Promise<void> {
    const settings = Object.entries({ ...SETTINGS, port: String(node.port) }).map(
      ([key, value]) => `--${key}=${value}`,
    );
    node.process = owned(
      Bun.spawn([join(bin, 'postgres'), '-D', node.data, ...settings], {
        ...serverUser,
        cwd: folder,
        stdin: 'ignore',
        stdout: Bun.file(join(folder, `${node.name}.log`)),
        stderr: Bun.file(join(folder, `${node.name}.errors`)),
      }),
    );
  }

  async function stop(node: Node, signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    node.process?.kill(signal);
    await node.process?.exited;
    node.process = null;
  }

  function setSynchronous(node: Node, names: '*' | ''): void {
    const path = join(node.data, 'synchronous.conf');
    writeFileSync(path, `synchronous_standby_names = '${names}'\n`);
    own(path);
    node.process?.kill('SIGHUP');
  }

  function makeStandby(node: Node): void {
    for (const [name, text] of [
      ['standby.signal', ''],
      [
        'postgresql.auto.conf',
        `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres application_name=${node.name}'\n`,
      ],
    ] as const) {
      writeFileSync(join(node.data, name), text);
      own(join(node.data, name));
    }
  }

  /** Runs a query as superuser. */
  async function query(text: string, of = 'postgres'): Promise<unknown[]> {
    const url = `postgres://postgres@127.0.0.1:${primary.port}/${of}?sslmode=disable`;
    let sql = clients.get(url);
    if (sql === undefined) clients.set(url, (sql = new SQL({ url, max: 2, connectionTimeout: 2 })));
    return [...((await sql.unsafe(text)) as unknown[])];
  }

  const answering = () =>
    eventually(
      'an answer of the primary',
      () =>
        query('SELECT 1')
          .then(() => true)
          .catch(() => false),
      60_000,
    );

  async function committing(): Promise<void> {
    await eventually(
      'a commit of the primary',
      () =>
        query('INSERT INTO fault_probe VALUES (1)')
          .then(() => true)
          .catch(() => false),
      60_000,
    );
  }

  /** Waits for the standby, and requires it for each commit from then on. */
  async function synchronous(): Promise<void> {
    const state = async (column: string) =>
      ((await query(`SELECT ${column} AS state FROM pg_stat_replication`)) as { state: string }[])[0]?.state;
    await eventually('a standby that streams', async () => (await state('state')) === 'streaming', 60_000);
    setSynchronous(primary, '*');
    await eventually('a synchronous standby', async () => (await state('sync_state')) === 'sync', 60_000);
  }

  /** Processes of the primary: the server, then its children, which it can no longer start. */
  function signalPrimary(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const { pid } = primary.process!;
    process.kill(pid, signal);
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ');
        if (Number(parent) === pid) process.kill(Number(name), signal);
      } catch {
        // The process has ended meanwhile.
      }
    }
  }

  await program('initdb', [
    '-D',
    primary.data,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '-N',
  ]);
  appendFileSync(join(primary.data, 'postgresql.conf'), "\ninclude_if_exists = 'synchronous.conf'\n");
  await start(primary);
  await answering();
  await query('CREATE TABLE fault_probe (n integer)');
  await query(`CREATE ROLE ${DATABASE} LOGIN`);
  await query(`CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`);
  await stop(primary, 'SIGINT');
  cpSync(primary.data, standby.data, { recursive: true });
  for (const path of ['', ...(readdirSync(standby.data, { recursive: true }) as string[])])
    own(join(standby.data, path));
  makeStandby(standby);
  await start(primary);
  await answering();
  await start(standby);
  await synchronous();

  return {
    ports,
    query: (text) => query(text, DATABASE),
    stopPrimary: () => stop(primary, 'SIGQUIT'),
    startPrimary: () => start(primary),
    freeze: () => signalPrimary('SIGSTOP'),
    thaw: () => signalPrimary('SIGCONT'),
    async promote() {
      [primary, standby] = [standby, primary];
      setSynchronous(primary, '');
      await query('SELECT pg_promote(true, 60)');
    },
    async rebuildStandby() {
      rmSync(standby.data, { recursive: true, force: true });
      const source = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
      await program('pg_basebackup', ['-D', standby.data, ...source, '-c', 'fast', '-X', 'stream', '-N']);
      setSynchronous(standby, '');
      makeStandby(standby);
      await start(standby);
      await synchronous();
    },
    committing,
    async close() {
      for (const sql of clients.values()) void sql.close({ timeout: 0 }).catch(() => {});
      await Promise.all([stop(primary, 'SIGQUIT'), stop(standby, 'SIGQUIT')]);
    },
  };
}
