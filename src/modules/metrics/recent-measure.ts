/** Measures the database for a scrape: once for all gauges, and without waiting for a server that does not answer. */
import { SECOND } from '../../core/clock.ts';
import type { Database, DatabaseSize } from '../../db/database.ts';

/** Returns null where the database does not answer in time. */
export type MeasureNow = () => Promise<DatabaseSize | null>;

/** Far below the ten seconds that Prometheus waits for a scrape. */
const PATIENCE_MS = 2 * SECOND;

export function recentMeasure(db: Pick<Database, 'measure'>): MeasureNow {
  let running: Promise<DatabaseSize> | null = null;

  async function measure(): Promise<DatabaseSize> {
    try {
      return await db.measure();
    } finally {
      running = null;
    }
  }

  return () => Promise.race([(running ??= measure()), Bun.sleep(PATIENCE_MS).then(() => null)]);
}
