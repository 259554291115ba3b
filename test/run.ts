/** Runs every suite and closes with the line `N passed, N failed`. Arguments: parts of paths to keep to, flags of the runner. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startsProcesses } from './support/suites.ts';

/** More workers than two cores, since many suites wait for processes, browsers and timers; the others wait for less. */
const WORKERS = { apart: 4, together: 3 };

/** So many files at most that failed beside others are run again, alone; more are no accident. */
const MOST_AGAIN = 3;

const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-test-run-'));

interface Counts {
  pass: number;
  fail: number;
}

interface Outcome extends Counts {
  readonly exitCode: number;
  /** What is known of each file. Where a file did not even load, its failure is in the totals alone. */
  readonly files: ReadonlyMap<string, Counts>;
}

/** Runs some files to their end; the output goes on as it comes, and the totals are read out of it. */
async function run(files: readonly string[], name: string, how: readonly string[]): Promise<Outcome> {
  const report = join(scratch, `${name}.xml`);
  const reporting = ['--reporter=junit', `--reporter-outfile=${report}`];
  const paths = files.map((path) => `./${path}`);
  const child = Bun.spawn([process.execPath, 'test', '--timeout', '30000', ...reporting, ...how, ...flags, ...paths], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const totals = { pass: 0, fail: 0, files: 0 };
  async function follow(stream: ReadableStream<Uint8Array>, out: { write(chunk: string): unknown }): Promise<void> {
    const decoder = new TextDecoder();
    let tail = '';
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true });
      out.write(text);
      tail = (tail + text).slice(-4000);
    }
    const plain = Bun.stripANSI(tail);
    for (const kind of ['pass', 'fail'] as const)
      totals[kind] += Number(new RegExp(`^\\s*(\\d+) ${kind}`, 'm').exec(plain)?.[1] ?? 0);
    totals.files += Number(/^Ran \d+ tests? across (\d+) files?/m.exec(plain)?.[1] ?? 0);
  }
  await Promise.all([follow(child.stdout, process.stdout), follow(child.stderr, process.stderr)]);
  const exitCode = await child.exited;
  const { pass, fail } = totals;
  // A crashed runner counts as a failure even where it could not count, and so does a file that it has passed over.
  const isIncomplete = fail === 0 && (exitCode !== 0 || totals.files !== files.length);
  return { pass, fail: isIncomplete ? 1 : fail, exitCode, files: readReport(report) };
}

function readReport(path: string): Map<string, Counts> {
  const found = new Map<string, Counts>();
  let report = '';
  try {
    report = readFileSync(path, 'utf8');
  } catch {
    // A runner that crashed has written none.
  }
  for (const testcase of report.split('<testcase ').slice(1)) {
    const file = / file="([^"]*)"/.exec(testcase)?.[1] ?? '';
    const counts = found.get(file) ?? { pass: 0, fail: 0 };
    if (testcase.includes('<failure')) counts.fail += 1;
    else if (!testcase.includes('<skipped')) counts.pass += 1;
    found.set(file, counts);
  }
  return found;
}

const all = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync('.')]
  .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part.replace(/^\.\//, ''))))
  .sort();
const [apart, together] = [all.filter((path) => startsProcesses(path)), all.filter((path) => !startsProcesses(path))];

const outcomes: Outcome[] = [];
// What stays in the test's process shares the loaded product from file to file: loading it takes longer than most suites.
if (together.length > 0)
  outcomes.push(await run(together, 'together', [`--parallel=${WORKERS.together}`, '--no-isolate']));
if (apart.length > 0) outcomes.push(await run(apart, 'apart', [`--parallel=${WORKERS.apart}`]));

const counts = { pass: 0, fail: all.length === 0 ? 1 : 0 };
for (const { pass, fail } of outcomes) {
  counts.pass += pass;
  counts.fail += fail;
}
const failed = outcomes.flatMap(({ files }) => [...files].filter(([, { fail }]) => fail > 0));
const isAllKnown = failed.reduce((sum, [, { fail }]) => sum + fail, 0) === counts.fail;
const recovered: string[] = [];
if (failed.length > 0 && failed.length <= MOST_AGAIN && isAllKnown)
  for (const [index, [file, before]] of failed.entries()) {
    console.log(`\n${file} failed beside others; it is run again, alone.\n`);
    const { pass, fail, exitCode } = await run([file], `again-${index}`, []);
    if (fail > 0 || exitCode !== 0) continue;
    recovered.push(file);
    counts.pass += pass - before.pass;
    counts.fail -= before.fail;
  }

rmSync(scratch, { recursive: true, force: true });
if (recovered.length > 0) console.log(`\nFAILED BESIDE OTHERS, PASSED ALONE: ${recovered.join(', ')}`);
console.log(`\n${counts.pass} passed, ${counts.fail} failed`);
process.exit(counts.fail === 0 ? 0 : 1);
