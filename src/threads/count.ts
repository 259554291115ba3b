/** How many threads a server has for verification. */
import { availableParallelism } from 'node:os';
import type { Config } from '../config.ts';

const MOST_BY_DEFAULT = 4;
/** With fewer cores, threads would take from the main thread what they add. */
const LEAST_CORES = 3;

export interface ThreadCount {
  readonly count: number;
  /** Whether there would be threads where listeners can share a port, as on Linux. */
  readonly isUnsupported: boolean;
}

export function threadCount(
  { threads, mode, database }: Pick<Config, 'threads' | 'mode' | 'database'>,
  cores = availableParallelism(),
  platform: string = process.platform,
): ThreadCount {
  const usual = cores < LEAST_CORES ? 0 : Math.min(MOST_BY_DEFAULT, cores - 1);
  const wanted = mode === 'ephemeral' || database !== null ? 0 : (threads ?? usual);
  const isUnsupported = wanted > 0 && platform !== 'linux';
  return { count: isUnsupported ? 0 : wanted, isUnsupported };
}
