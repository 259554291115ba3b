/**
 * Makes the disk fail under a server at work: full, broken, or unable to flush. Every change is accepted or refused as
 * `unavailable`, and accepted changes stay. `/readyz` and `/metrics` name the failure. The server recovers with the
 * disk, without a restart. When run directly it prints figures; as root it also fills a real small disk:
 *
 *   bun test/faults/bad-disk.ts [SECONDS OF EACH TROUBLE]
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  emptyFolder,
  eventually,
  readDatabase,
  request,
  run,
  type RunningServer,
  signIn,
  startServer,
} from '../support/binary.ts';
import { readExposition } from '../support/exposition.ts';
import { faultsOf } from './promises.ts';
import { badDisk, type DiskCall, type ERRNO } from './shims.ts';

export interface Trouble {
  readonly name: string;
  readonly error: keyof typeof ERRNO;
  readonly calls: readonly DiskCall[];
  /** Whether changes are refused during the failure; if not, only the log reports it. */
  readonly isRefusing: boolean;
}

export const TROUBLES: readonly Trouble[] = [
  { name: 'disk full', error: 'ENOSPC', calls: ['write', 'truncate'], isRefusing: true },
  { name: 'writes fail', error: 'EIO', calls: ['write'], isRefusing: true },
  { name: 'flushes fail', error: 'EIO', calls: ['datasync', 'sync'], isRefusing: true },
  { name: 'reads fail', error: 'EIO', calls: ['read'], isRefusing: false },
  { name: 'all fails', error: 'EIO', calls: ['datasync', 'sync', 'write', 'read', 'truncate'], isRefusing: true },
  { name: 'checkpoints cannot flush', error: 'EIO', calls: ['sync'], isRefusing: false },
];

/** Observations during one failure. */
export interface Seen {
  readonly name: string;
  readonly taken: number;
  readonly refused: number;
  /** Answer of `/readyz` during the failure. */
  readonly ready: string;
  readonly isWritable: number | undefined;
  readonly refusals: number | undefined;
  /** Time from the disk's recovery to the first accepted change. */
  readonly recoveredMs: number;
  readonly problems: readonly string[];
}

const RECOVERY_MS = 10_000;
const WORKERS = 4;

interface Stage {
  readonly server: RunningServer;
  readonly key: string;
  /** Names of applications whose creation was answered with 200. */
  readonly promised: string[];
}

/** Sends changes and reads without a pause; records unexpected answers. */
async function work({ server, key, promised }: Stage, isOver: () => boolean) {
  const problems = new Set<string>();
  let [taken, refused] = [0, 0];
  async function change(worker: number): Promise<void> {
    while (!isOver()) {
      const name = `shop ${worker} ${crypto.randomUUID()}`;
      const answer = await request(server, 'POST', '/api/applications', { token: key, body: { name } });
      if (answer.status === 200) {
        promised.push(name);
        taken += 1;
        continue;
      }
      refused += 1;
      const { success, error } = answer.json ?? {};
      if (answer.status !== 503 || success !== false || error !== 'unavailable' || !answer.headers.has('retry-after'))
        problems.add(`a change was answered ${answer.status} ${answer.text.slice(0, 160)}`);
      await Bun.sleep(5);
    }
  }
  async function look(): Promise<void> {
    while (!isOver()) {
      const { status, json, text } = await request(server, 'GET', '/api/applications', { token: key });
      if (status !== 200 && (status !== 503 || json?.error !== 'unavailable'))
        problems.add(`a read was answered ${status} ${text.slice(0, 160)}`);
      await Bun.sleep(5);
    }
  }
  await Promise.all([...Array.from({ length: WORKERS }, (_, worker) => change(worker)), look()]);
  return { taken, refused, problems: [...problems] };
}

const ready = async (server: RunningServer) => {
  const { status, json } = await request(server, 'GET', '/readyz');
  return `${status} ${json?.message ?? json?.status}`;
};

const figuresOf = async (server: RunningServer) => readExposition((await request(server, 'GET', '/metrics')).text);

