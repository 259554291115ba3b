/**
 * Measures who waits for large work: verifications at a fixed rate on instance A, which does the work, and on instance B of the
 * same PostgreSQL database, alone and during imports, an export, and a deletion of 100,000 rows; then the same on
 * SQLite, which has one instance. Prints a table, and one JSON line. Takes up to 100 s on two cores. Linux only; needs
 * the built binary. Starts a durable PostgreSQL server, unless it is given one of this machine.
 * Usage: bun test/bench/beside.ts [--postgres SUPERUSER_URL] [--rows 100000] [--seconds 8] [--rate 100] [--only TEXT]
 */
import { join } from 'node:path';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { emptyFolder, readDatabase } from '../support/binary.ts';
import { startPostgres } from '../support/postgres.ts';
import { type BenchInstances, benchInstances } from './instances.ts';
import { type BenchServer, createApplication, createKey, round } from './server.ts';
import { type SteadyReport, verifySteadily } from './steady.ts';

const { values } = parseArgs({
  options: {
    postgres: { type: 'string' },
    rows: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '8' },
    rate: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
  },
});
const postgresUrl = values.postgres ?? (await startPostgres({ isDurable: true }));
const rows = Number(values.rows);
const longestMs = Number(values.seconds) * 1000;

const CLIENTS = 8;
const USERS_A_CALL = 500;
const ALONE_MS = 3000;
const WARM_UP_MS = 1000;
const POLL_MS = 100;
/** Sessions that are verified, of those of all users. */
const VERIFIED = 1000;

interface Scene {
  readonly product: BenchInstances;
  /** Instance A. */
  readonly server: BenchServer;
  readonly path: string;
  readonly webhookId: string;
  readonly key: string;
}

interface Work {
  readonly name: string;
  /** Works until it is done, or until the time is over. @returns what was done. */
  run(scene: Scene, isOver: () => boolean): Promise<string>;
}

const WORKS: readonly Work[] = [
  {
    name: 'alone',
    async run() {
      await Bun.sleep(ALONE_MS);
      return '';
    },
  },
  {
    name: `${CLIENTS} clients import ${USERS_A_CALL} users a call`,
    async run({ server, path, key }, isOver) {
      let imported = 0;
      let refused = 0;
      async function importInTurn(client: number): Promise<void> {
        for (let call = 0; !isOver(); call += 1) {
          const users = Array.from({ length: USERS_A_CALL }, (_, index) => ({
            email: `import${client}-${call}-${index}@example.com`,
            roleSlugs: ['user', 'developer'],
            profile: { username: `import${client}x${call}x${index}`, givenName: 'Ada', locale: 'en' },
          }));
          await server.call('POST', `${path}/users/bulk`, { users }, key).then(
            () => void (imported += users.length),
            () => void (refused += 1),
          );
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, (_, client) => importInTurn(client)));
      return `${imported} users imported, ${refused} calls refused`;
    },
  },
  {
    name: `export of ${rows} users`,
    async run({ server, path, key }, isOver) {
      let exported = 0;
      let cursor = '';
      while (exported < rows && !isOver()) {
        const page = await server.call('GET', `${path}/users?include=profile&limit=200${cursor}`, undefined, key);
        exported += page.items.length;
        cursor = `&cursor=${page.nextCursor}`;
      }
      return `${exported} users exported`;
    },
  },
  {
    name: `deletion of ${rows} rows`,
    async run({ product, server, path, webhookId, key }, isOver) {
      await server.call('DELETE', `${path}/webhooks/${webhookId}`, undefined, key);
      while (!isOver() && (await leftDeliveries(product, 'LIMIT 1')) > 0) await Bun.sleep(POLL_MS);
      return `${rows - (await leftDeliveries(product))} rows deleted`;
    },
  },
];

interface Measured extends SteadyReport {
  readonly engine: string;
  readonly work: string;
  readonly done: string;
  readonly ms: number;
}

const scratch = emptyFolder();
const results: Measured[] = [];
try {
  for (const [name, instances] of [
    ['PostgreSQL', 2],
    ['SQLite', null],
  ] as const) {
    if (!name.includes(values.only)) continue;
    const env = { GATEHOUSE_LOG_LEVEL: 'warn', GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8' };
    const product = await benchInstances({ folder: scratch.path, postgresUrl, instances, env });
    try {
      results.push(...(await measureAll(product)));
    } finally {
      await product.stop();
      await product.remove();
    }
  }
} finally {
  scratch.remove();
}

async function measureAll(product: BenchInstances): Promise<Measured[]> {
  const [setup] = await product.start();
  const { id } = await createApplication(setup!, 'Bench');
  const path = `/api/applications/${id}`;
  const key = await createKey(setup!, path, 'full');
  const hook = { url: 'https://receiver.example', events: ['user.banned'] };
  const { id: webhookId } = await setup!.call('POST', `${path}/webhooks`, hook);
  await product.stop();
  const tokens = await product.insertSessions(id, rows);
  await product.insertDeliveries(id, webhookId, { count: rows, status: 'delivered' });
  const tokensFile = join(product.folder, 'tokens');
  await Bun.write(tokensFile, tokens.slice(0, VERIFIED).join('\n'));

  const servers = await product.start();
  const scene: Scene = { product, server: servers[0]!, path, webhookId, key };
  const urls = servers.map(({ url }) => url);
  const probe = await verifySteadily({ perSecond: Number(values.rate), key, tokensFile, urls });
  await Bun.sleep(WARM_UP_MS);
  const measured: Measured[] = [];
  for (const { name: work, run } of WORKS) {
    await probe.lap();
    const startedAt = performance.now();
    const done = await run(scene, () => performance.now() - startedAt > longestMs);
    const ms = round(performance.now() - startedAt);
    const one = { engine: product.name, work, done, ms, ...(await probe.lap()) };
    if (one.servers.some(({ refused }) => refused > 0)) console.error('verifications were refused', one);
    measured.push(one);
  }
  await probe.stop();
  return measured;
}

async function leftDeliveries({ database, folder }: BenchInstances, limit = ''): Promise<number> {
  const text = `SELECT count(*) AS count FROM (SELECT 1 FROM deliveries ${limit}) AS found`;
  if (!database) return readDatabase(folder, (sqlite) => (sqlite.query(text).get() as { count: number }).count);
  const [row] = await database.sql.unsafe(text);
  return Number(row.count);
}

const waits = (report: Measured, index: number) => {
  const one = report.servers[index];
  return one ? `${one.p50Ms} / ${one.p99Ms} / ${one.longestMs}` : '–';
};
console.log('| engine | work on A | A: p50 / p99 / longest ms | B: p50 / p99 / longest ms | done |');
console.log('|---|---|---|---|---|');
for (const one of results) {
  const done = one.done && `${one.done} in ${round(one.ms / 1000, 1)} s`;
  console.log(`| ${one.engine} | ${one.work} | ${waits(one, 0)} | ${waits(one, 1)} | ${done} |`);
}
console.log(JSON.stringify({ benchmark: 'beside', rows, rate: Number(values.rate), load: loadavg()[0], results }));
process.exit(0);
