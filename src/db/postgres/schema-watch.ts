/**
 * Watches whether this binary can still use the schema: a newer instance may contract it while this one runs. From then
 * on nothing is read or written here, until an instance of this version or a newer one takes over.
 */
import { AppError } from '../../core/error.ts';
import type { PostgresPool } from './pool.ts';
import { compatibility } from './schema-version.ts';

const EVERY_MS = 5000;
const RETRY_SECONDS = 5;

export function schemaWatch(pool: PostgresPool) {
  let checkedAt = performance.now();
  let isReadable = true;

  async function check(): Promise<boolean> {
    const found = await compatibility({ unsafe: async (text) => (await pool.ask(text)).rows });
    checkedAt = performance.now();
    if (found.isReadable !== isReadable) pool.refuse(found.isReadable ? null : refusal());
    isReadable = found.isReadable;
    return isReadable;
  }

  return {
    /** Returns whether this binary can use the schema. */
    check,
    async checkNowAndThen(): Promise<void> {
      if (performance.now() - checkedAt >= EVERY_MS) await check();
    },
    outage: () => (isReadable ? null : ('database_schema_differs' as const)),
  };
}

function refusal(): AppError {
  return new AppError('unavailable', { hint: 'database_schema_differs', retryAfterSeconds: RETRY_SECONDS });
}
