/** Refuses a path that resolves to another one, however it is encoded. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:net';
import { join } from 'node:path';
import { emptyFolder, startServer } from '../support/binary.ts';

setDefaultTimeout(120_000);

function raw(port: string, target: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), '127.0.0.1', () =>
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
  );
  let text = '';
  socket.on('data', (piece) => (text += piece.toString())).on('end', () => resolve(text));
  socket.on('error', reject);
  return promise;
}

test('dot segments in a path are refused with 400, plain or encoded, in any position', async () => {
  const scratch = emptyFolder();
  const server = await startServer(join(scratch.path, 'data'));
  const { port } = new URL(server.url);
  for (const target of [
    '/api/applications/app_1/webhooks/%2e%2e/rotate-secret',
    '/x/../healthz',
    '/x/%2E%2e/healthz',
    '/x/.%2e/healthz/',
    '/./healthz',
    '/healthz/%2e',
    `${'/x/..'.repeat(20)}/healthz`,
    '/x//../../healthz',
  ])
    expect([target, /^HTTP\/1.1 (\d+)/.exec(await raw(port, target))?.[1]]).toEqual([target, '400']);
  for (const [target, status] of [
    ['/healthz', '200'],
    ['/healthz?next=../x', '200'],
    ['/nothing', '404'],
    ['/a..b/.c', '404'],
    [`${'/x'.repeat(20)}`, '404'],
  ] as const)
    expect([target, /^HTTP\/1.1 (\d+)/.exec(await raw(port, target))?.[1]]).toEqual([target, status]);
  await server.stop();
  scratch.remove();
});
