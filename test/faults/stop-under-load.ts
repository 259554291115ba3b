/**
 * Sends SIGTERM to a busy server: sign-ins, changes, imports, streams, slow bodies, background tasks and a backup. It
 * exits with 0 within ten seconds, and every acknowledged change is there afterwards. Prints figures when run
 * directly:
 *
 *   bun test/faults/stop-under-load.ts [ROUNDS]
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspectBackup } from '../../src/db/sqlite/backup.ts';
import {
  emptyFolder,
  eventually,
  readDatabase,
  request,
  type RunningServer,
  signIn,
  startServer,
} from '../support/binary.ts';
import { mixedLoad } from './mixed-load.ts';
import { faultsOf, lossesOf, type Promised, trailLossesOf } from './promises.ts';
import { type Scene, setScene } from './scene.ts';

export interface StopRound {
  readonly exitCode: number;
  readonly ms: number;
  /** Number of answers of 200 before the signal. */
  readonly promised: number;
  readonly streams: number;
  /** Streams that were cut off instead of ended. */
  readonly cut: number;
  /** Whether a backup was running. */
  readonly isBackingUp: boolean;
  readonly losses: readonly string[];
  /** Unexpected answers after the signal. */
  readonly problems: readonly string[];
}

const LIMIT_MS = 10_000;
const STREAMS = 20;
const SLOW_BODIES = 10;

/** Sends a request that never completes. */
async function slowBody({ url }: RunningServer, token: string): Promise<{ drop(): void }> {
  const { hostname, port } = new URL(url);
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {}, error() {} } });
  socket.write(
    `POST /api/applications HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":',
  );
  return { drop: () => void socket.terminate() };
}

async function stopRound(
  round: number,
  { folder, backups, scene, slowBodies }: { folder: string; backups: string; scene: Scene; slowBodies: number },
): Promise<StopRound> {
  const server = await startServer(folder, { ...scene.env, GATEHOUSE_BACKUP_TO: backups });
  const promises: Promised[] = [];
  const problems: string[] = [];
  let isOver = false;
  const load = mixedLoad({
    server,
    scene,
    round,
    isConcurrent: true,
    promise: (promised) => void promises.push(promised),
    isOver: () => isOver,
  }).catch((error: Error) => {
    // Late requests may be answered 503.
    if (!isOver || !/answered 503/.test(error.message)) problems.push(error.message);
  });
  let [open, ended, cut] = [0, 0, 0];
  const listening: Promise<void>[] = [];
  async function listen(token: string): Promise<void> {
    const response = await fetch(`${server.url}/api/v1/session/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (response.status !== 200) return void problems.push(`a stream was answered ${response.status}`);
    open += 1;
    try {
      for await (const _ of response.body!);
      ended += 1;
    } catch {
      cut += 1;
    }
  }
  const sessions = () => promises.flatMap((promised) => (promised.kind === 'session' ? [promised.token] : []));
  await Promise.race([load, eventually('a session', () => sessions().length > 0, 30_000)]);
  for (let stream = 0; stream < STREAMS; stream += 1) {
    // A session may have four streams; the next four use another session.
    const token = sessions()[Math.min(Math.floor(stream / 4), sessions().length - 1)]!;
    listening.push(listen(token).catch(() => void (cut += 1)));
  }
  const slow = await Promise.all(Array.from({ length: slowBodies }, () => slowBody(server, scene.token)));
  const { token: owner } = await signIn(server, scene.ownerEmail);
  const backup = await request(server, 'POST', '/api/workspace/backups', { token: owner, body: {} });
  // Sends the signal at a random moment.
  await Bun.sleep(Math.random() * 600);
  const isBackingUp =
    backup.status === 200 &&
    readDatabase(folder, (sqlite) => sqlite.query("SELECT 1 FROM backup_runs WHERE status = 'running'").get()) !== null;
  isOver = true;
  const streams = open;
  const began = performance.now();
  const exitCode = await server.stop();
  const ms = performance.now() - began;
  await load;
  await Promise.all(listening);
  for (const { drop } of slow) drop();
  const left = readdirSync(backups).filter((name) => !/\.db$/.test(name));
  if (left.length > 0) problems.push(`a backup has left ${left.join(', ')}`);
  for (const name of readdirSync(backups))
    if (existsSync(join(backups, name))) inspectBackup(join(backups, name), name);
  const again = await startServer(folder, scene.env);
  const losses = [...(await lossesOf(promises, scene, again)), ...(await trailLossesOf(promises, scene, again))];
  await again.stop();
  if (exitCode !== 0) problems.push(`it ended with ${exitCode}`);
  if (ms > LIMIT_MS) problems.push(`it took ${Math.round(ms)} ms`);
  return { exitCode, ms, promised: promises.length, streams, cut, isBackingUp, losses, problems };
}

export async function stopsUnderLoad(
  rounds: number,
  { sessionsEach = 3000, slowBodies = SLOW_BODIES, tell = (_: string) => {} } = {},
): Promise<{ rounds: StopRound[]; faults: readonly unknown[] }> {
  const scratch = emptyFolder();
  const folder = join(scratch.path, 'data');
  const backups = join(scratch.path, 'backups');
  mkdirSync(backups);
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const scene = await setScene(folder, { receiverUrl: receiver.url.href, doomed: rounds, sessionsEach });
  const done: StopRound[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const one = await stopRound(round, { folder, backups, scene, slowBodies });
    done.push(one);
    const { ms, promised, streams, cut, isBackingUp, losses, problems } = one;
    tell(
      `round ${round + 1}: ${promised} promises, ${streams} streams${isBackingUp ? ', a backup' : ''}: ` +
        `exit in ${Math.round(ms)} ms, ${cut} streams cut, ${losses.length} lost`,
    );
    for (const problem of [...losses, ...problems]) tell(`  BROKEN: ${problem.slice(0, 300)}`);
  }
  const faults = readDatabase(folder, faultsOf);
  await receiver.stop(true);
  scratch.remove();
  return { rounds: done, faults };
}

if (import.meta.main) {
  const { rounds, faults } = await stopsUnderLoad(Number(process.argv[2] ?? 20), { tell: console.log });
  const sorted = rounds.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b);
  const broken = rounds.filter(({ losses, problems }) => losses.length + problems.length > 0).length;
  console.log(`${rounds.length} stops: ${broken} broken; ${sorted[0]} to ${sorted.at(-1)} ms, ${faults.length} faults`);
  process.exit(broken + faults.length === 0 ? 0 : 1);
}
