/** Runs the README's commands from a download to a backup in a shell, with a folder in place of a release. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../src/version.ts';
import { BINARY, cleanEnvironment, emptyFolder, eventually, freePort } from '../support/binary.ts';

setDefaultTimeout(120_000);

const readme = await Bun.file(join(import.meta.dir, '../../README.md')).text();
const [, section = ''] = /\n## Download and run\n(.*?)\n## /s.exec(readme) ?? [];
const [download = '', check = '', start = '', upgrade = '', backUp = ''] = [
  ...section.matchAll(/```sh\n(.*?)```/gs),
].map(([, block = '']) => block);

const { path: folder } = emptyFolder();
const release = join(folder, 'release');
const machine = join(folder, 'machine');
for (const path of [release, machine]) mkdirSync(path);
const FILE = `gatehouse-${VERSION}-linux-x64`;
copyFileSync(BINARY, join(release, FILE));
const sum = new Bun.CryptoHasher('sha256').update(await Bun.file(BINARY).arrayBuffer()).digest('hex');
const sums = (hash: string) => `${hash}  ${FILE}\n${'0'.repeat(64)}  gatehouse-${VERSION}-windows-x64.exe\n`;

const env = cleanEnvironment({ RELEASE: `file://${release}`, FILE, GATEHOUSE_PORT: String(freePort()) });
const servers: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const server of servers) server.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.exited));
});

async function shell(script: string) {
  const child = Bun.spawn(['sh', '-c', script], { cwd: machine, env, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

async function startedServer(): Promise<Bun.Subprocess> {
  const server = Bun.spawn(['sh', '-c', `exec ${start}`], { cwd: machine, env, stdout: 'ignore', stderr: 'ignore' });
  servers.push(server);
  await eventually('it is ready', async () => (await shell('./gatehouse healthcheck')).exitCode === 0);
  return server;
}

/** The commands differ on macOS and Windows. */
const isLinux = process.platform === 'linux';

test.skipIf(!isLinux)(
  'what was changed on the way is not installed; what was not runs, is upgraded, and comes back',
  async () => {
    await Bun.write(join(release, 'SHA256SUMS'), sums('f'.repeat(64)));
    expect((await shell(download)).exitCode).toBe(0);
    expect((await shell(check)).exitCode).toBe(1);
    expect(existsSync(join(machine, 'gatehouse'))).toBe(false);

    writeFileSync(join(release, 'SHA256SUMS'), sums(sum));
    const installed = await shell(`${download.trim()} && ${check}`);
    expect(installed).toMatchObject({ exitCode: 0, stdout: `${FILE}: OK\n` });

    const old = await startedServer();
    expect(await shell(upgrade)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(machine, 'before-upgrade.backup'))).toBe(true);
    old.kill('SIGTERM');
    expect(await old.exited).toBe(0);

    const renewed = await startedServer();
    expect(await shell(`set -e\n${backUp}`)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(machine, 'restored', 'gatehouse.db'))).toBe(true);
    renewed.kill('SIGTERM');
    expect(await renewed.exited).toBe(0);
  },
);
