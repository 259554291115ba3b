/** Memory for request bodies: exact in all and by caller, given back once, and free of charge for small bodies. */
import { expect, test } from 'bun:test';
import type { AppError } from '@/core/error.ts';
import { bodyPool, bufferedBytes } from '@/http/body-pool.ts';

const full = (take: () => void): boolean => {
  try {
    take();
    return false;
  } catch (error) {
    const { code, retryAfterSeconds } = error as AppError;
    expect([code, retryAfterSeconds]).toEqual(['unavailable', 1]);
    return true;
  }
};

test('the room takes exactly its bytes, and has them again when they are released, once', () => {
  const room = bodyPool(100);
  const first = room.open();
  first.take(60);
  const second = room.open();
  expect(full(() => second.take(41))).toBe(true);
  second.take(40);
  expect(full(() => first.take(1))).toBe(true);
  first.release();
  first.release();
  const third = room.open();
  third.take(60);
  expect(full(() => third.take(1))).toBe(true);
});

test('a caller has a share of the room, over all of their requests, and leaves the rest to others', () => {
  const room = bodyPool(100, 30);
  const [one, two, other] = [room.open('ada'), room.open('ada'), room.open('bob')];
  one.take(20);
  expect(full(() => two.take(11))).toBe(true);
  other.take(30);
  one.release();
  two.take(30);
});

test('a released hold takes nothing more: a body that was refused goes on arriving', () => {
  const room = bodyPool(100);
  const hold = room.open();
  hold.release();
  expect(full(() => hold.take(1))).toBe(true);
  room.open().take(100);
});

test.each([
  ['none', {}, 0],
  ['one of 4 KiB', { 'content-length': '4096' }, 0],
  ['one byte more', { 'content-length': '4097' }, 4097],
  ['one of gigabytes, as far as the runtime buffers it', { 'content-length': '9000000000' }, 2 * 1024 * 1024],
  ['one in chunks, whose length is unknown', { 'transfer-encoding': 'chunked' }, 256 * 1024],
] as [string, Record<string, string>, number][])('a body may be buffered unread: %s', (_, headers, bytes) => {
  expect(bufferedBytes(new Request('http://localhost/', { method: 'POST', headers }))).toBe(bytes);
});
