/**
 * Crashes: the server is killed again and again in the middle of sign-ins and key creations, on one data folder. What was
 * acknowledged with a 200 must be there afterwards. `CRASH_ROUNDS` sets how often.
 */
import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  emptyFolder,
  readDatabase,
  request,
  run,
  type RunningServer,
  sendCode,
  startServer,
  verifyCode,
} from '../support/binary.ts';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 30);
const SIGN_IN_WORKERS = 4;
const KEY_WORKERS = 2;
setDefaultTimeout(30_000 + ROUNDS * 3000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

/** What the server said yes to. */
interface Acknowledged {
  readonly sent: { email: string; challengeId: string }[];
  readonly signedIn: { token: string; challengeId: string; code: string }[];
  readonly keys: string[];
}

/** The data folder, and who may do what in it. */
interface Scene {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** A live application, that everyone signs in to. */
  readonly clientId: string;
  /** A key whose own limits are out of the way. */
  readonly creator: string;
}

async function setScene(): Promise<Scene> {
  const folder = join(scratch.path, 'data');
  const token = (await run(['key'], { cwd: scratch.path })).stdout.trim();
  const env = {
    GATEHOUSE_WORKSPACE_KEY: token,
    GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000000',
    GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000000',
  };
  const server = await startServer(folder, env);
  const post = async (path: string, body: object = {}) =>
    (await request(server, 'POST', path, { token, body })).json.data;
  const { id, clientId } = await post('/api/applications', { name: 'Shop' });
  await post(`/api/applications/${id}/publish`);
  await post(`/api/applications/${id}/go-live`);
  const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
  const creator = await post('/api/workspace/api-keys', { name: 'creator', access: 'full', rateLimits });
  await server.stop();
  return { folder, env, clientId, creator: creator.token };
}

/** Runs until the server is gone: a refused connection or a cut one is the expected end, a wrong answer is not. */
async function untilKilled(isKilled: () => boolean, step: (turn: number) => Promise<void>): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    try {
      await step(turn);
    } catch (error) {
      const isConnectionLost = (error as { code?: string }).code !== undefined;
      if (isKilled() && isConnectionLost) return;
      throw error;
    }
  }
}

async function crashRound(round: number, { folder, env, clientId, creator }: Scene): Promise<Acknowledged> {
  const server = await startServer(folder, env);
  const reader = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  const readCode = reader.query('SELECT code FROM mails WHERE recipient = ?');
  const acknowledged: Acknowledged = { sent: [], signedIn: [], keys: [] };

  async function signInOnce(email: string): Promise<void> {
    const challengeId = await sendCode(server, email, clientId);
    acknowledged.sent.push({ email, challengeId });
    const { code } = readCode.get(email) as { code: string };
    const answer = await verifyCode(server, challengeId, code);
    if (answer.status !== 200) throw new Error(`otp/verify answered ${answer.status}: ${answer.text}`);
    acknowledged.signedIn.push({ token: answer.json.data.token, challengeId, code });
  }

  async function createKey(name: string): Promise<void> {
    const body = { name, access: 'read' };
    const answer = await request(server, 'POST', '/api/workspace/api-keys', { token: creator, body });
    if (answer.status !== 200) throw new Error(`key creation answered ${answer.status}: ${answer.text}`);
    acknowledged.keys.push(answer.json.data.token);
  }

  let isKilled = false;
  const work = [
    ...Array.from({ length: SIGN_IN_WORKERS }, (_, worker) =>
      untilKilled(
        () => isKilled,
        (turn) => signInOnce(`r${round}-w${worker}-${turn}@example.com`),
      ),
    ),
    ...Array.from({ length: KEY_WORKERS }, (_, worker) =>
      untilKilled(
        () => isKilled,
        (turn) => createKey(`round ${round}, worker ${worker}, ${turn}`),
      ),
    ),
  ];
  // The fault itself, at a moment that nothing here is in step with.
  await Bun.sleep(20 + Math.random() * 100);
  isKilled = true;
  server.process.kill('SIGKILL');
  await Promise.all(work);
  reader.close();
  await server.process.exited;
  return acknowledged;
}

/** Names what is missing of what was acknowledged. */
async function lossesOf({ sent, signedIn, keys }: Acknowledged, server: RunningServer): Promise<string[]> {
  const losses: string[] = [];
  readDatabase(server.folder, (sqlite) => {
    const findMail = sqlite.query('SELECT 1 FROM mails WHERE recipient = ?');
    const findChallenge = sqlite.query('SELECT 1 FROM code_challenges WHERE id = ? AND email = ?');
    for (const { email, challengeId } of sent)
      if (!findMail.get(email) || !findChallenge.get(challengeId, email)) losses.push(`the code sent to ${email}`);
  });
  for (const { token, challengeId, code } of signedIn) {
    const session = await request(server, 'POST', '/api/v1/session', { token });
    if (session.status !== 200) losses.push(`a session: ${session.text}`);
    const again = await verifyCode(server, challengeId, code);
    if (again.json.error !== 'code_consumed') losses.push(`that ${challengeId} was used: ${again.text}`);
  }
  for (const token of keys) {
    const list = await request(server, 'GET', '/api/applications', { token });
    if (list.status !== 200) losses.push(`an API key: ${list.text}`);
  }
  return losses;
}

test(`${ROUNDS} kills lose nothing that was acknowledged, and leave a sound database`, async () => {
  const scene = await setScene();
  const { folder, env } = scene;
  const total = { sent: 0, signedIn: 0, keys: 0 };
  const everything: Acknowledged[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const acknowledged = await crashRound(round, scene);
    everything.push(acknowledged);
    for (const kind of ['sent', 'signedIn', 'keys'] as const) total[kind] += acknowledged[kind].length;
    const server = await startServer(folder, env);
    const losses = await lossesOf(acknowledged, server);
    expect(losses).toEqual([]);
    // Half of the checks are followed by a kill as well: recovery is itself interrupted and done again.
    await server.stop(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
  }

  const last = await startServer(folder, env);
  const losses = (await Promise.all(everything.map((acknowledged) => lossesOf(acknowledged, last)))).flat();
  await last.stop();
  console.log(
    `crash: ${ROUNDS} kills; ${total.sent} codes sent, ${total.signedIn} sign-ins and ${total.keys} keys acknowledged, ${losses.length} lost`,
  );
  expect(losses).toEqual([]);
  expect(Math.min(total.signedIn, total.keys)).toBeGreaterThan(0);
  readDatabase(folder, (sqlite) => {
    expect(sqlite.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(sqlite.query('PRAGMA foreign_key_check').all()).toEqual([]);
  });
});
