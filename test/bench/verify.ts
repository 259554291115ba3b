/**
 * Verifications per second with live look-ups, against a bare Elysia server under the same load just before and
 * after; and how long others wait meanwhile. All sessions are used in turn, so all of them are active. Prints one
 * JSON line.
 * Usage: bun test/bench/verify.ts [seconds] [--sessions N] [--path verify|session]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyFolder, freePort } from '../support/binary.ts';
import { giveRole, insertMembers, insertSessions } from './rows.ts';
import { anonymousMiB, createApplication, createKeys, cpuMs, fill, residentMiB, round, startServer } from './server.ts';
import { whileWatched } from './waits.ts';
import { wrk, type WrkResult } from './wrk.ts';
import { bearerScript, verifyScript } from './wrk-scripts.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sessions: { type: 'string', default: '10000' },
    path: { type: 'string', default: 'verify' },
    connections: { type: 'string', default: '32' },
  },
});
const seconds = Number(positionals[0] ?? 10);
const sessions = Number(values.sessions);
if (values.path !== 'verify' && values.path !== 'session') throw new Error('--path is verify or session');
const path = `/api/v1/${values.path}`;
const connections = Number(values.connections);
/** The number of tokens verified one by one before the load, to check that it uses valid ones. */
const SAMPLE = 100;

const scratch = emptyFolder();
const folder = scratch.path;
try {
  const setup = await startServer(folder);
  const { id: applicationId } = await createApplication(setup, 'Bench');
  const keys = await createKeys(setup, `/api/applications/${applicationId}`);
  await setup.stop();
  const tokens = fill(folder, (sqlite) => {
    const people = insertMembers(sqlite, applicationId, sessions);
    giveRole(sqlite, applicationId, 'user', people);
    return insertSessions(sqlite, people, sessions);
  });
  const file = join(folder, 'tokens');
  await Bun.write(file, tokens.join('\n'));
  const script = values.path === 'verify' ? verifyScript(file, keys) : bearerScript(file, 'POST', path);

  const bareBefore = await loadBare(script);
  const server = await startServer(folder);
  const bytes = await sampleBytes(server.url, keys[0]!, tokens);
  const [idleMiB, idleAnonymousMiB] = [residentMiB(server.pid), anonymousMiB(server.pid)];
  const cpuBefore = cpuMs(server.pid);
  const { result, waits } = await whileWatched(server, () => load(server.url, script));
  const cpuUs = ((cpuMs(server.pid) - cpuBefore) / result.requests) * 1000;
  // A refusal is a 200 as well, but a much shorter answer.
  if (result.errors > 0 || result.bytesPerAnswer < bytes * 0.9)
    throw new Error(`not every session was verified: ${JSON.stringify(result)}, expected ${bytes} bytes`);
  const memory = { idle: round(idleMiB), after: round(residentMiB(server.pid)) };
  const anonymous = { idle: round(idleAnonymousMiB), after: round(anonymousMiB(server.pid)) };
  await server.stop();
  const bareAfter = await loadBare(script);
  const bare = (bareBefore.requestsPerSecond + bareAfter.requestsPerSecond) / 2;
  console.log(
    JSON.stringify({
      benchmark: 'verify',
      path,
      sessions,
      requestsPerSecond: result.requestsPerSecond,
      percentOfBare: round((result.requestsPerSecond / bare) * 100, 1),
      bare: [bareBefore.requestsPerSecond, bareAfter.requestsPerSecond],
      cpuUsPerRequest: { server: round(cpuUs, 1), bare: round((bareBefore.cpuUs + bareAfter.cpuUs) / 2, 1) },
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      // The share of client and machine.
      bareP99Ms: [bareBefore.p99Ms, bareAfter.p99Ms],
      longestMs: result.longestMs,
      others: waits,
      residentMiB: memory,
      anonymousMiB: anonymous,
    }),
  );
} finally {
  scratch.remove();
}

function load(url: string, script: string): Promise<WrkResult> {
  return wrk({ url, connections: connections, seconds, folder, script });
}

/** CPU time is more meaningful than rates on a machine that is not idle. */
async function loadBare(script: string): Promise<WrkResult & { cpuUs: number }> {
  const port = freePort();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'bare.ts'), String(port)], { stdout: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  try {
    while (!(await fetch(url).catch(() => null))) await Bun.sleep(20);
    const cpuBefore = cpuMs(child.pid);
    const result = await load(url, script);
    return { ...result, cpuUs: ((cpuMs(child.pid) - cpuBefore) / result.requests) * 1000 };
  } finally {
    child.kill();
  }
}

/** @returns the size of a successful answer with its headers. */
async function sampleBytes(url: string, key: string, tokens: readonly string[]): Promise<number> {
  let bytes = 0;
  for (let index = 0; index < SAMPLE; index += 1) {
    const token = tokens[Math.floor((index * tokens.length) / SAMPLE)]!;
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${values.path === 'verify' ? key : token}`,
        'content-type': 'application/json',
      },
      ...(values.path === 'verify' && { body: JSON.stringify({ token }) }),
    });
    const text = await response.text();
    if (!response.ok || text.includes('"success":false')) throw new Error(`a session is refused: ${text}`);
    bytes += text.length;
  }
  return bytes / SAMPLE;
}
