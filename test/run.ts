/**
 * Runs every suite and closes with the line `N passed, N failed`. Suites of the rules run on SQLite and on PostgreSQL.
 * Arguments: parts of paths to select files, flags of the test runner (values after `=`), `--long` to run the files with
 * long cases, including these, `--postgres` to run on PostgreSQL alone everything that uses a database, and `--slowest` to
 * list at the end the files that took longest.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLITE_ONLY, sqliteOnlyTests } from './support/one-engine.ts';
import { SERVER_URL, startPostgres } from './support/postgres.ts';
import { byDuration, hasLongCases, LESS_OFTEN, runsOnPostgres, startsProcesses } from './support/suites.ts';

/** Two slots per core, since many tests wait for processes, browsers and timers. */
const SLOTS = Math.min(12, Math.max(4, 2 * availableParallelism()));

/** Longest time of a test. Ends only those that hang: on a busy machine everything takes several times as long. */
const TIMEOUT_MS = 120_000;

/** Number of files that `--slowest` lists. */
const SLOWEST = 30;

const OWN_FLAGS = ['--long', '--postgres', '--slowest'];
const isLong = process.argv.includes('--long');
const isPostgresOnly = process.argv.includes('--postgres');
const isSlowestAsked = process.argv.includes('--slowest');
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-') && !OWN_FLAGS.includes(argument));
const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-test-run-'));

interface Job {
  readonly engine: 'sqlite' | 'postgres';
  readonly files: readonly string[];
  /** Number of processes that the test runner shares the files among. */
  readonly slots: number;
}

interface Outcome {
  readonly engine: Job['engine'];
  readonly pass: number;
  readonly fail: number;
  /** Failed tests with their files. */
  readonly failures: readonly string[];
  /** By file; empty unless `--slowest` asks for them. */
  readonly seconds: ReadonlyMap<string, number>;
}

/** Runs some files and prints the output; that of a single file in one piece. */
async function run({ engine, files, slots }: Job, index: number): Promise<Outcome> {
  const report = join(scratch, `${index}.xml`);
  const began = performance.now();
  const reporting = ['--reporter=junit', `--reporter-outfile=${report}`];
  // Files in one process share the loaded product: loading it takes longer than most of them.
  const sharing = files.length > 1 ? [`--parallel=${slots}`, '--no-isolate'] : [];
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--timeout',
      String(TIMEOUT_MS),
      ...reporting,
      ...sharing,
      ...flags,
      ...(engine === 'postgres' ? leftOut(files) : []),
      ...files.map((path) => `./${path}`),
    ],
    {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, ...(isLong && { GATEHOUSE_TEST_LONG: 'true' }), ...(await environmentOf(engine)) },
    },
  );
  let output = '';
  async function follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let line = '';
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true });
      output += text;
      if (files.length === 1) continue;
      const end = text.lastIndexOf('\n') + 1;
      process.stdout.write(end > 0 ? line + text.slice(0, end) : '');
      line = end > 0 ? text.slice(end) : line + text;
    }
  }
  await Promise.all([follow(child.stdout), follow(child.stderr)]);
  const exitCode = await child.exited;
  if (files.length === 1) process.stdout.write(output);
  const plain = Bun.stripANSI(output.slice(-4000));
  // A file without a test of the name that a flag asks for.
  if (flags.length > 0 && plain.includes('matched 0 tests'))
    return { engine, pass: 0, fail: 0, failures: [], seconds: new Map() };
  const count = (pattern: RegExp) => Number(pattern.exec(plain)?.[1] ?? 0);
  const [pass, fail] = [count(/^\s*(\d+) pass$/m), count(/^\s*(\d+) fail$/m)];
  const seconds = isSlowestAsked ? secondsOf(files, (performance.now() - began) / 1000, report) : new Map();
  // A crash counts as a failure even without a count, and so does a file that was skipped.
  const isIncomplete = fail === 0 && (exitCode !== 0 || count(/^Ran \d+ tests? across (\d+) files?/m) !== files.length);
  if (isIncomplete)
    return {
      engine,
      pass,
      fail: 1,
      failures: [`${files.length === 1 ? files[0] : 'a run'} did not complete`],
      seconds,
    };
  return { engine, pass, fail, failures: fail === 0 ? [] : failuresIn(report), seconds };
}

let server: Promise<string> | undefined;

/** Returns the environment of a test process. All processes of a run share one server of PostgreSQL. */
async function environmentOf(engine: Job['engine']): Promise<Record<string, string>> {
  if (onPostgres.length === 0) return {};
  return { GATEHOUSE_TEST_ENGINE: engine, [SERVER_URL]: await (server ??= startPostgres()) };
}

