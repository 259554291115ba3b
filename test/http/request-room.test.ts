/** So many requests are answered at once; who comes beyond is told when to come again. */
import { expect, test } from 'bun:test';
import { noRoom, requestRoom } from '@/http/request-room.ts';

const request = (path: string) => new Request(`http://localhost${path}`);

test('a full room refuses all but the question whether the process lives, and has places again when they are left', () => {
  const room = requestRoom(2);
  const enter = (path: string) => room.enter(request(path));
  expect([enter('/'), enter('/'), enter('/readyz')]).toEqual([true, true, false]);
  expect(enter('/healthz')).toBe(true);
  room.leave();
  expect(enter('/readyz')).toBe(false);
  room.leave();
  expect([enter('/readyz'), enter('/readyz')]).toEqual([true, false]);
});

test('who finds no room is told when to come again', () => {
  const { status, retryAfterSeconds } = noRoom();
  expect([status, retryAfterSeconds]).toEqual([503, 1]);
});
