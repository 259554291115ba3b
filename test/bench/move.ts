/**
 * Moves 200,000 users and 1,000,000 audit records to PostgreSQL and back, by the compiled binary:
 *
 *   bun test/bench/move.ts [users] [audit records]
 */
import { SQL } from 'bun';
import { join } from 'node:path';
import { emptyFolder, run } from '../support/binary.ts';
import { inFolder, makeDataFolder } from '../support/folders.ts';
import { postgresServer } from '../support/postgres.ts';
import { insertAudit, insertMembers } from './rows.ts';

const [users = 200_000, records = 1_000_000] = process.argv.slice(2).map(Number);

const scratch = emptyFolder();
const folder = makeDataFolder(join(scratch.path, 'first'));
inFolder(folder, (sqlite) => {
  sqlite.run('PRAGMA synchronous = OFF');
  const { id } = sqlite.query('SELECT id FROM applications LIMIT 1').get() as { id: string };
  insertAudit(sqlite, id, insertMembers(sqlite, id, users), records);
});

const serverUrl = await postgresServer();
const admin = new SQL({ url: serverUrl, max: 1 });
const name = `move_bench_${process.pid}`;
await admin.unsafe(`CREATE DATABASE ${name}`);
const url = Object.assign(new URL(serverUrl), { pathname: name }).href;

async function move(args: string[], env: Record<string, string> = {}): Promise<void> {
  const { stdout, stderr, exitCode } = await run(['move', ...args], { cwd: scratch.path, env });
  if (exitCode !== 0) throw new Error(stderr);
  console.log(stdout.split('\n').slice(0, 2).join('\n'));
}

try {
  await move(['--data', folder, '--to', url]);
  await move(['--to', join(scratch.path, 'second')], {
    GATEHOUSE_DATABASE_URL: url,
    GATEHOUSE_INSTANCE_KEY_FILE: join(folder, 'instance.key'),
  });
} finally {
  await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.close();
  scratch.remove();
}
process.exit(0);
