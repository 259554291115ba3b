import { createHash } from 'node:crypto';
import { describe, expect, test } from 'bun:test';
import { type Random, systemRandom } from '@/core/random.ts';
import { hashSecret, isSecret, mintSecret, SECRET_PREFIXES, type SecretKind, secretPrefix } from '@/core/secret.ts';

const KINDS = Object.keys(SECRET_PREFIXES) as SecretKind[];
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const fixed = (byte: number): Random => ({
  ...systemRandom,
  bytes: (length) => new Uint8Array(length).fill(byte),
});
const decode = (text: string) => [...text].reduce((value, char) => value * 62n + BigInt(ALPHABET.indexOf(char)), 0n);

describe('mintSecret', () => {
  test.each(KINDS)('gives a %s secret its prefix, 256 bits in base62 and a checksum', (kind) => {
    const secret = mintSecret(kind, systemRandom);
    expect(secret).toMatch(new RegExp(`^${SECRET_PREFIXES[kind]}_[0-9A-Za-z]{49}$`));
    expect(isSecret(kind, secret)).toBe(true);
  });

  test('encodes all 256 bits, including the smallest and the largest number', () => {
    expect(decode(mintSecret('apiKey', fixed(0)).slice(4, 47))).toBe(0n);
    expect(decode(mintSecret('apiKey', fixed(0xff)).slice(4, 47))).toBe(2n ** 256n - 1n);
    for (const byte of [0, 1, 0x80, 0xff]) expect(isSecret('session', mintSecret('session', fixed(byte)))).toBe(true);
  });

  test('uses 32 random bytes and never returns the same secret twice', () => {
    const asked: number[] = [];
    mintSecret('apiKey', { ...systemRandom, bytes: (length) => (asked.push(length), systemRandom.bytes(length)) });
    expect(asked).toEqual([32]);
    expect(new Set(Array.from({ length: 1000 }, () => mintSecret('apiKey', systemRandom))).size).toBe(1000);
  });

  test('uses the prefixes that secret scanners know', () => {
    expect(SECRET_PREFIXES).toMatchObject({ apiKey: 'eak', session: 'est', clientSecret: 'ecs' });
    expect(new Set(Object.values(SECRET_PREFIXES)).size).toBe(KINDS.length);
  });
});

describe('isSecret', () => {
  test('refuses a secret with any single character changed', () => {
    const secret = mintSecret('session', systemRandom);
    const accepted: string[] = [];
    for (let at = 0; at < secret.length; at += 1)
      for (const char of `${ALPHABET}_-. `) {
        const changed = secret.slice(0, at) + char + secret.slice(at + 1);
        if (changed !== secret && isSecret('session', changed)) accepted.push(changed);
      }
    expect(accepted).toEqual([]);
  });

  test('refuses a secret with two neighbours swapped, one missing or one doubled', () => {
    const secret = mintSecret('apiKey', systemRandom);
    for (let at = 0; at < secret.length - 1; at += 1) {
      const swapped = secret.slice(0, at) + secret[at + 1] + secret[at] + secret.slice(at + 2);
      if (swapped !== secret) expect(isSecret('apiKey', swapped)).toBe(false);
      expect(isSecret('apiKey', secret.slice(0, at) + secret.slice(at + 1))).toBe(false);
      expect(isSecret('apiKey', secret.slice(0, at) + secret[at] + secret.slice(at))).toBe(false);
    }
  });

  test('refuses a secret as any other kind, even with the prefix exchanged', () => {
    for (const kind of KINDS)
      for (const other of KINDS.filter((candidate) => candidate !== kind)) {
        const secret = mintSecret(kind, systemRandom);
        expect(isSecret(other, secret)).toBe(false);
        expect(isSecret(other, SECRET_PREFIXES[other] + secret.slice(3))).toBe(false);
      }
  });

  test('refuses text that is not a secret', () => {
    const secret = mintSecret('apiKey', systemRandom);
    const others = ['', 'eak_', 'eak', ` ${secret}`, `${secret}\n`, `${secret} `, secret.toUpperCase(), 'x'.repeat(53)];
    for (const text of [...others, `eak_${'é'.repeat(49)}`, 'eak_'.padEnd(1_000_000, '0')])
      expect(isSecret('apiKey', text)).toBe(false);
  });
});

test('hashSecret is the SHA-256 of the whole text, 32 bytes', () => {
  const secret = mintSecret('apiKey', systemRandom);
  expect(Buffer.from(hashSecret(secret))).toEqual(createHash('sha256').update(secret).digest());
  expect(hashSecret(secret)).toHaveLength(32);
});

test('secretPrefix contains the kind and eight characters', () => {
  const secret = mintSecret('apiKey', systemRandom);
  expect(secretPrefix(secret)).toBe(secret.slice(0, 12));
});
