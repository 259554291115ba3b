/** The memory pool of request bodies: exact in total and per caller, released once, and free for small bodies. */
import { expect, test } from 'bun:test';
import type { AppError } from '@/core/error.ts';
import { bodyPool, bufferedBytes } from '@/http/body-pool.ts';

const isRefused = (take: () => void): boolean => {
  try {
    take();
    return false;
  } catch (error) {
    const { code, retryAfterSeconds } = error as AppError;
    expect([code, retryAfterSeconds]).toEqual(['unavailable', 1]);
    return true;
  }
};

test('the body pool grants exactly its bytes, and grants them again after a release', () => {
  const room = bodyPool(100);
  const first = room.open();
  first.take(60);
  const second = room.open();
  expect(isRefused(() => second.take(41))).toBe(true);
  second.take(40);
  expect(isRefused(() => first.take(1))).toBe(true);
  first.release();
  first.release();
  const third = room.open();
  third.take(60);
  expect(isRefused(() => third.take(1))).toBe(true);
});

test('a caller has a share of the body pool across all their requests, and leaves the rest to others', () => {
  const room = bodyPool(100, 30);
  const [one, two, other] = [room.open('ada'), room.open('ada'), room.open('bob')];
  one.take(20);
  expect(isRefused(() => two.take(11))).toBe(true);
  other.take(30);
  one.release();
  two.take(30);
});

test('a released hold grants nothing, even when its refused body keeps arriving', () => {
  const room = bodyPool(100);
  const hold = room.open();
  hold.release();
  expect(isRefused(() => hold.take(1))).toBe(true);
  room.open().take(100);
});

test.each([
  ['none', {}, 0],
  ['one of 4 KiB', { 'content-length': '4096' }, 0],
  ['one byte more', { 'content-length': '4097' }, 4097],
  ['one of gigabytes, as far as the runtime buffers it', { 'content-length': '9000000000' }, 2 * 1024 * 1024],
  ['one in chunks, whose length is unknown', { 'transfer-encoding': 'chunked' }, 256 * 1024],
] as [string, Record<string, string>, number][])('the runtime may buffer an unread body: %s', (_, headers, bytes) => {
  expect(bufferedBytes(new Request('http://localhost/', { method: 'POST', headers }))).toBe(bytes);
});
