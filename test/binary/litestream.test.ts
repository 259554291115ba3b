/** Restores what Litestream copied before the machine was lost. The long form is test/faults/litestream.ts. */
import { expect, test } from 'bun:test';
import { loseMachine } from '../faults/litestream.ts';
import { LITESTREAM } from '../support/litestream.ts';
import { amount } from '../support/long.ts';

/** One second is the printed copy interval; the rest allows for a busy machine. */
const MOST_LOST_MS = 1000 + 2000;

test.skipIf(LITESTREAM === null)(
  'a machine lost under load costs its last seconds: the rest comes back whole, with the key kept aside',
  async () => {
    const { lostMs, gaps, sessionStatus, promised, lost } = await loseMachine({ seconds: amount(2, 30) });
    console.log(`litestream: ${lost} of ${promised} lost, of the last ${Math.round(lostMs)} ms`);
    expect(promised).toBeGreaterThan(lost);
    expect(lostMs).toBeLessThan(MOST_LOST_MS);
    expect({ gaps, sessionStatus }).toEqual({ gaps: 0, sessionStatus: 200 });
  },
  120_000,
);
