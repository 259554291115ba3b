/**
 * Time and CPU time of a command, and of a start on an existing data folder until `/readyz` answers. Prints one JSON
 * line; the least of several runs is the one that other work on the machine has disturbed least.
 * Usage: bun test/bench/start.ts [runs]
 */
import { join } from 'node:path';
import { BINARY, cleanEnvironment, emptyFolder, freePort } from '../support/binary.ts';
import { cpuMs, round } from './server.ts';

const runs = Number(process.argv[2] ?? 20);
/** Between two attempts to connect. */
const PAUSE_MS = 2;

interface Times {
  readonly ms: number;
  readonly cpuMs: number;
}

const scratch = emptyFolder();
try {
  // Creates the database, which later starts only open.
  await start();
  const commands: Times[] = [];
  const starts: Times[] = [];
  for (let run = 0; run < runs; run += 1) {
    commands.push(command());
    starts.push(await start());
  }
  console.log(JSON.stringify({ benchmark: 'start', runs, command: summary(commands), start: summary(starts) }));
} finally {
  scratch.remove();
}

function command(): Times {
  const since = performance.now();
  const { resourceUsage, exitCode } = Bun.spawnSync([BINARY, 'version'], { env: cleanEnvironment({}) });
  if (exitCode !== 0) throw new Error(`the command ended with ${exitCode}`);
  return { ms: performance.now() - since, cpuMs: Number(resourceUsage.cpuTime.total) / 1000 };
}

async function start(): Promise<Times> {
  const port = freePort();
  const since = performance.now();
  const child = Bun.spawn([BINARY, 'serve', '--data', scratch.path, '--port', String(port)], {
    env: cleanEnvironment({ GATEHOUSE_OWNER_EMAIL: 'owner@example.com' }),
    stdin: 'ignore',
    stdout: Bun.file(join(scratch.path, 'log')),
    stderr: 'inherit',
  });
  while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await Bun.sleep(PAUSE_MS);
  }
  const times = { ms: performance.now() - since, cpuMs: cpuMs(child.pid) };
  child.kill('SIGTERM');
  await child.exited;
  return times;
}

function summary(times: readonly Times[]) {
  const of = (key: keyof Times) => {
    const sorted = times.map((time) => time[key]).sort((one, other) => one - other);
    return { least: round(sorted[0]!), median: round(sorted[Math.floor(sorted.length / 2)]!) };
  };
  return { ms: of('ms'), cpuMs: of('cpuMs') };
}
