/** The checker of histories finds violations that were planted, and accepts every history of a real register. */
import { describe, expect, test } from 'bun:test';
import { type RegisterOperation, registerViolation, setViolations } from '../support/history.ts';

type Operation = RegisterOperation<number>;
const write = (value: number, begin: number, end: number | null): Operation => ({ kind: 'write', value, begin, end });
const read = (value: number, begin: number, end: number): Operation => ({ kind: 'read', value, begin, end });
const violation = (operations: Operation[]) => registerViolation(operations, 0);

describe('a register', () => {
  test('may be read by either value while it is written', () => {
    expect(violation([write(1, 0, 10), read(0, 2, 3), read(1, 4, 5), read(1, 11, 12)])).toBeNull();
  });

  test('is wrong if a read after an acknowledged write sees the former value', () => {
    const stale = read(0, 11, 12);
    expect(violation([write(1, 0, 10), stale])).toEqual(stale);
  });

  test('is wrong if a read sees the former value after another read has seen the new one', () => {
    expect(violation([write(1, 0, 100), read(1, 10, 20), read(0, 30, 40)])).not.toBeNull();
  });

  test('is wrong if it shows a value that nobody wrote', () => {
    expect(violation([write(1, 0, 1), read(7, 2, 3)])).toEqual(read(7, 2, 3));
  });

  test('may order concurrent writes either way, and only one way for all readers', () => {
    const writes = [write(1, 0, 10), write(2, 0, 10)];
    expect(violation([...writes, read(1, 11, 12)])).toBeNull();
    expect(violation([...writes, read(2, 11, 12)])).toBeNull();
    expect(violation([...writes, read(1, 11, 12), read(2, 13, 14)])).not.toBeNull();
  });

  test('may show a write of unknown outcome at any later time, or never', () => {
    expect(violation([write(1, 0, null), read(0, 5, 6), read(1, 7, 8)])).toBeNull();
    expect(violation([write(1, 0, null), read(0, 5, 6)])).toBeNull();
    expect(violation([write(1, 0, null), write(2, 5, 6), read(1, 7, 8)])).toBeNull();
  });

  test('is wrong if a write of unknown outcome takes effect before it began, or twice', () => {
    expect(violation([read(1, 0, 1), write(1, 5, null)])).not.toBeNull();
    expect(violation([write(1, 0, null), read(1, 1, 2), write(2, 3, 4), read(1, 5, 6)])).not.toBeNull();
  });

  test('is right in every history of a real register, and wrong once one read in it is stale', () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round += 1) {
      const operations: Operation[] = [];
      let value = 0;
      for (let moment = 10; moment < 400; moment += 10) {
        const [begin, end] = [moment - random(30), moment + random(30)];
        if (random(3) > 0) operations.push(read(value, begin, end));
        else operations.push(write((value = moment), begin, random(5) === 0 ? null : end));
      }
      expect(violation(operations)).toBeNull();
      const later = [write(1001, 500, 501), write(1002, 502, 503), read(1001, 504, 505)];
      expect(violation([...operations, ...later])).toEqual(later[2]!);
    }
  });

  test('is checked over thousands of operations', () => {
    const operations: Operation[] = [];
    for (let at = 0; at < 3000; at += 1) {
      operations.push(write(at + 1, at * 10, at % 20 === 0 ? null : at * 10 + 8));
      for (let reader = 0; reader < 4; reader += 1) operations.push(read(at + 1, at * 10 + 5, at * 10 + 9));
    }
    expect(violation(operations)).toBeNull();
  });
});

test('a set must contain what was acknowledged, nothing that was refused, and everything once', () => {
  const additions = [
    { value: 'kept', outcome: 'acknowledged' },
    { value: 'lost', outcome: 'acknowledged' },
    { value: 'revived', outcome: 'refused' },
    { value: 'refused', outcome: 'refused' },
    { value: 'unknown', outcome: 'unknown' },
    { value: 'unknown', outcome: 'refused' },
    { value: 'twice', outcome: 'acknowledged' },
  ] as const;
  expect(setViolations(additions, ['kept', 'revived', 'unknown', 'twice', 'twice', 'invented'])).toEqual({
    lost: ['lost'],
    revived: ['revived'],
    invented: ['invented'],
    repeated: ['twice'],
  });
});
