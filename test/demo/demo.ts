/**
 * `bun run demo`: runs a server from source on two months of believable data, deleted when it stops.
 *
 *   bun run demo              at http://localhost:8080
 *   bun run demo --port 9000  at another port; accepts all options of `gatehouse serve`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanEnvironment, collect } from '../support/binary.ts';
import { seedDemo } from './seed.ts';

const MAIN = resolve(import.meta.dir, '../../src/main.ts');

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let stop: () => void = () => process.exit(0);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop());

console.log('Making two months of data: a few seconds …');
const { team } = await seedDemo(folder);
const server = Bun.spawn([process.execPath, MAIN, 'serve', '--dev', '--data', folder, ...process.argv.slice(2)], {
  env: cleanEnvironment({ GATEHOUSE_LOG_LEVEL: 'warn' }),
  stdout: 'pipe',
  stderr: 'inherit',
});
stop = () => server.kill();
const [said, shown] = server.stdout.tee();
void shown.pipeTo(new WritableStream({ write: (chunk) => void process.stdout.write(chunk) }));
const announced = await collect(said).until(/^Gatehouse is running at [^]*\n\n/);
const [, url] = /^Gatehouse is running at (\S+)$/m.exec(announced)!;
console.log(
  [
    `The console is at ${url}/console`,
    '',
    'Sign in as one of these; the code is printed here.',
    `  ${team.owner}   owns both workspaces`,
    `  ${team.admin}  an admin of Harbour`,
    `  ${team.member}   a member of Harbour: reads, and changes nothing`,
    '',
  ].join('\n'),
);
process.exit(await server.exited);
