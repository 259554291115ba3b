/** Runs every suite and closes with the line `N passed, N failed`. */
/** More workers than two cores, since many suites wait for processes, browsers and timers. */
const WORKERS = 4;

const child = Bun.spawn(
  [process.execPath, 'test', `--parallel=${WORKERS}`, '--timeout', '30000', ...process.argv.slice(2)],
  {
    stdout: 'pipe',
    stderr: 'pipe',
  },
);

const counts = { pass: 0, fail: 0 };

/** Passes output on as it comes and reads the runner's totals out of it. */
async function follow(stream: ReadableStream<Uint8Array>, out: { write(chunk: string): unknown }): Promise<void> {
  const decoder = new TextDecoder();
  let tail = '';
  for await (const chunk of stream) {
    const text = decoder.decode(chunk, { stream: true });
    out.write(text);
    tail = (tail + text).slice(-4000);
  }
  for (const kind of ['pass', 'fail'] as const) {
    const total = new RegExp(`^\\s*(\\d+) ${kind}`, 'm').exec(Bun.stripANSI(tail));
    if (total) counts[kind] += Number(total[1]);
  }
}

await Promise.all([follow(child.stdout, process.stdout), follow(child.stderr, process.stderr)]);
const exitCode = await child.exited;
// A crashed runner counts as a failure even where it could not count.
if (exitCode !== 0 && counts.fail === 0) counts.fail = 1;
console.log(`\n${counts.pass} passed, ${counts.fail} failed`);
process.exit(exitCode);
