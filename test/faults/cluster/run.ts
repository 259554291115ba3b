/** Runs a mixed load over two instances on a PostgreSQL pair while faults are injected, and judges it. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder } from '../../support/binary.ts';
import { type Arrivals, judgeDeliveries, receiveDeliveries } from './arrivals.ts';
import { createClient, isDone } from './client.ts';
import { type Counts, type Fault, inject, scheduleOf } from './faults.ts';
import { INSTANCES, type InstanceName, type ServerPair, startServers } from './instances.ts';
import { judge } from './judge.ts';
import { startBouncers } from './bouncers.ts';
import { DATABASE, type PostgresPair, startPair } from './postgres-pair.ts';
import { imports, limitedKey, revokedKeys, signIns, slugs } from './races.ts';
import { nameRegister, roleRegister, statusRegister } from './registers.ts';
import { type Scene, setScene } from './scene.ts';

export interface ClusterRun {
  readonly counts: Counts;
  /** Load before the first fault, after the last, and between two. */
  readonly pauseMs: number;
  /** Folder of PostgreSQL's programs. */
  readonly bin: string;
  readonly canRebuild: boolean;
  readonly isBouncer: boolean;
  tell(text: string): void;
}

/** Changes before the first fault, for comparison with those after it. */
const CALM_CHANGES = 20;

/** Does a work several times under load. @returns the median and longest time in milliseconds. */
async function timed(count: number, work: (turn: number) => Promise<unknown>) {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const since = performance.now();
    await work(turn);
    times.push(Math.round(performance.now() - since));
  }
  times.sort((one, other) => one - other);
  return { median: times[count >> 1], longest: times.at(-1) };
}

export async function runCluster(options: ClusterRun) {
  const scratch = emptyFolder();
  // The user of the database enters it.
  chmodSync(scratch.path, 0o755);
  const cluster = await openCluster(options, scratch.path);
  try {
    const result = await runIn(cluster, options);
    if (result.problems.length === 0) scratch.remove();
    else options.tell(`the logs are in ${scratch.path}`);
    return result;
  } finally {
    await cluster.close();
  }
}

interface Cluster {
  readonly database: PostgresPair;
  readonly servers: ServerPair;
  readonly arrivals: Arrivals;
  close(): Promise<void>;
}

async function openCluster({ bin, isBouncer }: ClusterRun, folder: string): Promise<Cluster> {
  const database = await startPair(bin, join(folder, 'postgres'));
  const arrivals = receiveDeliveries();
  const bouncers = isBouncer ? await startBouncers(database.ports, folder) : null;
  const hosts = (bouncers?.ports ?? database.ports).map((port) => `127.0.0.1:${port}`).join();
  const parameters = `sslmode=disable${isBouncer ? '&pgbouncer=true' : ''}`;
  const servers = await startServers(`postgres://${DATABASE}@${hosts}/${DATABASE}?${parameters}`, folder);
  return {
    database,
    servers,
    arrivals,
    async close() {
      await servers.close();
      arrivals.close();
      await bouncers?.close();
      await database.close();
    },
  };
}

async function runIn({ database, servers, arrivals }: Cluster, { counts, pauseMs, canRebuild, tell }: ClusterRun) {
  let isOver = false;
  const client = createClient(servers);
  const scene = await setScene({
    client,
    workspaceKey: servers.workspaceKey,
    receiverUrl: arrivals.url,
    isOver: () => isOver,
    codeFor: (email) => codeFor(database, email),
  });
  const workers = await workersOf(scene);
  const since = performance.now();
  const load = Promise.all(workers.map((work) => work()));
  const change = await probeOf(scene);
  await Bun.sleep(pauseMs);
  const calmMs = await timed(CALM_CHANGES, (turn) => change(INSTANCES[turn % INSTANCES.length]!, `calm ${turn}`));
  const faults: Fault[] = [];
  for (const [turn, kind] of scheduleOf(counts).entries()) {
    const parts = { database, servers, canRebuild, change: (at: InstanceName) => change(at, `probe ${turn}`) };
    const fault = await inject(kind, turn, parts);
    faults.push(fault);
    tell(`${kind}: ready after ${Math.round(fault.readyMs)} ms, changes after ${Math.round(fault.backMs)} ms`);
    await Bun.sleep(pauseMs);
  }
  isOver = true;
  await load;
  const seconds = Math.round((performance.now() - since) / 1000);
  const { problems: undelivered, ...deliveries } = await judgeDeliveries(arrivals, eventsOf(database, scene), faults);
  const problems = await judge(scene, await finalsOf(database, scene));
  const { records } = scene;
  return {
    seconds,
    faults,
    steps: records.steps,
    answers: client.counts,
    calmMs,
    longestMs: Math.round(client.longestMs()),
    ended: records.ended.length,
    kept: records.kept.length,
    admitted: Object.fromEntries([...records.admitted].map(([name, calls]) => [name, calls.length])),
    deliveries,
    problems: [...problems, ...undelivered, ...(await setupProblems(database))],
  };
}

async function workersOf(scene: Scene) {
  return [
    ...(await roleRegister(scene, 0)),
    ...(await roleRegister(scene, 1)),
    ...(await statusRegister(scene, 0)),
    ...(await nameRegister(scene, 0)),
    ...[0, 1, 2].map((at) => signIns(scene, at)),
    revokedKeys(scene),
    slugs(scene),
    imports(scene),
    await limitedKey(scene, 0),
    await limitedKey(scene, 1),
  ];
}

/** Returns a change of an application of its own, which shows when an instance serves changes. */
async function probeOf(scene: Scene) {
  const made = await scene.manage('one', 'POST', '/api/applications', { name: 'probe' });
  const path = `/api/applications/${made.json.data.id}`;
  return async (at: InstanceName, name: string) => isDone(await scene.manage(at, 'PATCH', path, { name }));
}

async function codeFor(database: PostgresPair, email: string): Promise<string | null> {
  const text = `SELECT code FROM mails WHERE recipient = '${email}' ORDER BY id DESC LIMIT 1`;
  const [row] = (await database.query(text)) as { code: string }[];
  return row?.code ?? null;
}

const valuesOf = async ({ query }: PostgresPair, text: string) =>
  (await query(text)).map(({ value }) => value as string);

const eventsOf =
  (database: PostgresPair, { applicationId }: Scene) =>
  () =>
    valuesOf(database, `SELECT id AS value FROM events WHERE application_id = '${applicationId}'`);

/** Returns the values of each set after the load. */
async function finalsOf(database: PostgresPair, { applicationId }: Scene) {
  const slugsOf = `SELECT slug AS value FROM roles WHERE application_id = '${applicationId}' AND slug LIKE 's%'`;
  return {
    slugs: await valuesOf(database, slugsOf),
    users: await valuesOf(database, "SELECT email AS value FROM users WHERE email LIKE 'import-%'"),
  };
}

/** Both instances started at once on an empty database. */
async function setupProblems(database: PostgresPair): Promise<string[]> {
  const [made] = await database.query(
    `SELECT (SELECT count(*) FROM workspaces) AS workspaces,
       (SELECT count(*) FROM workspace_members WHERE role = 'owner') AS owners`,
  );
  const isOnce = Number(made.workspaces) === 1 && Number(made.owners) === 1;
  return isOnce ? [] : [`two starts at once made ${JSON.stringify(made)}`];
}
