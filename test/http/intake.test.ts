/** Requests that arrive while the event loop is busy: their bodies wait only within a memory limit. */
import { expect, test } from 'bun:test';
import { type Intake, requestIntake } from '@/http/intake.ts';

const MIB = 1024 * 1024;

/** Blocks the event loop until requests have to wait. */
function blockLoop(): void {
  const since = performance.now();
  while (performance.now() - since < 10);
}

/** Requests to `/short` are answered the short way, and those to `/broken` fail on it. */
function intake(requestsAtOnce = 100) {
  const taken: string[] = [];
  const { serve, settle }: Intake = requestIntake({
    limits: { requestsAtOnce, anonymousBodiesMib: 2 },
    handleShort(request) {
      if (request.url.endsWith('/broken')) throw new Error('broken');
      return request.url.endsWith('/short') ? Promise.resolve(settle(request, new Response('short'))) : null;
    },
    handle: async (request) => {
      taken.push(new URL(request.url).pathname);
      return new Response('ok');
    },
    refuse: async (_, { status, retryAfterSeconds }) =>
      new Response(null, { status, headers: { 'Retry-After': String(retryAfterSeconds) } }),
  });
  const send = (path: string, headers: Record<string, string> = {}) =>
    serve(new Request(`http://localhost${path}`, { method: 'POST', headers }), 'plain');
  return { taken, send };
}

const declared = (bytes: number) => ({ 'content-length': String(bytes) });

test('waiting bodies are limited in bytes: excess ones get a 503 and a close, small ones wait on', async () => {
  const { taken, send } = intake();
  const first = send('/first');
  blockLoop();
  const waiting = [send('/one', declared(MIB)), send('/two', declared(MIB))];
  const refused = await send('/three', declared(MIB));
  expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([
    503,
    '1',
    'close',
  ]);
  expect((await send('/chunked', { 'transfer-encoding': 'chunked' })).status).toBe(503);
  const others = [send('/small', declared(4096)), send('/none')];
  expect(taken).toEqual(['/first']);
  for (const answer of await Promise.all([first, ...waiting, ...others])) expect(answer.status).toBe(200);
  expect(taken).toEqual(['/first', '/one', '/two', '/small', '/none']);
});

test('a request that has waited releases its bytes', async () => {
  const { send } = intake();
  for (let round = 0; round < 3; round += 1) {
    void send('/first');
    blockLoop();
    expect((await send('/large', declared(2 * MIB))).status).toBe(200);
  }
});

test('/healthz is answered before waiting requests', async () => {
  const { taken, send } = intake();
  void send('/first');
  blockLoop();
  await Promise.all([send('/one'), send('/two'), send('/healthz')]);
  expect(taken).toEqual(['/first', '/healthz', '/one', '/two']);
});

test('a request in a fresh turn of the event loop is handled at once, with a body of any size', async () => {
  await new Promise((resolve) => setImmediate(resolve));
  const { taken, send } = intake();
  const answer = send('/large', declared(100 * MIB));
  expect(taken).toEqual(['/large']);
  expect((await answer).status).toBe(200);
});

test('a request that is answered the short way frees its slot once', async () => {
  const { send } = intake(1);
  for (let round = 0; round < 3; round += 1) {
    // A new turn: in a long one the request would wait, and not be answered the short way.
    await new Promise((resolve) => setImmediate(resolve));
    expect((await send('/short')).status).toBe(200);
    const answers = await Promise.all([send('/one'), send('/two')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 503]);
  }
});

test('a request that fails the short way frees its slot', async () => {
  const { send } = intake(1);
  for (let round = 0; round < 3; round += 1) expect(Promise.resolve(send('/broken'))).rejects.toThrow('broken');
  expect((await send('/one')).status).toBe(200);
});
