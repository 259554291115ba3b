/** Moves the machine's wall clock under a server; `bun test/faults/clock-jumps.ts` does so for longer. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { clockJumps } from '../faults/clock-jumps.ts';
import { hasCompiler } from '../faults/shims.ts';

setDefaultTimeout(120_000);

test.skipIf(!hasCompiler)(
  'a clock that jumps a day ahead and an hour back revives nothing and storms nobody',
  async () => {
    const { problems, received, deliveries } = await clockJumps(60, 800);
    expect(problems).toEqual([]);
    expect(received).toBeGreaterThanOrEqual(deliveries);
  },
);
