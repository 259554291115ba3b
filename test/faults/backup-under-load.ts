/**
 * Makes backups under a full write load. Each must be consistent and contain every change acknowledged before it
 * began. Some are killed halfway: then the file is missing or complete. Prints figures when run directly:
 *
 *   bun test/faults/backup-under-load.ts [ROUNDS]
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inspectBackup } from '../../src/db/sqlite/backup.ts';
import {
  BINARY,
  cleanEnvironment,
  emptyFolder,
  eventually,
  readDatabase,
  run,
  startServer,
} from '../support/binary.ts';
import { mixedLoad } from './mixed-load.ts';
import { faultsOf, lossesOf, type Promised } from './promises.ts';
import { setScene } from './scene.ts';

export interface BackupRound {
  readonly promised: number;
  readonly ms: number;
  readonly bytes: number;
  /** Size of the server's write-ahead log when the backup was made. */
  readonly logBytes: number;
  readonly losses: readonly string[];
  readonly faults: readonly unknown[];
}

export interface KilledRound {
  readonly afterMs: number;
  readonly isThere: boolean;
}

/** @param rounds number of backups to restore, and of backups to kill. */
export async function backupsUnderLoad(
  rounds: number,
  tell: (line: string) => void = () => {},
): Promise<{ restored: BackupRound[]; killed: KilledRound[] }> {
  const scratch = emptyFolder();
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const folder = join(scratch.path, 'data');
  const scene = await setScene(folder, { receiverUrl: receiver.url.href, doomed: 1, sessionsEach: 2000 });
  const server = await startServer(folder, scene.env);
  const promises: Promised[] = [];
  let isOver = false;
  const load = mixedLoad({
    server,
    scene,
    round: 0,
    isConcurrent: true,
    promise: (promised) => void promises.push(promised),
    isOver: () => isOver,
  });
  const failed = load.then(
    () => {},
    (error: unknown) => Promise.reject(error),
  );
  failed.catch(() => {});
  const made: { path: string; before: number; ms: number; logBytes: number }[] = [];
  const killed: KilledRound[] = [];
  try {
    await eventually('acknowledged changes', () => promises.length > 50, 30_000);
    for (let round = 0; round < rounds; round += 1) {
      const path = join(scratch.path, `backup-${round}.db`);
      const before = promises.length;
      const began = performance.now();
      const { exitCode, stderr } = await Promise.race([
        run(['backup', path, '--data', folder], { cwd: scratch.path }),
        failed.then((): never => {
          throw new Error('the load ended');
        }),
      ]);
      if (exitCode !== 0) throw new Error(`the backup ended with ${exitCode}: ${stderr}`);
      made.push({
        path,
        before,
        ms: performance.now() - began,
        logBytes: statSync(join(folder, 'gatehouse.db-wal')).size,
      });
      const usualMs = made.reduce((sum, { ms }) => sum + ms, 0) / made.length;
      killed.push(await killOne(folder, join(scratch.path, `killed-${round}.db`), Math.random() * usualMs));
    }
  } finally {
    isOver = true;
    await load.catch(() => {});
    await server.stop();
  }
  const later = promises.filter(({ kind }) => kind === 'deleting webhook');
  const restored: BackupRound[] = [];
  for (const [round, { path, before, ms, logBytes }] of made.entries()) {
    const target = join(scratch.path, `restored-${round}`);
    const { exitCode, stderr } = await run(['restore', path, '--data', target], { cwd: scratch.path });
    if (exitCode !== 0) throw new Error(`the restore ended with ${exitCode}: ${stderr}`);
    const again = await startServer(target, scene.env);
    // Checks a sample: each check is a request.
    const promised = sample(promises.slice(0, before), 400);
    const losses = await lossesOf([...promised, ...later], scene, again);
    const faults = readDatabase(target, faultsOf);
    await again.stop();
    restored.push({ promised: before, ms, bytes: statSync(path).size, logBytes, losses, faults });
    tell(
      `round ${round + 1}: ${before} promises before it, ${Math.round(ms)} ms, ${megabytes(statSync(path).size)}, log ${megabytes(logBytes)}: ${losses.length} lost, ${faults.length} faults`,
    );
    rmSync(target, { recursive: true, force: true });
  }
  await receiver.stop(true);
  scratch.remove();
  return { restored, killed };
}

/** Kills a backup halfway. @throws if it leaves an unusable file. */
async function killOne(folder: string, path: string, afterMs: number): Promise<KilledRound> {
  const child = Bun.spawn([BINARY, 'backup', path, '--data', folder], {
    env: cleanEnvironment(),
    stdout: 'ignore',
    stderr: 'ignore',
  });
  await Bun.sleep(afterMs);
  child.kill('SIGKILL');
  await child.exited;
  const isThere = existsSync(path);
  if (isThere) inspectBackup(path, path);
  return { afterMs, isThere };
}

function sample<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return Array.from({ length: Math.min(count, items.length) }, (_, at) => items[Math.floor(at * step)]!);
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

if (import.meta.main) {
  const { restored, killed } = await backupsUnderLoad(Number(process.argv[2] ?? 10), console.log);
  const clean = restored.filter(({ losses, faults }) => losses.length + faults.length === 0).length;
  console.log(`restored clean: ${clean} of ${restored.length}`);
  console.log(
    `killed in the middle: ${killed.length}; a good file ${killed.filter(({ isThere }) => isThere).length} times, else none`,
  );
  for (const { losses, faults } of restored) for (const problem of [...losses, ...faults]) console.log(problem);
  process.exit(clean === restored.length ? 0 : 1);
}
