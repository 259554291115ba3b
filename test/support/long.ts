/** Cases that take minutes: `bun run test:long` runs them, and `bun run test` a short form of each. */

/** Whether long cases run. */
export const isLong = process.env['GATEHOUSE_TEST_LONG'] === 'true';

/** Returns the amount of work for this run: the short one in `bun run test`. */
export function amount(short: number, long: number): number {
  return isLong ? long : short;
}
