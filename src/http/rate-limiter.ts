/** The limiter of each engine: SQLite has one instance, PostgreSQL any number. */
import type { Database } from '../db/database.ts';
import { countingLimiter } from './counting-limiter.ts';
import { leasingLimiter } from './leasing-limiter.ts';
import type { LimiterDependencies, RateLimiter } from './rate-limit.ts';

const LIMITERS: Readonly<Record<Database['engine'], (dependencies: LimiterDependencies) => RateLimiter>> = {
  sqlite: countingLimiter,
  postgres: leasingLimiter,
};

export function rateLimiter(dependencies: LimiterDependencies): RateLimiter {
  return LIMITERS[dependencies.db.engine](dependencies);
}
