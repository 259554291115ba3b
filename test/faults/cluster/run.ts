/** Runs a mixed load over two instances on a PostgreSQL pair while faults are injected, and judges it. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { emptyFolder } from '../../support/binary.ts';
import { judgeDeliveries, receiveDeliveries } from './arrivals.ts';
import { createClient, isDone } from './client.ts';
import { type Counts, type Fault, inject, scheduleOf } from './faults.ts';
import { INSTANCES, type InstanceName, startServers } from './instances.ts';
import { judge } from './judge.ts';
import { startBouncers } from './bouncers.ts';
import { DATABASE, startPair } from './postgres-pair.ts';
import { imports, limitedKey, revokedKeys, signIns, slugs } from './races.ts';
import { nameRegister, roleRegister, statusRegister } from './registers.ts';
import { setScene } from './scene.ts';

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

/** Longest wait for the last deliveries: a killed instance's are taken over within a minute. */
const DELIVERED_MS = 150_000;

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

export async function runCluster({ counts, pauseMs, bin, canRebuild, isBouncer, tell }: ClusterRun) {
  const scratch = emptyFolder();
  chmodSync(scratch.path, 0o755);
  const database = await startPair(bin, join(scratch.path, 'postgres'));
  const arrivals = receiveDeliveries();
  const bouncers = isBouncer ? await startBouncers(database.ports, scratch.path) : null;
  const hosts = (bouncers?.ports ?? database.ports).map((port) => `127.0.0.1:${port}`).join();
  const parameters = `sslmode=disable${isBouncer ? '&pgbouncer=true' : ''}`;
  const servers = await startServers(`postgres://${DATABASE}@${hosts}/${DATABASE}?${parameters}`, scratch.path);
  let isOver = false;
  try {
    const client = createClient(servers);
    const scene = await setScene({
      client,
      workspaceKey: servers.workspaceKey,
      receiverUrl: arrivals.url,
      isOver: () => isOver,
      async codeFor(email) {
        const text = `SELECT code FROM mails WHERE recipient = '${email}' ORDER BY id DESC LIMIT 1`;
        const [row] = (await database.query(text)) as { code: string }[];
        return row?.code ?? null;
      },
    });
    const workers = [
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
    const load = Promise.all(workers.map((work) => work()));
    const faults: Fault[] = [];
    const since = performance.now();
    const probe = await scene.manage('one', 'POST', '/api/applications', { name: 'probe' });
    const probePath = `/api/applications/${probe.json.data.id}`;
    const change = async (at: InstanceName, name: string) =>
      isDone(await scene.manage(at, 'PATCH', probePath, { name }));
    await Bun.sleep(pauseMs);
    const calmMs = await timed(CALM_CHANGES, (turn) => change(INSTANCES[turn % INSTANCES.length]!, `calm ${turn}`));
    for (const [turn, kind] of scheduleOf(counts).entries()) {
      const fault = await inject(kind, turn, {
        database,
        servers,
        canRebuild,
        change: (at) => change(at, `probe ${turn}`),
      });
      faults.push(fault);
      tell(`${kind}: ready after ${Math.round(fault.readyMs)} ms, changes after ${Math.round(fault.backMs)} ms`);
      await Bun.sleep(pauseMs);
    }
    isOver = true;
    await load;
    const seconds = Math.round((performance.now() - since) / 1000);
    const valuesOf = async (text: string) => (await database.query(text)).map(({ value }) => value as string);
    const events = () => valuesOf(`SELECT id AS value FROM events WHERE application_id = '${scene.applicationId}'`);
    await eventually(
      'the last delivery',
      async () => (await events()).every((id) => arrivals.byEvent.has(id)),
      DELIVERED_MS,
    ).catch(() => false);
    const deliveries = judgeDeliveries(arrivals, await events(), faults);
    const problems = await judge(scene, {
      slugs: await valuesOf(
        `SELECT slug AS value FROM roles WHERE application_id = '${scene.applicationId}' AND slug LIKE 's%'`,
      ),
      users: await valuesOf("SELECT email AS value FROM users WHERE email LIKE 'import-%'"),
    });
    const [firsts] = await database.query(
      `SELECT (SELECT count(*) FROM workspaces) AS workspaces,
         (SELECT count(*) FROM workspace_members WHERE role = 'owner') AS owners`,
    );
    const isSetUpOnce = Number(firsts.workspaces) === 1 && Number(firsts.owners) === 1;
    if (!isSetUpOnce) problems.push(`two starts at once made ${JSON.stringify(firsts)}`);
    const { problems: undelivered, ...delivered } = deliveries;
    return {
      seconds,
      faults,
      steps: scene.records.steps,
      answers: client.counts,
      calmMs,
      longestMs: Math.round(client.longestMs()),
      ended: scene.records.ended.length,
      kept: scene.records.kept.length,
      admitted: Object.fromEntries([...scene.records.admitted].map(([name, calls]) => [name, calls.length])),
      deliveries: delivered,
      problems: [...problems, ...undelivered],
    };
  } finally {
    isOver = true;
    await servers.close();
    arrivals.close();
    await bouncers?.close();
    await database.close();
    if (process.env['KEEP_FOLDER'] === undefined) scratch.remove();
    else tell(`kept ${scratch.path}`);
  }
}
