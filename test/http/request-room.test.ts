/** The number of concurrent requests is limited. Excess ones are refused with a Retry-After. */
import { expect, test } from 'bun:test';
import { noRoom, requestRoom } from '@/http/request-room.ts';

const request = (path: string) => new Request(`http://localhost${path}`);

test('a full server refuses all requests but /healthz, and accepts others once some have ended', () => {
  const room = requestRoom(2);
  const enter = (path: string) => room.enter(request(path));
  expect([enter('/'), enter('/'), enter('/readyz')]).toEqual([true, true, false]);
  expect(enter('/healthz')).toBe(true);
  room.leave();
  expect(enter('/readyz')).toBe(false);
  room.leave();
  expect([enter('/readyz'), enter('/readyz')]).toEqual([true, false]);
});

test('a request without a slot gets a 503 with the seconds to wait', () => {
  const { status, retryAfterSeconds } = noRoom();
  expect([status, retryAfterSeconds]).toEqual([503, 1]);
});
