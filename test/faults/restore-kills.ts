/**
 * Kills `gatehouse restore` at random moments. Afterwards the folder holds the former data or the restored data, each
 * with its own key, never a mix. Prints figures when run directly:
 *
 *   bun test/faults/restore-kills.ts [ROUNDS]
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  BINARY,
  cleanEnvironment,
  emptyFolder,
  readDatabase,
  request,
  run,
  signIn,
  startServer,
} from '../support/binary.ts';
import { faultsOf } from './promises.ts';
import { insertMembers } from '../bench/rows.ts';
import { fill } from '../bench/server.ts';

export interface KilledRestore {
  readonly afterMs: number;
  readonly is: 'old' | 'new';
  /** Whether the server that completed the restore was killed during its start too. */
  readonly isKilledTwice: boolean;
  readonly problems: readonly string[];
}

interface Instance {
  /** Names of its applications, which identify the instance. */
  readonly names: string;
  /** A session that only this instance knows. */
  readonly session: string;
  readonly key: string;
}

const namesIn = (folder: string) =>
  readDatabase(folder, (sqlite) => sqlite.query('SELECT name FROM applications ORDER BY name').values().flat().join());

/** Creates an instance with rows, a session and its own key. */
async function makeInstance(folder: string, name: string, rows: number): Promise<Instance> {
  const key = (await run(['key'], { cwd: '/' })).stdout.trim();
  const env = { GATEHOUSE_WORKSPACE_KEY: key, GATEHOUSE_OWNER_EMAIL: 'owner@example.com' };
  const server = await startServer(folder, env);
  const made = await request(server, 'POST', '/api/applications', { token: key, body: { name } });
  const { token: session } = await signIn(server, 'owner@example.com');
  const own = await request(server, 'POST', '/api/workspace/api-keys', { token: key, body: { name, access: 'read' } });
  await server.stop();
  fill(folder, (sqlite) => insertMembers(sqlite, made.json.data.id, rows));
  return { names: namesIn(folder), session, key: own.json.data.token };
}

/** @param rows of the larger instance; more rows make the restore longer. */
export async function restoreKills(
  rounds: number,
  { rows = 20_000, tell = (_: string) => {} } = {},
): Promise<KilledRestore[]> {
  const scratch = emptyFolder();
  const at = (name: string) => join(scratch.path, name);
  const before = await makeInstance(at('old'), 'Old', 500);
  const after = await makeInstance(at('new'), 'New', rows);
  const backup = at('new.backup');
  await run(['backup', backup, '--data', at('new')], { cwd: scratch.path });
  const target = at('target');
  const prepare = () => {
    rmSync(target, { recursive: true, force: true });
    Bun.spawnSync(['cp', '-r', at('old'), target]);
  };
  const restore = () =>
    Bun.spawn([BINARY, 'restore', backup, '--data', target, '--force'], {
      env: cleanEnvironment(),
      stdout: 'ignore',
      stderr: 'ignore',
    });
  prepare();
  const began = performance.now();
  const whole = await restore().exited;
  const wholeMs = performance.now() - began;
  if (whole !== 0) throw new Error(`the restore ended with ${whole}`);
  tell(`a restore takes ${Math.round(wholeMs)} ms`);
  const done: KilledRestore[] = [];
  for (let round = 0; round < rounds; round += 1) {
    prepare();
    // Half of the kills hit the end, where folders are moved; the start and the copy take most of the time.
    const afterMs = (round % 2 === 0 ? Math.random() : 0.75 + Math.random() * 0.25) * wholeMs;
    const child = restore();
    await Bun.sleep(afterMs);
    child.kill('SIGKILL');
    await child.exited;
    const isKilledTwice = round % 3 === 2;
    if (isKilledTwice) {
      const early = Bun.spawn([BINARY, 'serve', '--data', target, '--port=0'], {
        env: cleanEnvironment(),
        stdout: 'ignore',
        stderr: 'ignore',
      });
      await Bun.sleep(Math.random() * 200);
      early.kill('SIGKILL');
      await early.exited;
    }
    const server = await startServer(target);
    const problems: string[] = [];
    const names = namesIn(target);
    const is = names === after.names ? 'new' : 'old';
    const [own, other] = is === 'new' ? [after, before] : [before, after];
    if (names !== own.names) problems.push(`a mix: ${names}`);
    const status = async (path: string, method: string, token: string) =>
      (await request(server, method, path, { token })).status;
    if ((await status('/api/v1/session', 'POST', own.session)) !== 200) problems.push('its session is not good');
    if ((await status('/api/applications', 'GET', own.key)) !== 200) problems.push('its key is not good');
    if ((await status('/api/v1/session', 'POST', other.session)) === 200)
      problems.push('a session of the other is good');
    // Codes are derived from the instance key, so a wrong key fails here.
    await signIn(server, 'owner@example.com').catch((error: Error) => problems.push(error.message));
    await server.stop();
    problems.push(...readDatabase(target, faultsOf).map((fault) => JSON.stringify(fault)));
    const left = readdirSync(target).filter((name) => name.startsWith('restore.'));
    if (left.length > 0) problems.push(`${left.join(', ')} is left`);
    const aside = readdirSync(target).filter((name) => name.startsWith('before-restore-'));
    if (is === 'new' && !(aside.length === 1 && existsSync(join(target, aside[0]!, 'gatehouse.db'))))
      problems.push('what was there before was not set aside');
    done.push({ afterMs, is, isKilledTwice, problems });
    tell(
      `round ${round + 1}: killed after ${Math.round(afterMs)} ms${isKilledTwice ? ', and at the start after it' : ''}: ${is}`,
    );
    for (const problem of problems) tell(`  BROKEN: ${problem}`);
  }
  scratch.remove();
  return done;
}

if (import.meta.main) {
  const rounds = await restoreKills(Number(process.argv[2] ?? 20), { tell: console.log });
  const broken = rounds.filter(({ problems }) => problems.length > 0).length;
  const restored = rounds.filter(({ is }) => is === 'new').length;
  console.log(
    `${rounds.length} kills: ${rounds.length - restored} times the old state, ${restored} times the new, ${broken} broken`,
  );
  process.exit(broken === 0 ? 0 : 1);
}
