/** So many requests are answered at once; who comes beyond is told when to come again. */
import { expect, test } from 'bun:test';
import { requestRoom } from '@/http/request-room.ts';

const request = (path: string) => new Request(`http://localhost${path}`);

test('a full room refuses all but the question whether the process lives, and has places again after answers and faults', async () => {
  const refused: number[] = [];
  const room = requestRoom(2, async (_, { status, retryAfterSeconds }) => {
    refused.push(retryAfterSeconds ?? 0);
    return new Response(null, { status });
  });
  const [first, second] = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const held = [room(request('/'), () => first.promise), room(request('/'), () => second.promise)];
  const ask = async (path: string) => (await room(request(path), async () => new Response())).status;
  expect([await ask('/readyz'), await ask('/healthz'), refused]).toEqual([503, 200, [1]]);
  first.resolve(new Response());
  second.reject(new Error('broken'));
  expect((await Promise.allSettled(held)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect([await ask('/readyz'), await ask('/readyz'), refused]).toEqual([200, 200, [1]]);
});
