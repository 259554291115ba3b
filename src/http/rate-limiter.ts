/** The limiter of each engine: SQLite has one instance, PostgreSQL any number. */
import type { Database } from '../db/database.ts';
import { countingLimiter } from './counting-limiter.ts';
import { leasingLimiter } from './leasing-limiter.ts';
import type { LimiterDependencies, RateLimiter } from './rate-limit.ts';
import { sharedLimiter } from './shared-limiter.ts';
import { SHARED_LIMITS, type SharedLimits } from './shared-limits.ts';

/** Returns the limiter of a server with threads, which count the limits of verification together. */
function limiterOfThreads(dependencies: LimiterDependencies, shared: SharedLimits): RateLimiter {
  const isShared = (name: string) => SHARED_LIMITS.some((limit) => limit.name === name);
  return sharedLimiter({ ...dependencies, shared, others: countingLimiter(dependencies, (name) => !isShared(name)) });
}

const LIMITERS: Readonly<Record<Database['engine'], (dependencies: LimiterDependencies) => RateLimiter>> = {
  sqlite: countingLimiter,
  postgres: leasingLimiter,
};

/** @param shared null without threads. */
export function rateLimiter(dependencies: LimiterDependencies, shared: SharedLimits | null = null): RateLimiter {
  return shared !== null ? limiterOfThreads(dependencies, shared) : LIMITERS[dependencies.db.engine](dependencies);
}
