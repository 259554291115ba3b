/** Checks the soak's judgement on made-up samples, and runs it for seconds; `bun test/faults/soak.ts` is the real one. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { judged, type Sample, soak } from '../faults/soak.ts';
import { amount } from '../support/long.ts';

setDefaultTimeout(600_000);

const SECONDS = amount(3, 300);

test('a mixed load is answered correctly, and the server exits with 0', async () => {
  const { refusals, exitCode, samples, done } = await soak(SECONDS, { everySeconds: 0.5, pace: 2 });
  expect({ refusals, exitCode }).toEqual({ refusals: {}, exitCode: 0 });
  expect(samples).toHaveLength(2 * SECONDS);
  expect(done['sign in']).toBeGreaterThan(0);
});

const flat = (index: number): Sample => ({
  atSeconds: index * 5,
  // The log is checkpointed and memory collected now and then.
  walMiB: 40 + (index % 8) * 3,
  privateMiB: 100 + (index % 5) * 4,
  residentMiB: 200 + index,
  databaseMiB: index,
  descriptors: 50 + (index % 3),
  changesWaiting: 0,
  mailsWaiting: index % 2,
  deliveriesWaiting: index,
  longWorks: 0,
});
const risen = (samples: Sample[]) =>
  judged(samples).flatMap(({ name, rise, allowed }) => (rise > allowed ? [name] : []));

test('a fluctuating series counts as flat, and a steadily rising one as a leak', () => {
  const samples = Array.from({ length: 360 }, (_, index) => flat(index));
  expect(risen(samples)).toEqual([]);
  expect(risen(samples.map((sample, index) => ({ ...sample, privateMiB: sample.privateMiB + index / 8 })))).toEqual([
    'privateMiB',
  ]);
  expect(risen(samples.map((sample, index) => ({ ...sample, descriptors: sample.descriptors + index / 10 })))).toEqual([
    'descriptors',
  ]);
  // Growth in the first half is allowed.
  expect(risen(samples.map((sample, index) => ({ ...sample, privateMiB: Math.min(index, 120) + 60 })))).toEqual([]);
});
