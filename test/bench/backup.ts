/**
 * A backup of a large database by its server: its duration, the longest wait of a read and a change meanwhile, and
 * the growth of log and memory. The compiled binary, everything on one machine. Prints one JSON line.
 * Usage: bun test/bench/backup.ts [mebibytes, default 1024] [age recipient]
 */
import { Database } from 'bun:sqlite';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder } from '../support/binary.ts';
import { insertAudit, insertMembers } from './rows.ts';
import { createApplication, fill, residentMiB, round, startServer } from './server.ts';
import { whileWatched } from './waits.ts';

const MEBIBYTES = Number(process.argv[2] ?? 1024);
const RECIPIENT = process.argv[3];
const scratch = emptyFolder();
const folder = join(scratch.path, 'data');
const backups = join(scratch.path, 'backups');
for (const path of [folder, backups]) mkdirSync(path);

const first = await startServer(folder, { GATEHOUSE_LOG_LEVEL: 'error' });
const { id } = await createApplication(first, 'Large');
await first.stop();
const path = join(folder, 'gatehouse.db');
fill(folder, (sqlite) => {
  insertAudit(sqlite, id, insertMembers(sqlite, id, 20_000), 40_000);
  // Repeats the same rows under new ids, since only the bytes matter.
  const columns = sqlite.query("SELECT name FROM pragma_table_info('audit_records')").values().flat() as string[];
  const others = columns.filter((name) => name !== 'id').join(', ');
  while (bytesOf(sqlite) < MEBIBYTES * 2 ** 20)
    sqlite.run(
      `INSERT INTO audit_records (id, ${others}) SELECT 'aud_' || lower(hex(randomblob(13))), ${others} FROM audit_records LIMIT 400000`,
    );
});

function bytesOf(sqlite: Database): number {
  const [pages, size] = ['page_count', 'page_size'].map(
    (name) => Object.values(sqlite.query(`PRAGMA ${name}`).get() as object)[0],
  );
  return pages * size;
}

const server = await startServer(folder, {
  GATEHOUSE_LOG_LEVEL: 'error',
  GATEHOUSE_BACKUP_TO: backups,
  ...(RECIPIENT !== undefined && { GATEHOUSE_BACKUP_RECIPIENT: RECIPIENT }),
});
const sqlite = new Database(path, { readonly: true });
const state = () =>
  sqlite.query('SELECT status, ended_at - started_at AS ms, bytes, error FROM backup_runs').get() as {
    status: string;
    ms: number;
    bytes: number;
    error: string | null;
  } | null;

/** Makes changes one after the other until `isOver`. */
async function changing(isOver: () => boolean) {
  let longestMs = 0;
  let count = 0;
  let logBytes = 0;
  let memory = 0;
  while (!isOver()) {
    const began = performance.now();
    await server.call('PATCH', `/api/applications/${id}`, { name: `Large ${(count += 1)}` });
    longestMs = Math.max(longestMs, performance.now() - began);
    logBytes = Math.max(logBytes, statSync(`${path}-wal`).size);
    memory = Math.max(memory, residentMiB(server.pid));
  }
  return {
    changes: count,
    longestChangeMs: round(longestMs, 1),
    logMiB: round(logBytes / 2 ** 20, 1),
    memoryMiB: round(memory),
  };
}

const until = performance.now() + 10_000;
const before = await whileWatched(server, () => changing(() => performance.now() > until));
while (state() === null) await Bun.sleep(50);
const during = await whileWatched(server, () => changing(() => state()?.status !== 'running'));
const run = state();
sqlite.close();
await server.stop();
scratch.remove();
console.log(
  JSON.stringify({
    name: 'a backup by the server',
    databaseMiB: round((run?.bytes ?? 0) / 2 ** 20),
    status: run?.status,
    error: run?.error,
    seconds: round((run?.ms ?? 0) / 1000, 1),
    before: { ...before.result, others: before.waits },
    during: { ...during.result, others: during.waits },
  }),
);
