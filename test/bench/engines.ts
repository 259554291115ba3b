/**
 * The product on SQLite, on PostgreSQL with one and two instances, and better-auth on the same PostgreSQL, under the same
 * loads at 32 connections with 10,000 sessions: requests per second, and the processor time of product and PostgreSQL per
 * request, which says more on a machine that is not idle. Prints a table, and one JSON line. Linux only; needs wrk and
 * the built binary. Starts a durable PostgreSQL server, unless it is given one of this machine.
 * Usage: bun test/bench/engines.ts [--against better-auth] [--postgres SUPERUSER_URL] [--seconds 4] [--rounds 2] [--only TEXT]
 */
import { parseArgs } from 'node:util';
import { loadavg } from 'node:os';
import { emptyFolder } from '../support/binary.ts';
import { startPostgres } from '../support/postgres.ts';
import { betterAuth, type Contender, gatehouse, type Load } from './contenders.ts';
import { round } from './server.ts';
import { wrk } from './wrk.ts';

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    postgres: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    connections: { type: 'string', default: '32' },
  },
});
const { against, only } = values;
if (against !== undefined && against !== 'better-auth') throw new Error(`there is no benchmark against ${against}`);
const postgresUrl = values.postgres ?? (await startPostgres({ isDurable: true }));
const seconds = Number(values.seconds);
const connections = Number(values.connections);

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of processor time per request. */
  readonly productUs: number;
  readonly postgresUs: number;
  readonly errors: number;
}

/** Deliveries of a backlog. */
const DELIVERIES = 3000;
/** Seconds of unmeasured requests before each load, in which the compilers of code and of statements are at work. */
const WARM_UP_SECONDS = 1;

let arrived: number[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.text();
    arrived.push(performance.now());
    return new Response();
  },
});

const scratch = emptyFolder();
const folder = scratch.path;
const contenders: Contender[] = [];
/** Results by contender and load, one for each round. */
const results = new Map<string, Map<string, Measured[]>>();

const makers = [
  ['SQLite', () => gatehouse(folder, postgresUrl, receiver.url.href, null)],
  ['PostgreSQL, 1', () => gatehouse(folder, postgresUrl, receiver.url.href, 1)],
  ['PostgreSQL, 2', () => gatehouse(folder, postgresUrl, receiver.url.href, 2)],
  ...(against === undefined ? [] : [['better-auth', () => betterAuth(folder, postgresUrl)] as const]),
] as const;

try {
  for (const [name, make] of makers) if (name.includes(only)) contenders.push(await make());
  for (let turn = 0; turn < Number(values.rounds); turn += 1)
    for (const contender of contenders) await runAll(contender);
} finally {
  for (const contender of contenders) await contender.stop().then(contender.remove).catch(console.error);
  scratch.remove();
}

async function runAll(contender: Contender): Promise<void> {
  const urls = await contender.start();
  for (const prepare of contender.loads) {
    const load = ({ script }: Load, duration: number) =>
      wrk({ url: urls, connections, seconds: duration, folder, script });
    await load(await prepare(), WARM_UP_SECONDS);
    const prepared = await prepare();
    const { name, share } = prepared;
    const before = contender.cpuMs();
    const result = await load(prepared, Math.max(1, Math.ceil(seconds * share)));
    const { requests, requestsPerSecond: perSecond, p50Ms, p99Ms, errors } = result;
    note(contender, name, { perSecond, p50Ms, p99Ms, errors, ...cpuPer(contender, before, requests) });
  }
  await contender.stop();
  if (contender.queueDeliveries === null) return;
  await contender.queueDeliveries(DELIVERIES);
  arrived = [];
  await contender.start();
  const before = contender.cpuMs();
  const alreadyArrived = arrived.length;
  const deadline = performance.now() + 30_000;
  while (arrived.length < DELIVERIES && performance.now() < deadline) await Bun.sleep(20);
  const count = arrived.length;
  const perSecond = round(count / (((arrived.at(-1) ?? 0) - (arrived[0] ?? 0)) / 1000));
  const cpu = cpuPer(contender, before, count - alreadyArrived);
  note(contender, 'deliver webhooks', { perSecond, p50Ms: 0, p99Ms: 0, errors: DELIVERIES - count, ...cpu });
  await contender.stop();
}

type Cpu = ReturnType<Contender['cpuMs']>;

function cpuPer(contender: Contender, before: Cpu, count: number): Pick<Measured, 'productUs' | 'postgresUs'> {
  const after = contender.cpuMs();
  const each = (ms: number) => round((ms / Math.max(1, count)) * 1000);
  return { productUs: each(after.product - before.product), postgresUs: each(after.postgres - before.postgres) };
}

function note({ name }: Contender, load: string, measured: Measured): void {
  console.error(name, load, JSON.stringify(measured));
  const known = results.get(name) ?? new Map<string, Measured[]>();
  results.set(name, known.set(load, [...(known.get(load) ?? []), measured]));
}

/** Takes the fastest round: what the rest of the machine does only makes one slower. */
const best = (rounds: readonly Measured[]) =>
  rounds.reduce((fastest, measured) => (measured.perSecond > fastest.perSecond ? measured : fastest));

const names = [...results.keys()];
const loads = [...(results.values().next().value?.keys() ?? [])];
console.log(`| load | ${names.join(' | ')} |\n|---|${'---|'.repeat(names.length)}`);
for (const load of loads) {
  const cells = names.map((name) => {
    const measured = results.get(name)?.get(load);
    if (measured === undefined) return '';
    const { perSecond, p50Ms, p99Ms, productUs, postgresUs, errors } = best(measured);
    const waits = p50Ms > 0 ? `, p50 ${p50Ms} p99 ${p99Ms} ms` : '';
    const wrong = errors > 0 ? `, ${errors} refused` : '';
    return `${perSecond}/s${waits}, CPU ${productUs} + ${postgresUs} µs${wrong}`;
  });
  console.log(`| ${load} | ${cells.join(' | ')} |`);
}
const all = Object.fromEntries([...results].map(([name, byLoad]) => [name, Object.fromEntries(byLoad)]));
console.log(JSON.stringify({ benchmark: 'engines', connections, seconds, load: loadavg()[0], results: all }));
process.exit(0);
