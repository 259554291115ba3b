/**
 * Runs the benchmarks one after the other and prints one table: each result next to the target for the full size on
 * an idle machine. Short forms take some minutes; `--full` takes half an hour. Needs wrk and the built binary.
 * With `--against` it compares sign-ins and verifications with another product instead (engines.ts, pocketbase.ts).
 * Usage: bun run bench [--full | --against better-auth | --against pocketbase]
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { round } from './server.ts';
import { inWords, type Waits } from './waits.ts';

if (process.argv.includes('--against')) {
  const file = process.argv.includes('pocketbase') ? 'pocketbase.ts' : 'engines.ts';
  const command = [process.execPath, join(import.meta.dir, file), ...process.argv.slice(2)];
  process.exit(await Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' }).exited);
}

const isFull = process.argv.includes('--full');

interface Row {
  readonly name: string;
  readonly value: string;
  readonly wanted?: string;
}

interface Benchmark {
  readonly file: string;
  readonly short: readonly string[];
  readonly full: readonly string[];
  // biome-ignore lint: each knows what its script prints.
  rows(result: any): Row[];
}

interface LongWork {
  readonly name: string;
  readonly rows: number;
  readonly answerMs: number;
  readonly others: Waits;
  readonly trailMs: number;
}

interface Flood {
  readonly name: string;
  readonly connections: number;
  readonly others: Waits;
  readonly stopMs: number | null;
}

interface Call {
  readonly name: string;
  readonly medianMs: number;
  readonly others: Waits;
}

const ms = (value: number) => `${value} ms`;
const perSecond = (value: number) => `${Math.round(value)}/s`;

const verify = (path: 'verify' | 'session', sessions: number, shortSessions: number, wanted: string): Benchmark => ({
  file: 'verify.ts',
  short: ['5', '--path', path, '--sessions', String(shortSessions)],
  full: ['10', '--path', path, '--sessions', String(sessions)],
  rows: (result) => {
    const name = `${result.path}, ${result.sessions} sessions`;
    return [
      { name, value: `${perSecond(result.requestsPerSecond)}, ${result.percentOfBare} % of bare`, wanted },
      { name: `${name}: p99`, value: ms(result.p99Ms), wanted: 'below 4 ms' },
      { name: `${name}: others waited`, value: inWords(result.others), wanted: 'at most 20 ms' },
    ];
  },
});

const benchmarks: readonly Benchmark[] = [
  verify('verify', 10_000, 10_000, 'at least 34 %'),
  verify('session', 10_000, 10_000, 'at least 34 %'),
  verify('verify', 50_000, 50_000, ''),
  verify('verify', 1_000_000, 100_000, 'at least 23 %'),
  {
    file: 'sign-in.ts',
    short: ['4'],
    full: ['10'],
    rows: ({ newcomers, members }) => [
      { name: 'codes sent', value: perSecond(newcomers.send.perSecond), wanted: 'at least 2500/s' },
      { name: 'sign-ins, new people', value: perSecond(newcomers.signIn.perSecond), wanted: 'at least 2500/s' },
      { name: 'sign-ins, members', value: perSecond(members.signIn.perSecond), wanted: 'at least 2500/s' },
      { name: 'sign-ins: others waited', value: inWords(newcomers.signIn.others), wanted: 'at most 20 ms' },
    ],
  },
  {
    file: 'long-work.ts',
    short: ['--scale', '0.05'],
    full: [],
    rows: ({ scenarios }) =>
      (scenarios as LongWork[]).flatMap(({ name, rows, answerMs, others, trailMs }) => [
        {
          name: `${name} (${rows}): answer`,
          value: ms(answerMs),
          // An import is no state change: its answer reports all its rows.
          wanted: name.includes('imports') ? '' : 'below 100 ms',
        },
        {
          name: `${name} (${rows}): others waited`,
          value: `${inWords(others)} in ${round(trailMs / 1000, 1)} s`,
          wanted: 'at most 20 ms',
        },
      ]),
  },
  {
    file: 'starve.ts',
    short: ['4'],
    full: ['10'],
    rows: ({ floods }) =>
      (floods as Flood[]).map(({ name, connections, others, stopMs }) => ({
        name: `${connections} × new connections on ${name}: others waited`,
        value: `${inWords(others)}, stop ${stopMs === null ? 'never' : ms(stopMs)}`,
        wanted: 'some 100 ms, stop obeyed',
      })),
  },
  {
    file: 'neighbour.ts',
    short: ['300', '20'],
    full: ['300', '60'],
    rows: ({ hanging, alone, beside }) => [
      {
        name: `an event beside ${hanging} endpoints of another workspace that hang`,
        value: `median ${ms(beside.medianMs)}, longest ${ms(beside.longestMs)}; alone ${ms(alone.medianMs)}`,
        wanted: 'as alone',
      },
    ],
  },
  {
    file: 'management.ts',
    short: ['--scale', '0.05'],
    full: [],
    rows: ({ calls }) =>
      (calls as Call[]).map(({ name, medianMs, others }) => ({
        name,
        value: `median ${ms(medianMs)}, others waited ${inWords(others)}`,
      })),
  },
  {
    file: 'searches.ts',
    short: ['--scale', '0.02'],
    full: [],
    rows: ({ calls }) =>
      (calls as Call[]).map(({ name, medianMs, others }) => ({
        name,
        value: `median ${ms(medianMs)}, others waited ${inWords(others)}`,
        wanted: name.includes(' pages') ? '' : 'below 50 ms',
      })),
  },
  {
    file: 'webhooks.ts',
    short: ['2000', '500'],
    full: [],
    rows: ({ asCaused, backlog, streams }) => [
      { name: 'changes a second, each delivered', value: perSecond(asCaused.eventsPerSecond) },
      ...(backlog as { endpoints: number; eventsPerSecond: number }[]).map(({ endpoints, eventsPerSecond }) => ({
        name: `backlog delivered to ${endpoints} endpoints`,
        value: perSecond(eventsPerSecond),
      })),
      { name: `${streams.listeners} event streams`, value: `${streams.kibPerListener} KiB each` },
    ],
  },
];

/** Returns the duration of one flush here in milliseconds, on which durable results depend. */
function flushMs(): number {
  const path = join(tmpdir(), `gatehouse-flush-${process.pid}`);
  const file = openSync(path, 'w');
  const taken: number[] = [];
  for (let turn = 0; turn < 100; turn += 1) {
    writeSync(file, new Uint8Array(4096));
    const startedAt = performance.now();
    fdatasyncSync(file);
    taken.push(performance.now() - startedAt);
  }
  closeSync(file);
  rmSync(path);
  return round(taken.toSorted((left, right) => left - right)[50]!, 2);
}

async function run({ file, short, full, rows }: Benchmark): Promise<Row[]> {
  const command = [process.execPath, join(import.meta.dir, file), ...(isFull ? full : short)];
  console.error(`${file} ${command.slice(2).join(' ')}`);
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) return [{ name: `${file} ${command.slice(2).join(' ')}`, value: 'failed' }];
  return rows(JSON.parse(output.trim().split('\n').at(-1)!));
}

const machine = `${availableParallelism()} cores, load ${round(loadavg()[0]!, 1)} before, ${flushMs()} ms a flush`;
const table: Row[] = [];
for (const benchmark of benchmarks) table.push(...(await run(benchmark)));
const width = Math.max(...table.map(({ name }) => name.length)) + 2;
console.log(`\n${machine}; ${isFull ? 'full size' : 'short form'}.`);
console.log(
  'In brackets: waits without the time in which the server had no processor, the load being on the same machine.\n',
);
for (const { name, value, wanted = '' } of table)
  console.log(`${name.padEnd(width)}${value.padEnd(44)}${wanted}`.trimEnd());
process.exit(table.some(({ value }) => value === 'failed') ? 1 : 0);
