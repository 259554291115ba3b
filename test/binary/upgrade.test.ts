/** Upgrades the binary, and kills an upgrade halfway. The long form is test/faults/killed-upgrade.ts. */
import { expect, test } from 'bun:test';
import { killUpgrades } from '../faults/killed-upgrade.ts';
import { amount } from '../support/long.ts';

test('a kill at any stage of an upgrade leaves the old or the new schema, and every named copy is valid', async () => {
  const killed = await killUpgrades(amount(3, 12), { records: amount(12_000, 200_000) });
  expect(killed.flatMap(({ faults }) => faults)).toEqual([]);
  // Nothing changes before the copy has its final name.
  expect(killed[0]).toMatchObject({ stage: 'copying', copies: 0, schema: 8 });
  expect(killed.filter(({ stage }) => stage !== 'copying').every(({ copies }) => copies === 1)).toBe(true);
}, 600_000);
