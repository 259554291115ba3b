/** The number of concurrent requests is limited; further ones are told when to retry. */
import { expect, test } from 'bun:test';
import { requestSlots, tooManyRequests } from '@/http/request-slots.ts';

const request = (path: string) => new Request(`http://localhost${path}`);

test('a full pool refuses all but health checks, and has slots again when they are released', () => {
  const slots = requestSlots(2);
  const enter = (path: string) => slots.enter(request(path));
  expect([enter('/'), enter('/'), enter('/readyz')]).toEqual([true, true, false]);
  expect(enter('/healthz')).toBe(true);
  slots.leave();
  expect(enter('/readyz')).toBe(false);
  slots.leave();
  expect([enter('/readyz'), enter('/readyz')]).toEqual([true, false]);
});

test('a refused request gets Retry-After', () => {
  const { status, retryAfterSeconds } = tooManyRequests();
  expect([status, retryAfterSeconds]).toEqual([503, 1]);
});