/** Runs one failure from its beginning to its end. */
async function live(
  stage: Stage,
  { name, isRefusing }: Pick<Trouble, 'name' | 'isRefusing'>,
  { begin, end, forMs }: { begin(): void; end(): void; forMs: number },
): Promise<Seen> {
  const { server, key, promised } = stage;
  let isOver = false;
  const before = (await figuresOf(server)).value('gatehouse_database_refusals_total') ?? 0;
  begin();
  const working = work(stage, () => isOver);
  await Bun.sleep(forMs);
  // A successful write is trusted for some seconds; a refusal is not.
  if (isRefusing)
    await eventually('/readyz tells of it', async () => (await ready(server)).startsWith('503')).catch(() => {});
  const said = await ready(server);
  const figures = await figuresOf(server);
  isOver = true;
  const { taken, refused, problems } = await working;
  end();
  const since = performance.now();
  const again = async () => {
    const name = `after ${crypto.randomUUID()}`;
    const { status } = await request(server, 'POST', '/api/applications', { token: key, body: { name } });
    if (status === 200) promised.push(name);
    return status === 200;
  };
  const isBack = await eventually('a change is taken again', again, RECOVERY_MS).catch(() => false);
  const recoveredMs = performance.now() - since;
  const isWritable = figures.value('gatehouse_database_writable');
  const refusals = figures.value('gatehouse_database_refusals_total');
  const after = { ready: await ready(server), figures: await figuresOf(server) };
  const found = [
    ...problems,
    ...(isBack ? [] : [`no change was taken ${RECOVERY_MS} ms after its end`]),
    ...(after.ready === '200 ok' ? [] : [`/readyz says ${after.ready} after its end`]),
    ...(after.figures.value('gatehouse_database_writable') === 1 ? [] : ['not writable after its end']),
    ...(isRefusing && refused === 0 ? ['no change was refused'] : []),
    ...(isRefusing && !said.startsWith('503') ? [`/readyz said ${said}`] : []),
    ...(isRefusing && isWritable !== 0 ? [`gatehouse_database_writable was ${isWritable}`] : []),
    ...(isRefusing && !((refusals ?? 0) > before) ? ['no refusal was counted'] : []),
  ];
  return { name, taken, refused, ready: said, isWritable, refusals, recoveredMs, problems: found };
}

async function prepare(folder: string, env: Record<string, string>): Promise<Stage> {
  const key = (await run(['key'], { cwd: '/' })).stdout.trim();
  const own = { GATEHOUSE_WORKSPACE_KEY: key, GATEHOUSE_OWNER_EMAIL: 'owner@example.com' };
  const first = await startServer(folder, own);
  const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
  const body = { name: 'load', access: 'full', rateLimits };
  const made = await request(first, 'POST', '/api/workspace/api-keys', { token: key, body });
  await first.stop();
  return { server: await startServer(folder, { ...own, ...env }), key: made.json.data.token, promised: [] };
}

/** Kills the process and looks for everything it acknowledged. */
async function lossesOf({ server, promised }: Stage): Promise<string[]> {
  await server.stop('SIGKILL');
  const names = readDatabase(server.folder, (sqlite) => sqlite.query('SELECT name FROM applications').values());
  const there = new Set(names.map(([name]) => name));
  const lost = promised.filter((name) => !there.has(name)).map((name) => `${name} is lost`);
  return [...lost, ...readDatabase(server.folder, faultsOf).map((fault) => JSON.stringify(fault))];
}

export interface BadDiskRun {
  readonly seen: readonly Seen[];
  readonly promised: number;
  readonly losses: readonly string[];
}

/** Runs each failure in turn under one server. */
export async function badDiskRun(forMs: number, troubles = TROUBLES): Promise<BadDiskRun> {
  const scratch = emptyFolder();
  const disk = badDisk(scratch.path);
  const stage = await prepare(join(scratch.path, 'data'), disk.env);
  const seen: Seen[] = [];
  for (const trouble of troubles)
    seen.push(
      await live(stage, trouble, {
        begin: () => disk.refuse(trouble.error, ...trouble.calls),
        end: disk.repair,
        forMs,
      }),
    );
  const losses = await lossesOf(stage);
  disk.close();
  scratch.remove();
  return { seen, promised: stage.promised.length, losses };
}

