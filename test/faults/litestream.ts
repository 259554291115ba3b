/**
 * Loses the machine while Litestream copies the database: kills server and Litestream under a load of changes, deletes
 * the data folder, and restores the replica. Prints figures when run directly:
 *
 *   bun test/faults/litestream.ts [SECONDS [WRITERS [USERS A CHANGE]]]
 */
import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom } from '../../src/core/random.ts';
import { mintSecret } from '../../src/core/secret.ts';
import {
  databaseCode,
  emptyFolder,
  eventually,
  raiseLimits,
  readDatabase,
  request,
  sendCode,
  startServer,
  verifyCode,
} from '../support/binary.ts';
import { configFor, LITESTREAM } from '../support/litestream.ts';
import { faultsOf } from './promises.ts';

export interface LostMachine {
  readonly promised: number;
  readonly lost: number;
  /** Time from the first lost answer to the end of the machine; 0 if nothing was lost. */
  readonly lostMs: number;
  /** Number of lost changes that are followed by a kept change of the same writer. */
  readonly gaps: number;
  /** Status of a session from before the load, and the largest size of the server's log. */
  readonly sessionStatus: number;
  readonly mostLogBytes: number;
  readonly worstMs: number;
  readonly restoreMs: number;
}

interface Change {
  readonly writer: number;
  readonly email: string;
  readonly at: number;
}

/** @throws if the restored database is damaged. */
export async function loseMachine(options: { seconds?: number; writers?: number; users?: number } = {}) {
  const scratch = emptyFolder();
  const begun: Bun.Subprocess[] = [];
  try {
    return await play(scratch, begun, options);
  } finally {
    for (const child of begun) child.kill('SIGKILL');
    scratch.remove();
  }
}

async function play(
  scratch: { readonly path: string },
  begun: Bun.Subprocess[],
  { seconds = 5, writers = 2, users = 1 }: { seconds?: number; writers?: number; users?: number },
): Promise<LostMachine> {
  if (LITESTREAM === null) throw new Error('there is no Litestream for this platform among the packages');
  const folder = join(scratch.path, 'data');
  const kept = join(scratch.path, 'kept.key');
  const config = join(scratch.path, 'litestream.yml');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(config, configFor(folder, join(scratch.path, 'replica')));
  const token = mintSecret('apiKey', systemRandom);
  const env = { GATEHOUSE_OWNER_EMAIL: 'owner@example.com', GATEHOUSE_WORKSPACE_KEY: token };
  const server = await startServer(folder, env);
  const copier = Bun.spawn([LITESTREAM, 'replicate', '-config', config], { stdout: 'ignore', stderr: 'ignore' });
  begun.push(server.process, copier);
  await raiseLimits(server, token);
  copyFileSync(join(folder, 'instance.key'), kept);
  const challengeId = await sendCode(server, 'owner@example.com', 'console');
  const session = (await verifyCode(server, challengeId, databaseCode(folder, 'owner@example.com'))).json.data.token;
  const made = await request(server, 'POST', '/api/applications', { token, body: { name: 'Shop' } });
  const path = `/api/applications/${made.json.data.id}/users/bulk`;

  const promised: Change[] = [];
  let isOver = false;
  let mostLogBytes = 0;
  let worstMs = 0;
  async function write(writer: number): Promise<void> {
    for (let turn = 0; !isOver; turn += 1) {
      const emails = Array.from({ length: users }, (_, at) => `w${writer}-${turn}-${at}@example.com`);
      const since = performance.now();
      const body = { users: emails.map((email) => ({ email })) };
      const answer = await request(server, 'POST', path, { token, body }).catch(() => null);
      if (answer === null) return;
      if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${answer.text}`);
      const at = performance.now();
      worstMs = Math.max(worstMs, at - since);
      promised.push(...emails.map((email) => ({ writer, email, at })));
      mostLogBytes = Math.max(mostLogBytes, statSync(join(folder, 'gatehouse.db-wal')).size);
    }
  }
  await eventually('a first copy', () => statSync(join(scratch.path, 'replica'), { throwIfNoEntry: false }));
  const load = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await Promise.race([load, Bun.sleep(seconds * 1000)]);
  const killedAt = performance.now();
  copier.kill('SIGKILL');
  server.process.kill('SIGKILL');
  isOver = true;
  await Promise.all([load, copier.exited, server.process.exited]);
  rmSync(folder, { recursive: true });

  const began = performance.now();
  const restore = Bun.spawn([LITESTREAM, 'restore', '-config', config, join(folder, 'gatehouse.db')], {
    stdout: 'ignore',
    stderr: 'pipe',
  });
  if ((await restore.exited) !== 0) throw new Error(await new Response(restore.stderr).text());
  const restoreMs = performance.now() - began;
  copyFileSync(kept, join(folder, 'instance.key'));
  const faults = readDatabase(folder, faultsOf);
  if (faults.length > 0) throw new Error(`what came back is damaged: ${JSON.stringify(faults).slice(0, 1000)}`);
  const again = await startServer(folder, env);
  begun.push(again.process);
  const { status: sessionStatus } = await request(again, 'POST', '/api/v1/session', { token: session });
  const there = new Set(
    readDatabase(folder, (sqlite) => sqlite.query('SELECT reserved_email FROM application_users').values().flat()),
  );
  await again.stop();
  const lost = promised.filter(({ email }) => !there.has(email));
  const first = new Map<number, number>();
  for (const { writer, at } of lost) first.set(writer, Math.min(at, first.get(writer) ?? Infinity));
  const gaps = promised.filter(({ writer, email, at }) => there.has(email) && at > (first.get(writer) ?? Infinity));
  return {
    promised: promised.length,
    lost: lost.length,
    lostMs: lost.length === 0 ? 0 : killedAt - Math.min(...lost.map(({ at }) => at)),
    gaps: gaps.length,
    sessionStatus,
    mostLogBytes,
    worstMs,
    restoreMs,
  };
}

if (import.meta.main) {
  const [seconds = 20, writers = 4, users = 1] = process.argv.slice(2).map(Number);
  const found = await loseMachine({ seconds, writers, users });
  const { promised, lost, lostMs, mostLogBytes, worstMs, restoreMs, gaps, sessionStatus } = found;
  console.log(
    `${promised} users acknowledged in ${seconds} s by ${writers} writers, the slowest answer in ${Math.round(worstMs)} ms`,
  );
  console.log(
    `lost: ${lost}, of the last ${Math.round(lostMs)} ms; ${gaps} gaps; a session from before: ${sessionStatus}`,
  );
  console.log(
    `the log at its longest: ${(mostLogBytes / 2 ** 20).toFixed(1)} MiB; restored in ${Math.round(restoreMs)} ms`,
  );
  process.exit(gaps === 0 && sessionStatus === 200 ? 0 : 1);
}
