/** The log never stops the server, neither on a full disk nor for a reader that stopped reading. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, cleanEnvironment, emptyFolder, eventually, freePort } from '../support/binary.ts';

setDefaultTimeout(120_000);
const scratch = emptyFolder();
afterAll(() => scratch.remove());

/** Starts a server that logs each request to the descriptor, and waits until it is ready. */
async function serveInto(stdout: number, name: string) {
  const port = freePort();
  const child = Bun.spawn([BINARY, 'serve', '--data', join(scratch.path, name), '--port', String(port)], {
    env: cleanEnvironment({ GATEHOUSE_OWNER_EMAIL: 'owner@example.com' }),
    stdin: 'ignore',
    stdout,
    stderr: 'ignore',
  });
  const health = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ status }) => status,
      () => 0,
    );
  await eventually('the server answers', async () => (await health()) === 200);
  return { child, health };
}

describe.skipIf(process.platform !== 'linux').concurrent('a server whose log', () => {
  test('is on a full disk still answers, and exits with 0 on SIGTERM', async () => {
    const full = openSync('/dev/full', 'w');
    const { child, health } = await serveInto(full, 'full');
    closeSync(full);
    for (let call = 0; call < 20; call += 1) expect(await health()).toBe(200);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
  });

  test('has lost its reader still answers, reports lost lines later, and exits with 0', async () => {
    const path = join(scratch.path, 'pipe');
    expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0);
    // Opened for reading and writing, so that neither opening nor reading blocks.
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const { child, health } = await serveInto(openSync(path, 'w'), 'unread');
    // About 230 characters per request: more than the pipe and the log's buffer hold.
    for (let block = 0; block < 70; block += 1) await Promise.all(Array.from({ length: 100 }, () => health()));
    expect(await health()).toBe(200);
    const chunk = Buffer.alloc(1024 * 1024);
    let text = '';
    await eventually('what was lost is said', async () => {
      await health();
      try {
        text += chunk.toString('utf8', 0, readSync(pipe, chunk));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
      return text.includes('log lines were lost');
    });
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    closeSync(pipe);
  });
});
