/**
 * State changes with background tasks: the time to the answer, whether the change has taken effect by then, how long
 * others wait (GET /healthz, and another change) until the task is done, and its duration. A new server for each.
 * Prints a line each, then one JSON line.
 * Usage: bun test/bench/long-work.ts [--scale 0.1] [--only WORD]
 */
import type { Database } from 'bun:sqlite';
import { parseArgs } from 'node:util';
import { emptyFolder, eventually, readDatabase } from '../support/binary.ts';
import { type Scenario, type Scene, scenariosAt } from './long-work-scenarios.ts';
import { type BenchServer, createApplication, createKey, fill, residentMiB, round, startServer } from './server.ts';
import { inWords, whileWatched } from './waits.ts';

const { values } = parseArgs({
  options: { scale: { type: 'string', default: '1' }, only: { type: 'string', default: '' } },
});
const scale = Number(values.scale);
/** The longest wait for a background task. */
const PATIENCE_MS = 20 * 60_000;
const CHANGE_EVERY_MS = 20;

const results = [];
for (const scenario of scenariosAt(scale).filter(({ name }) => name.includes(values.only))) {
  const result = await measure(scenario);
  results.push(result);
  const { name, rows, answerMs, others, changesLongestMs, trailMs } = result;
  console.log(
    `${name.padEnd(30)}${String(rows).padStart(9)} rows   answer ${answerMs} ms   others ${inWords(others)}   ` +
      `changes ${changesLongestMs} ms   trail ${round(trailMs / 1000, 1)} s`,
  );
}
console.log(JSON.stringify({ benchmark: 'long-work', scale, scenarios: results }));
process.exit(0);

async function measure({ name, rows, prepare, fill: fillRows, ready, check, isDone, verify }: Scenario) {
  const scratch = emptyFolder();
  const folder = scratch.path;
  // The receiver of events is on this machine.
  const env = { GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8', GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '100000000' };
  let server = await startServer(folder, env);
  try {
    const { id: applicationId } = await createApplication(server, 'Large');
    const { id: otherId } = await createApplication(server, 'Other');
    const path = `/api/applications/${applicationId}`;
    const key = await createKey(server, '/api/workspace', 'full');
    const bare: Omit<Scene, 'server'> = { folder, applicationId, path, key, people: [], tokens: [] };
    await prepare?.({ ...bare, server });
    await server.stop();
    const filled = fill(folder, (sqlite) => fillRows(sqlite, applicationId));
    server = await startServer(folder, env);
    const scene: Scene = { ...bare, ...filled, server };
    const act = await ready(scene);
    const { result, waits } = await whileWatched(server, async () => {
      const changes = changeWithoutPause(server, otherId, key);
      const startedAt = performance.now();
      await act();
      const answerMs = performance.now() - startedAt;
      await check?.(scene);
      await eventually(`the end of "${name}"`, () => isFinished(folder, isDone), PATIENCE_MS);
      const trailMs = performance.now() - startedAt;
      return { answerMs, trailMs, changesLongestMs: await changes.stop() };
    });
    const memory = residentMiB(server.pid);
    await server.stop();
    if (verify) readDatabase(folder, verify);
    return {
      name,
      rows,
      answerMs: round(result.answerMs, 1),
      others: waits,
      changesLongestMs: round(result.changesLongestMs, 1),
      trailMs: round(result.trailMs),
      residentMiB: round(memory),
    };
  } finally {
    server.kill();
    scratch.remove();
  }
}

/**
 * Changes another application's name repeatedly. Stopping returns the duration of the slowest change, in
 * milliseconds.
 */
function changeWithoutPause(server: BenchServer, applicationId: string, key: string): { stop(): Promise<number> } {
  let isStopped = false;
  const slowest = (async () => {
    let longest = 0;
    for (let turn = 0; !isStopped; turn += 1) {
      const startedAt = performance.now();
      await server.call('PATCH', `/api/applications/${applicationId}`, { name: `Other ${turn}` }, key);
      longest = Math.max(longest, performance.now() - startedAt);
      await Bun.sleep(CHANGE_EVERY_MS);
    }
    return longest;
  })();
  slowest.catch(() => {});
  return {
    stop() {
      isStopped = true;
      return slowest;
    },
  };
}

/** Reads from the database file whether the task is done, since requests would disturb the server. */
async function isFinished(folder: string, isDone: Scenario['isDone']): Promise<boolean> {
  await Bun.sleep(50);
  return readDatabase(folder, (sqlite) => !isAnyWorkLeft(sqlite) && (isDone?.(sqlite) ?? true));
}

function isAnyWorkLeft(sqlite: Database): boolean {
  return sqlite.query('SELECT 1 FROM long_works LIMIT 1').get() !== null;
}
