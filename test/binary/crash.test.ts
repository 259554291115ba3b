/**
 * Kills the server again and again under a mixed load, and during background tasks, on one data folder. Every change
 * acknowledged with 200 must be there afterwards. `CRASH_ROUNDS` sets the number of kills.
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { FIRST_BATCH } from '../../src/jobs/background-tasks.ts';
import { mixedLoad } from '../faults/mixed-load.ts';
import {
  countByKind,
  faultsOf,
  isTrailEnded,
  lossesOf,
  type Promised,
  trailLossesOf,
  trailOf,
} from '../faults/promises.ts';
import { type Scene, setScene } from '../faults/scene.ts';
import { databaseCode, emptyFolder, eventually, readDatabase, request, startServer } from '../support/binary.ts';
import { amount } from '../support/long.ts';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? amount(4, 50));
setDefaultTimeout(120_000 + ROUNDS * 5000);

const scratch = emptyFolder();
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
afterAll(async () => {
  await receiver.stop(true);
  scratch.remove();
});
const receiverUrl = receiver.url.href;

/** Kinds of promises that each run must contain: every round waits for the next one, however slow the machine is. */
const AWAITED = ['code', 'used', 'session', 'key'] as const;

/** @returns the promises acknowledged before the kill. */
async function crashRound(round: number, folder: string, scene: Scene): Promise<Promised[]> {
  const server = await startServer(folder, scene.env);
  const promises: Promised[] = [];
  let isKilled = false;
  const load = mixedLoad({
    server,
    scene,
    round,
    isConcurrent: true,
    promise: (promised) => promises.push(promised),
    isOver: () => isKilled,
  });
  const awaited = AWAITED[round % AWAITED.length]!;
  await Promise.race([
    load,
    eventually(`an acknowledged ${awaited}`, () => promises.some(({ kind }) => kind === awaited), 30_000),
  ]);
  // Kills at a random moment.
  await Promise.race([load, Bun.sleep(Math.random() * 250)]);
  isKilled = true;
  server.process.kill('SIGKILL');
  await load;
  await server.process.exited;
  return promises;
}

test(`${ROUNDS} kills lose nothing that was acknowledged, and leave a sound database`, async () => {
  const folder = join(scratch.path, 'mixed');
  const scene = await setScene(folder, { receiverUrl, doomed: ROUNDS, sessionsEach: 500 });
  const everything: Promised[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const promises = await crashRound(round, folder, scene);
    everything.push(...promises);
    const server = await startServer(folder, scene.env);
    expect(await lossesOf(promises, scene, server)).toEqual([]);
    // Every second check ends with a kill too, which interrupts recovery.
    await server.stop(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
  }

  const last = await startServer(folder, scene.env);
  const losses = [...(await lossesOf(everything, scene, last)), ...(await trailLossesOf(everything, scene, last))];
  await last.stop();
  const counts = countByKind(everything);
  console.log(`crash: ${ROUNDS} kills; acknowledged ${JSON.stringify(counts)}, ${losses.length} lost`);
  expect(losses).toEqual([]);
  expect(AWAITED.filter((kind) => !counts[kind])).toEqual([]);
  expect(readDatabase(folder, faultsOf)).toEqual([]);
});

test('background task resumed from the start itself, so that kills soon after each start do not hold it up', async () => {
  const sessions = 20_000;
  const folder = join(scratch.path, 'resumed');
  const { env, token, ownerEmail, doomed } = await setScene(folder, { receiverUrl, doomed: 1, sessionsEach: sessions });
  const { applicationId } = doomed[0]!;
  const lifecycle = `/api/applications/${applicationId}/lifecycle`;
  let server = await startServer(folder, env);
  const sent = await request(server, 'POST', `${lifecycle}/send`, { token, body: { kind: 'archive' } });
  const body = { challengeId: sent.json.data.challengeId, code: databaseCode(folder, ownerEmail) };
  await request(server, 'POST', `${lifecycle}/confirm`, { token, body });
  await server.stop('SIGKILL');
  const done = () => readDatabase(folder, (sqlite) => trailOf(sqlite, applicationId)).events;
  for (let kills = 0; kills < 5; kills += 1) {
    const before = done();
    server = await startServer(folder, env);
    // The task continues at the start, before its scheduled run.
    await eventually('some more of the trail', () => done() > before, 4000);
    await server.stop('SIGKILL');
  }
});

test('a background task killed midway is completed after the restart, and nothing is done twice', async () => {
  const sessions = 20_000;
  const folder = join(scratch.path, 'trail');
  const { env, token, ownerEmail, doomed } = await setScene(folder, { receiverUrl, doomed: 1, sessionsEach: sessions });
  const { applicationId, tokens } = doomed[0]!;
  const lifecycle = `/api/applications/${applicationId}/lifecycle`;
  let server = await startServer(folder, env);
  const sent = await request(server, 'POST', `${lifecycle}/send`, { token, body: { kind: 'archive' } });
  const { challengeId } = sent.json.data;
  const body = { challengeId, code: databaseCode(folder, ownerEmail) };
  const confirmed = await request(server, 'POST', `${lifecycle}/confirm`, { token, body });
  expect(confirmed.json.data).toMatchObject({ pendingWork: { done: FIRST_BATCH } });

  const trail = () => readDatabase(folder, (sqlite) => trailOf(sqlite, applicationId));
  const reached = [trail().events];
  for (let kills = 0; kills < 3; kills += 1) {
    await eventually('some more of the trail', () => trail().events > reached.at(-1)!);
    await Bun.sleep(Math.random() * 50);
    await server.stop('SIGKILL');
    const { events, reported, open } = trail();
    // A revoked row and its event are committed together, whenever the kill comes.
    expect({ reported, open }).toEqual({ reported: events, open: sessions - events });
    reached.push(events);
    server = await startServer(folder, env);
    for (const session of tokens)
      expect((await request(server, 'POST', '/api/v1/session', { token: session })).status).not.toBe(200);
    if (events === sessions) break;
  }
  await eventually('the end of the trail', () => readDatabase(folder, isTrailEnded), 110_000);
  await server.stop();
  console.log(`crash: killed when the trail of ${sessions} sessions had come to ${reached.join(', ')}`);
  expect(reached.filter((events) => events > FIRST_BATCH && events < sessions)).not.toEqual([]);
  expect(trail()).toEqual({ events: sessions, reported: sessions, open: 0 });
  expect(readDatabase(folder, faultsOf)).toEqual([]);
});