const SMALL_DISK_MIB = 64;

/** Fills a disk of its own for a while: under changes, checkpoints and backups. Needs the right to mount. */
export async function fullDiskRun(forMs: number): Promise<BadDiskRun & { backup: string }> {
  const scratch = emptyFolder();
  const mounted = join(scratch.path, 'disk');
  mkdirSync(mounted);
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${SMALL_DISK_MIB}m`, 'none', mounted]);
  try {
    mkdirSync(join(mounted, 'backups'));
    const stage = await prepare(join(mounted, 'data'), { GATEHOUSE_BACKUP_TO: join(mounted, 'backups') });
    const { server } = stage;
    const ballast = join(mounted, 'ballast');
    let backup = '';
    const problems: string[] = [];
    const seen = await live(
      stage,
      { name: `a disk of ${SMALL_DISK_MIB} MiB`, isRefusing: true },
      {
        begin() {
          const { bavail, bsize } = statfsSync(mounted);
          writeFileSync(ballast, new Uint8Array(bavail * bsize - 2 ** 20));
        },
        end: () => rmSync(ballast),
        forMs,
      },
    );
    const { bavail, bsize } = statfsSync(mounted);
    writeFileSync(ballast, new Uint8Array(bavail * bsize - 2 ** 18));
    const into = join(mounted, 'by-hand.backup');
    const tried = await run(['backup', into, '--data', server.folder], { cwd: mounted });
    backup = `exit ${tried.exitCode}: ${tried.stderr.trim().split('\n').at(-1)}`;
    if (tried.exitCode !== 1 || !/room/.test(tried.stderr)) problems.push(`a backup onto a full disk: ${backup}`);
    if (existsSync(into)) problems.push('a backup that failed left a file');
    const left = [...readdirSync(mounted), ...readdirSync(server.folder)].filter((name) =>
      /unfinished|backup-/.test(name),
    );
    if (left.length > 0) problems.push(`a backup that failed left ${left.join(', ')}`);
    rmSync(ballast);
    const { token } = await signIn(server, 'owner@example.com');
    const begun = await request(server, 'POST', '/api/workspace/backups', { token, body: {} });
    if (begun.status !== 200) problems.push(`a backup when there is room again: ${begun.text}`);
    const runs = () =>
      readDatabase(server.folder, (sqlite) => sqlite.query('SELECT status, error FROM backup_runs').all()) as {
        status: string;
      }[];
    await eventually('a good backup', () => runs().some(({ status }) => status === 'succeeded')).catch(() =>
      problems.push(`no good backup when there is room again: ${JSON.stringify(runs())}`),
    );
    const losses = await lossesOf(stage);
    return {
      seen: [{ ...seen, problems: [...seen.problems, ...problems] }],
      promised: stage.promised.length,
      losses,
      backup,
    };
  } finally {
    Bun.spawnSync(['umount', '-l', mounted]);
    scratch.remove();
  }
}

function print({ seen, promised, losses }: BadDiskRun): boolean {
  for (const { name, taken, refused, ready: said, isWritable, refusals, recoveredMs, problems } of seen) {
    console.log(`${name}: ${taken} taken, ${refused} refused; /readyz: ${said}`);
    console.log(
      `  writable ${isWritable}, ${refusals} refusals counted; taken again after ${Math.round(recoveredMs)} ms`,
    );
    for (const problem of problems) console.log(`  BROKEN: ${problem}`);
  }
  console.log(`of ${promised} that were taken ${losses.length} are lost, after a kill`);
  for (const loss of losses.slice(0, 10)) console.log(`  BROKEN: ${loss}`);
  return losses.length === 0 && seen.every(({ problems }) => problems.length === 0);
}

if (import.meta.main) {
  const forMs = Number(process.argv[2] ?? 5) * 1000;
  let isKept = print(await badDiskRun(forMs));
  if (process.getuid?.() === 0) {
    const full = await fullDiskRun(forMs);
    isKept = print(full) && isKept;
    console.log(`a backup onto it: ${full.backup}`);
  } else console.log('a real small disk was left out: it needs the right to mount');
  process.exit(isKept ? 0 : 1);
}
