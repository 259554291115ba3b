import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'bun:test';
import { equalDigests, INSTANCE_KEY_BYTES, instanceKey } from '@/core/instance-key.ts';

const secret = new Uint8Array(INSTANCE_KEY_BYTES).fill(7);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('the digest of a code depends on the instance key, the challenge and the code', () => {
  const digest = hex(instanceKey(secret).codeDigest('chl_1', '123456'));
  expect(digest).toHaveLength(64);
  expect(hex(instanceKey(secret).codeDigest('chl_1', '123456'))).toBe(digest);
  expect(hex(instanceKey(secret).codeDigest('chl_2', '123456'))).not.toBe(digest);
  expect(hex(instanceKey(secret).codeDigest('chl_1', '123457'))).not.toBe(digest);
  expect(hex(instanceKey(new Uint8Array(32).fill(8)).codeDigest('chl_1', '123456'))).not.toBe(digest);
});

test('the instance key is not used directly: the digest differs from a plain hash and a plain HMAC', () => {
  const digest = hex(instanceKey(secret).codeDigest('chl_1', '123456'));
  expect(digest).not.toBe(createHash('sha256').update('chl_1.123456').digest('hex'));
  expect(digest).not.toBe(createHmac('sha256', secret).update('chl_1.123456').digest('hex'));
});

test('the digest of a code is the same in every release, so that codes survive an upgrade', () => {
  expect(hex(instanceKey(secret).codeDigest('chl_1', '123456'))).toBe(
    'b13212394eaebabd6168ac7643b5d2ded7a73fa877e745f4749e5499759b3910',
  );
});

test('an instance key of another length is refused', () => {
  for (const length of [0, 16, 31, 33]) expect(() => instanceKey(new Uint8Array(length))).toThrow(RangeError);
});

test('equalDigests compares contents, and different lengths without an error', () => {
  const bytes = (...values: number[]) => new Uint8Array(values);
  expect(equalDigests(bytes(1, 2), bytes(1, 2))).toBe(true);
  expect(equalDigests(bytes(1, 2), bytes(1, 3))).toBe(false);
  expect(equalDigests(bytes(1, 2), bytes(1, 2, 3))).toBe(false);
  expect(equalDigests(bytes(), bytes())).toBe(true);
});
