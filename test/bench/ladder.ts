/**
 * The cost of each step of a verification, in processor time a request: a bare server, then with one step more on each
 * rung, and ours. In each round all servers are started anew and measured in turn: they share what else the machine
 * does, and two processes of one program differ by a tenth for as long as they run. Medians are printed, and one JSON
 * line. With `--tokens`, the load uses that many of the sessions. Needs wrk, and the built binary or
 * `BENCH_COMMAND='bun src/main.ts'`.
 * Usage: bun test/bench/ladder.ts [seconds] [--rounds N] [--sessions N] [--tokens N] [--path verify|session] [--only elysia,log,ours]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyFolder, freePort } from '../support/binary.ts';
import { type Rung, RUNGS } from './ladder-server.ts';
import { giveRole, insertMembers, insertSessions } from './rows.ts';
import { createApplication, createKeys, fill, round, startServer } from './server.ts';
import { type Contestant, measureInTurn, medians, type Window } from './windows.ts';
import { bearerScript, verifyScript } from './wrk-scripts.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    sessions: { type: 'string', default: '10000' },
    tokens: { type: 'string' },
    path: { type: 'string', default: 'verify' },
    only: { type: 'string', default: [...RUNGS, 'ours'].join() },
    connections: { type: 'string', default: '32' },
  },
});
/** Compiles, and writes the first of the last-seen times. */
const WARM_UP_SECONDS = 4;
/** Tokens for each further second: caches are filled once each was used a dozen times. */
const TOKENS_A_SECOND = 2500;
const seconds = Number(positionals[0] ?? 2);
const isVerify = values.path === 'verify';
if (!isVerify && values.path !== 'session') throw new Error('--path is verify or session');
const path = `/api/v1/${values.path}`;
const names = values.only.split(',') as (Rung | 'ours')[];

const scratch = emptyFolder();
const folder = scratch.path;
const running = new Set<Contestant>();
try {
  const setup = await startServer(folder);
  const { id: applicationId } = await createApplication(setup, 'Bench');
  const keys = await createKeys(setup, `/api/applications/${applicationId}`);
  await setup.stop();
  const tokens = fill(folder, (sqlite) => {
    const people = insertMembers(sqlite, applicationId, Number(values.sessions));
    giveRole(sqlite, applicationId, 'user', people);
    return insertSessions(sqlite, people, people.length);
  });
  const used = tokens.slice(0, Number(values.tokens ?? tokens.length));
  await Bun.write(join(folder, 'tokens'), used.join('\n'));
  const list = join(folder, 'tokens');
  const script = isVerify ? verifyScript(list, keys) : bearerScript(list, 'POST', path);
  const connections = Number(values.connections);
  const warmUpSeconds = seconds + WARM_UP_SECONDS + Math.round(used.length / TOKENS_A_SECOND);
  const windows = new Map(names.map((name): [string, Window[]] => [name, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const name of names) running.add(await start(name, script));
    await measureInTurn([...running], 1, { seconds, connections, folder, warmUpSeconds });
    for (const one of running) windows.get(one.name)?.push(...one.windows);
    await stopAll();
  }
  const rows = names.map((name) => ({ name, ...medians(windows.get(name) ?? []) }));
  const lean = rows.find(({ name }) => name === 'log');
  for (const row of rows)
    console.error(
      `${row.name.padEnd(9)}${String(row.cpuUs).padStart(6)} µs${String(row.requestsPerSecond).padStart(8)}/s` +
        `${lean ? `${round((row.requestsPerSecond / lean.requestsPerSecond) * 100)} %`.padStart(7) : ''}` +
        `  p50 ${row.p50Ms} ms, p99 ${row.p99Ms} ms`,
    );
  console.log(
    JSON.stringify({ benchmark: 'ladder', path, sessions: tokens.length, tokens: used.length, seconds, rows }),
  );
} finally {
  await stopAll();
  scratch.remove();
}

async function stopAll(): Promise<void> {
  for (const one of running) await one.stop();
  running.clear();
}

async function start(name: Rung | 'ours', script: string): Promise<Contestant> {
  if (name === 'ours') {
    const { url, pid, stop } = await startServer(folder);
    return { name, url, pid, script, windows: [], stop };
  }
  const port = freePort();
  const file = join(import.meta.dir, 'ladder-server.ts');
  const child = Bun.spawn([process.execPath, file, String(port), name, join(folder, 'gatehouse.db')], {
    stdout: Bun.file(join(folder, `log-${name}`)),
    stderr: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(url).catch(() => null))) await Bun.sleep(20);
  return {
    name,
    url,
    pid: child.pid,
    script,
    windows: [],
    stop() {
      child.kill();
      return child.exited;
    },
  };
}
