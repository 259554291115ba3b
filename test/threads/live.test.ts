/**
 * Verdicts of threads are live: after each change that the server has acknowledged, each thread answers like a lookup
 * without a cache. The changes are random; a failure prints the seed and the shortest history that fails.
 */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { systemClock } from '@/core/clock.ts';
import { metricsRegistry } from '@/core/metrics.ts';
import { CONNECTION } from '@/db/database.ts';
import { createConnection } from '@/db/sqlite/connection.ts';
import { verificationService } from '@/modules/verification/service.ts';
import { amount } from '../support/long.ts';
import { changesOn, createWorld, type World } from './changes.ts';
import type { Connection } from './connection.ts';
import { startThreaded, type ThreadedServer } from './server.ts';

setDefaultTimeout(600_000);

const SEED = Number(process.env['GATEHOUSE_TEST_SEED'] ?? 20_260_302);
const HISTORIES = amount(3, 20);
const STEPS = amount(40, 200);

const INCLUDE = ['externalId', 'metadata'] as const;

let threaded: ThreadedServer;
let connections: Connection[];
beforeAll(async () => {
  threaded = await startThreaded();
  connections = await threaded.connectToAll();
  changes = changesOn(threaded);
});
afterAll(() => threaded.stop());

type Changes = ReturnType<typeof changesOn>;

/** A change of the history. Its number selects what it acts on, so that a shorter history stays meaningful. */
interface Step {
  readonly kind: keyof Changes;
  readonly pick: number;
}

let changes: Changes;
let worlds = 0;
const accepted = new Set<string>();

async function newWorld(): Promise<World> {
  worlds += 1;
  const world = await createWorld(threaded, worlds);
  await changes.createKey(world);
  return world;
}

/** Verifies by a connection that has cached nothing. */
async function uncached(world: World, tokens: readonly string[]): Promise<string[]> {
  const sqlite = new SqliteDatabase(join(threaded.folder, 'gatehouse.db'), { readonly: true, strict: true });
  const cdnUrl = `${threaded.server.url}/cdn`;
  const verification = verificationService({
    reader: { [CONNECTION]: createConnection(sqlite) },
    clock: systemClock,
    seen: { sessionSeen() {}, keyUsed() {} },
    first: { verified() {}, refused() {} },
    cdnUrl: () => cdnUrl,
    metrics: metricsRegistry(),
  });
  const reader = { [CONNECTION]: createConnection(sqlite) };
  try {
    const caller = await verification.credentials.findKey(world.verifier, reader);
    if (caller?.kind !== 'key') throw new Error('the verifying key is not valid');
    const answers: string[] = [];
    for (const token of tokens) {
      const verdict = await verification.verify(caller, token);
      answers.push(
        verdict.ok
          ? `${verdict.subject.within('{"success":true,"data":{', '')}${await verification.included(verdict, INCLUDE)}}}`
          : JSON.stringify({ success: false, errorMessage: verdict.error }),
      );
    }
    return answers;
  } finally {
    sqlite.close();
  }
}

/** Runs a history in a world of its own. @returns the first disagreement; null where there is none. */
async function disagreement(steps: readonly Step[]): Promise<string | null> {
  const world = await newWorld();
  for (const [index, { kind, pick }] of steps.entries()) {
    const wasAccepted = await changes[kind](world, pick).then(
      () => true,
      () => false,
    );
    if (wasAccepted) accepted.add(kind);
    const tokens = [...world.sessions.map(({ token }) => token), ...world.keys.flatMap((key) => key.tokens)];
    const expected = await uncached(world, tokens);
    for (const [thread, connection] of connections.entries()) {
      const answers: string[] = [];
      for (const token of tokens)
        answers.push(
          (
            await connection.send('POST', '/api/v1/verify', {
              token: world.verifier,
              body: { token, include: INCLUDE },
            })
          ).text,
        );
      const at = answers.findIndex((answer, token) => answer !== expected[token]);
      if (at >= 0)
        return `after step ${index} (${kind} ${pick}) thread ${thread} answers token ${at} with\n${answers[at]}\nand not\n${expected[at]}`;
    }
  }
  return null;
}

/** Leaves steps out as long as the history still fails. */
async function shortest(steps: readonly Step[]): Promise<readonly Step[]> {
  let failing = steps;
  for (let size = Math.ceil(failing.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < failing.length;) {
      const fewer = failing.toSpliced(from, size);
      if (fewer.length > 0 && (await disagreement(fewer)) !== null) failing = fewer;
      else from += size;
    }
  return failing;
}

/** Makes every change once, each after a sign-in of the person whom it concerns. */
function allSteps(): Step[] {
  const kinds = Object.keys(changes) as Step['kind'][];
  return kinds.flatMap((kind) => [
    { kind: 'signIn', pick: 1 },
    { kind, pick: 1 },
  ]);
}

function randomSteps(seed: number): Step[] {
  let state = seed >>> 0;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  // An archive ends every session, and refuses most changes.
  const kinds = [
    ...(Object.keys(changes) as Step['kind'][]),
    ...Array(4).fill('unarchive'),
    ...Array(4).fill('signIn'),
  ];
  return Array.from({ length: STEPS }, () => ({ kind: kinds[random(kinds.length)]!, pick: random(1000) }));
}

test('each thread answers like a lookup without a cache after every acknowledged change', async () => {
  expect(connections.length).toBe(2);
  const histories = Array.from({ length: HISTORIES }, (_, history) => randomSteps(SEED + history));
  for (const [history, steps] of [allSteps(), ...histories].entries()) {
    const problem = await disagreement(steps);
    if (problem === null) continue;
    const least = await shortest(steps);
    throw new Error(
      `history ${history} of seed ${SEED}: ${problem}\nshortest history: ${JSON.stringify(least)}\n${await disagreement(least)}`,
    );
  }
  expect(Object.keys(changes).filter((kind) => !accepted.has(kind))).toEqual([]);
  // Every verification was answered by a thread.
  expect([...threaded.answered.values()].every((count) => count > STEPS)).toBe(true);
});

test('a change by another process is seen as well', async () => {
  const world = await newWorld();
  const { token, person } = world.sessions[0]!;
  const verdicts = () =>
    Promise.all(
      connections.map((one) => one.send('POST', '/api/v1/verify', { token: world.verifier, body: { token } })),
    );
  for (let time = 0; time < 3; time += 1)
    expect((await verdicts()).every(({ text }) => text.startsWith('{"success":true'))).toBe(true);
  const child = Bun.spawnSync([
    process.execPath,
    '-e',
    `const { Database } = require('bun:sqlite');
     const sqlite = new Database(${JSON.stringify(join(threaded.folder, 'gatehouse.db'))});
     sqlite.run('PRAGMA busy_timeout = 5000');
     sqlite.run("UPDATE application_users SET status = 'banned' WHERE user_id = '${person.userId}'");`,
  ]);
  expect(child.exitCode).toBe(0);
  await threaded.server.db.maintain();
  expect((await verdicts()).map(({ text }) => text)).toEqual(
    connections.map(() => '{"success":false,"errorMessage":"membership_blocked"}'),
  );
});
