/** A disk that takes no more: what cannot be written is refused as that, and the server says so, goes on and ends well. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { badDiskRun, TROUBLES } from '../faults/bad-disk.ts';
import { hasCompiler } from '../faults/shims.ts';
import { BINARY, cleanEnvironment, emptyFolder } from '../support/binary.ts';

setDefaultTimeout(30_000);

/** In units of the shell: more than a new instance takes, and little more. */
const BLOCKS = 2400;

test('answers 503 with Retry-After to writes, goes on reading, and ends with 0', async () => {
  const scratch = emptyFolder();
  const key = await new Response(Bun.spawn([BINARY, 'key'], { stdout: 'pipe' }).stdout).text();
  const limited = `trap '' XFSZ; ulimit -f ${BLOCKS}; exec "$0" "$@"`;
  const server = Bun.spawn(['sh', '-c', limited, BINARY, 'serve', '--data', join(scratch.path, 'data'), '--port=0'], {
    cwd: scratch.path,
    env: cleanEnvironment({ GATEHOUSE_WORKSPACE_KEY: key.trim(), GATEHOUSE_OWNER_EMAIL: 'owner@example.com' }),
    stdout: 'pipe',
    stderr: 'ignore',
  });
  let said = '';
  const reading = (async () => {
    for await (const piece of server.stdout.pipeThrough(new TextDecoderStream())) said += piece;
  })();
  while (!/http:\/\/localhost:\d+/.test(said)) await Bun.sleep(10);
  const [url] = /http:\/\/localhost:\d+/.exec(said) ?? [''];
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' },
    });
  const refused: { status: number; retryAfter: string | null; error: string }[] = [];
  const returnUrls = Array.from({ length: 20 }, (_, n) => `https://example.com/${n}/${'x'.repeat(1900)}`);
  for (let n = 0; n < 120 && refused.length === 0; n += 1) {
    const body = JSON.stringify({ name: `Shop ${n}`, returnUrls });
    const answer = await call('/api/applications', { method: 'POST', body });
    const { error } = (await answer.json()) as { error: string };
    if (answer.ok) continue;
    refused.push({ status: answer.status, retryAfter: answer.headers.get('retry-after'), error });
  }
  expect(refused[0]).toEqual({ status: 503, retryAfter: '5', error: 'unavailable' });
  expect((await call('/api/applications')).status).toBe(200);
  server.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  await reading;

  // A command beside it says the same in a line.
  const noRoom = `trap '' XFSZ; ulimit -f 1; exec "$0" "$@"`;
  const command = Bun.spawn(['sh', '-c', noRoom, BINARY, 'setup-link', '--data', join(scratch.path, 'data')], {
    env: cleanEnvironment(),
    stdout: 'ignore',
    stderr: 'pipe',
  });
  expect([await new Response(command.stderr).text(), await command.exited]).toEqual([
    expect.stringMatching(/^gatehouse: [^\n]+\n$/),
    1,
  ]);
  scratch.remove();
});

/** Of the troubles that `bun test/faults/bad-disk.ts` has. */
const SHORT = ['disk full', 'reads fail', 'all fails'];

test.skipIf(!hasCompiler)(
  'whatever the disk refuses, what was taken stays, and all is well once the disk is',
  async () => {
    const { seen, promised, losses } = await badDiskRun(
      200,
      TROUBLES.filter(({ name }) => SHORT.includes(name)),
    );
    expect(seen.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
    expect(losses).toEqual([]);
    expect(promised).toBeGreaterThanOrEqual(seen.length);
  },
);
