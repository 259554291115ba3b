/** The log never stops the product: neither a full disk under it nor a reader that has stopped reading. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, cleanEnvironment, emptyFolder, eventually, freePort } from '../support/binary.ts';

setDefaultTimeout(30_000);
const scratch = emptyFolder();
afterAll(() => scratch.remove());

/** A server that logs each request to the descriptor, ready to answer. */
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
  test('is on a full disk answers, and ends with 0 when it is told to', async () => {
    const full = openSync('/dev/full', 'w');
    const { child, health } = await serveInto(full, 'full');
    closeSync(full);
    for (let call = 0; call < 20; call += 1) expect(await health()).toBe(200);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
  });

  test('nobody reads any more answers, says later what was lost, and ends with 0', async () => {
    const path = join(scratch.path, 'pipe');
    expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0);
    // Open for reading as well, so that opening does not wait, and reading does not either.
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const { child, health } = await serveInto(openSync(path, 'w'), 'unread');
    // Some 230 characters a request: more than the pipe and the memory for the log take.
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