/** Returns the flag by which the test runner leaves out single tests. */
function leftOut(files: readonly string[]): string[] {
  const names = sqliteOnlyTests(files).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return names.length === 0 || flags.length > 0 ? [] : [`--test-name-pattern=^(?!(?:${names.join('|')})$)`];
}

function testcasesIn(report: string): string[] {
  // A crashed test runner may have written none.
  return existsSync(report) ? readFileSync(report, 'utf8').split('<testcase ').slice(1) : [];
}

/** Returns the seconds by file: the run's for a single one, else those of its tests. */
function secondsOf(files: readonly string[], whole: number, report: string): Map<string, number> {
  const seconds = new Map<string, number>();
  if (files.length === 1) return seconds.set(files[0]!, whole);
  for (const testcase of testcasesIn(report)) {
    const file = attribute(testcase, 'file');
    seconds.set(file, (seconds.get(file) ?? 0) + Number(attribute(testcase, 'time')));
  }
  return seconds;
}

function failuresIn(report: string): string[] {
  return testcasesIn(report)
    .filter((testcase) => testcase.includes('<failure'))
    .map((testcase) => `${attribute(testcase, 'file')}: ${attribute(testcase, 'name')}`);
}

function attribute(element: string, name: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
  const [, value = ''] = new RegExp(`${name}="([^"]*)"`).exec(element) ?? [];
  return value.replace(/&(\w+);/g, (entity, character: string) => characters[character] ?? entity);
}

/** Runs jobs in order, as soon as there are slots for the next one. */
async function runAll(jobs: readonly Job[]): Promise<Outcome[]> {
  let free = SLOTS;
  let freed = Promise.withResolvers<void>();
  const outcomes: Promise<Outcome>[] = [];
  for (const [index, job] of jobs.entries()) {
    while (free < job.slots) await freed.promise;
    free -= job.slots;
    const outcome = run(job, index);
    outcomes.push(outcome);
    void outcome.finally(() => {
      free += job.slots;
      freed.resolve();
      freed = Promise.withResolvers();
    });
  }
  return Promise.all(outcomes);
}

const all = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync('.')]
  .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part.replace(/^\.\//, ''))))
  .filter((path) => !isLong || hasLongCases(path))
  .sort();
const onSqlite = isPostgresOnly ? [] : all;
const shared = onSqlite.filter((path) => !startsProcesses(path));
const alone = onSqlite.filter(startsProcesses).sort(byDuration);
// The long cases are about sizes, and run once.
const onPostgres = all.filter((path) => !isLong && runsOnPostgres(path, isPostgresOnly || parts.length > 0));

const together = (engine: Job['engine'], files: readonly string[]): Job[] =>
  files.length > 0 ? [{ engine, files, slots: SLOTS / 2 }] : [];
const outcomes = await runAll([
  ...together('sqlite', shared),
  ...together('postgres', onPostgres),
  ...alone.map((path): Job => ({ engine: 'sqlite', files: [path], slots: 1 })),
]);
rmSync(scratch, { recursive: true, force: true });

const sum = (count: 'pass' | 'fail', engine?: Job['engine']) =>
  outcomes.reduce((total, outcome) => total + (engine && outcome.engine !== engine ? 0 : outcome[count]), 0);
const pass = sum('pass');
// A run without any test is no success.
const fail = pass + sum('fail') === 0 ? 1 : sum('fail');
for (const { engine, failures } of outcomes)
  for (const failure of failures) console.log(`failed${engine === 'postgres' ? ' on PostgreSQL' : ''}: ${failure}`);
if (isSlowestAsked) {
  const files = outcomes.flatMap(({ engine, seconds }) => [...seconds].map((entry) => [engine, ...entry] as const));
  console.log('\nslowest files, in seconds:');
  for (const [engine, file, seconds] of files.sort(([, , first], [, , second]) => second - first).slice(0, SLOWEST))
    console.log(`${seconds.toFixed(1).padStart(8)}  ${file}${engine === 'postgres' ? ' on PostgreSQL' : ''}`);
}
if (onPostgres.length > 0) {
  console.log('\nnot on PostgreSQL:');
  for (const [what, reason] of Object.entries(SQLITE_ONLY)) console.log(`  ${what}: ${reason}`);
  if (!isPostgresOnly) console.log(`  ${LESS_OFTEN.join(', ')}: run by bun run test:postgres`);
  console.log(`\non PostgreSQL: ${sum('pass', 'postgres')} passed, ${sum('fail', 'postgres')} failed`);
}
console.log(`\n${pass} passed, ${fail} failed`);
process.exit(fail === 0 ? 0 : 1);
