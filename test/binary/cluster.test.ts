/** Two instances on PostgreSQL with a synchronous standby, under load; test/faults/cluster.ts injects many more faults. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { runCluster } from '../faults/cluster/run.ts';
import { embeddedBinaries } from '../support/postgres-binaries.ts';

setDefaultTimeout(180_000);

test('keep every promise when one is killed, PostgreSQL restarts, and its standby is promoted', async () => {
  const { problems, faults, steps, deliveries, ended, kept } = await runCluster({
    // The registry's PostgreSQL cannot make a standby again, so the promotion comes last.
    counts: { kill: 1, restart: 1, promotion: 1, cut: 0 },
    pauseMs: 1000,
    bin: embeddedBinaries(),
    canRebuild: false,
    isBouncer: false,
    tell() {},
  });
  expect(problems).toEqual([]);
  expect(faults.map(({ kind }) => kind)).toEqual(['kill', 'restart', 'promotion']);
  for (const [step, count] of Object.entries(steps)) expect([step, count]).toEqual([step, expect.any(Number)]);
  expect(Math.min(...Object.values(steps), deliveries.events, ended, kept)).toBeGreaterThan(0);
});
