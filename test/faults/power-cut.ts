/**
 * Cuts the power of a machine with a server under a mixed load. The machine is User-mode Linux with a disk image:
 * killing it loses whatever its kernel has not written yet. After each cut every acknowledged write must be on the
 * disk and the database sound. Then the machine boots again on the same disk.
 *
 *   bun test/faults/power-cut.ts [cuts] [--control]
 *
 * `--control` leaves out the flush that acknowledgements wait for, with a fresh disk for each cut. It must lose
 * writes, otherwise these cuts prove nothing. Needs Linux, root (to mount the image), a C compiler and Debian's
 * package user-mode-linux.
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY, emptyFolder, readDatabase, startServer } from '../support/binary.ts';
import type { Orders } from './power-cut-guest.ts';
import { countByKind, faultsOf, lossesOf, type Promised, trailLossesOf } from './promises.ts';
import { type Scene, setScene } from './scene.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { control: { type: 'boolean' } } });
const cuts = Number(positionals[0] ?? 20);
const isControl = values.control ?? false;

const DISK_MIB = 512;
/** The receiver of events runs in the guest. */
const RECEIVER_URL = 'http://127.0.0.1:9999/';
/** Latest moment of a cut, counted from the stage at which it is due. */
const LATEST_CUT_MS = 10_000;
/** Every fifth cut comes while the server starts and recovers from the cut before. */
const EARLY_CUTS = 5;
const BOOT_PATIENCE_MS = 120_000;

const scratch = emptyFolder();
const at = (name: string) => join(scratch.path, name);
const disk = at('disk.img');
const mountPoint = at('mount');

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: 'pipe' });
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
}

function compile(name: string): string {
  run('cc', '-shared', '-fPIC', '-O2', '-o', at(`${name}.so`), join(import.meta.dir, `${name}.c`));
  return at(`${name}.so`);
}

const ptraceShim = compile('ptrace-xstate');
const noFlush = compile('no-flush');

/** Mounts the disk as the next boot would, with its journal replayed. */
function withDisk(work: (mounted: string) => void): void {
  run('mount', '-o', 'loop', disk, mountPoint);
  try {
    work(mountPoint);
  } finally {
    run('umount', mountPoint);
  }
}

function makeDisk(data: string): void {
  rmSync(disk, { force: true });
  run('truncate', '-s', `${DISK_MIB}M`, disk);
  run('mkfs.ext4', '-q', disk);
  withDisk((mounted) => cpSync(data, join(mounted, 'data'), { recursive: true }));
}

/** Boots the machine, runs the load and cuts the power. @returns everything acknowledged until then. */
async function bootAndCut(scene: Scene, round: number): Promise<Promised[]> {
  const orders: Orders = { scene, folder: '/mnt/data', round, isConcurrent: round % 2 === 0 };
  await Bun.write(at('orders.json'), JSON.stringify(orders));
  const preload = isControl ? `LD_PRELOAD=${noFlush} ` : '';
  const load = `${process.execPath} ${join(import.meta.dir, 'power-cut-guest.ts')} ${at('orders.json')}`;
  await Bun.write(
    at('init'),
    `#!/bin/sh
mount -t proc proc /proc && mount -t tmpfs tmpfs /run && ip link set lo up && mount -t ext4 /dev/ubda /mnt || exec sleep 1000
export PATH=${process.env['PATH']} HOME=/run TMPDIR=/run GATEHOUSE_TEST_BINARY=${BINARY}
echo MOUNTED
${preload}${load} || echo FAILED
exec sleep 1000
`,
  );
  run('chmod', '+x', at('init'));
  const guest = Bun.spawn(
    [
      'setsid',
      'linux.uml',
      ...['mem=1536M', 'root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro', 'quiet', `init=${at('init')}`],
      ...['con=null', 'con0=null,fd:1', `ubd0=${disk}`],
    ],
    { env: { ...process.env, LD_PRELOAD: ptraceShim, TMPDIR: scratch.path }, stdout: 'pipe', stderr: 'ignore' },
  );
  // Kills the whole process group: User-mode Linux is many processes.
  const cutPower = () => void (guest.exitCode === null && process.kill(-guest.pid, 'SIGKILL'));
  process.on('exit', cutPower);
  const lines: string[] = [];
  const stage = round % EARLY_CUTS === EARLY_CUTS - 1 ? 'MOUNTED' : 'UNDER LOAD';
  const reached = Promise.withResolvers<boolean>();
  const reading = readLines(guest.stdout, (line) => {
    lines.push(line);
    if (line === stage) reached.resolve(true);
  });
  const isReached = await Promise.race([reached.promise, guest.exited, Bun.sleep(BOOT_PATIENCE_MS)]);
  await Bun.sleep(Math.random() * LATEST_CUT_MS);
  cutPower();
  await guest.exited;
  process.off('exit', cutPower);
  await reading;
  if (isReached !== true || lines.includes('FAILED')) throw new Error(`the guest failed:\n${lines.join('\n')}`);
  return lines.flatMap((line) => (line.startsWith('ACK {') ? [JSON.parse(line.slice(4)) as Promised] : []));
}

/** Passes on complete lines only: the cut may truncate the last one. */
async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
    text = lines.pop()!;
    for (const line of lines) take(line.replaceAll('\r', ''));
  }
}

/** Starts a server on a copy of the disk. @returns broken promises and other findings. */
async function inspect(promises: readonly Promised[], scene: Scene): Promise<string[]> {
  const copy = at('copy');
  rmSync(copy, { recursive: true, force: true });
  withDisk((mounted) => cpSync(join(mounted, 'data'), copy, { recursive: true }));
  const server = await startServer(copy, scene.env);
  const losses = await lossesOf(promises, scene, server);
  const trails = await trailLossesOf(promises, scene, server);
  await server.stop();
  const faults = readDatabase(copy, faultsOf).map((fault) => `unsound: ${JSON.stringify(fault)}`);
  return [...losses, ...trails, ...faults];
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
const everything: Promised[] = [];
const losses: string[] = [];
let cutsThatLost = 0;
try {
  mkdirSync(mountPoint);
  const data = at('data');
  const scene = await setScene(data, { receiverUrl: RECEIVER_URL, doomed: cuts, sessionsEach: 1000 });
  makeDisk(data);
  for (let round = 0; round < cuts; round += 1) {
    if (isControl) makeDisk(data);
    const promises = await bootAndCut(scene, round);
    everything.push(...promises);
    const lost = await inspect(promises, scene);
    losses.push(...lost);
    if (lost.length > 0) cutsThatLost += 1;
    console.log(`cut ${round + 1}: ${promises.length} acknowledged, ${lost.length} lost`);
    for (const loss of isControl ? lost.slice(0, 1) : lost) console.log(`  ${loss}`);
  }
  // Writes that survived their own cut must survive later ones.
  if (!isControl) losses.push(...(await inspect(everything, scene)));
} finally {
  scratch.remove();
}
console.log(JSON.stringify(countByKind(everything)));
console.log(
  JSON.stringify({
    fault: isControl ? 'power-cut, control' : 'power-cut',
    cuts,
    acknowledged: everything.length,
    lost: losses.length,
    cutsThatLost,
  }),
);
process.exit(losses.length > 0 === isControl ? 0 : 1);
