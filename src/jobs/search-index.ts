/** The job that keeps a search index complete: rows enter it without their tokens, and are indexed in short batches. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { batchSize } from '../core/batches.ts';
import { SECOND } from '../core/clock.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import type { Database, Reader, Unit } from '../db/database.ts';
import type { Job } from './scheduler.ts';

const FIRST_BATCH = 50;
const LARGEST_BATCH = 1000;

interface SearchIndex {
  /** Name of the job. */
  readonly name: string;
  hasMissing(reader: Reader): Promise<boolean>;
  /** Indexes about `limit` rows. @returns how many it has indexed. */
  indexMissing(unit: Unit, limit: number): Promise<number>;
}

export function searchIndexJob(db: Database, { name, hasMissing, indexMissing }: SearchIndex): Job {
  const size = batchSize({ first: FIRST_BATCH, largest: LARGEST_BATCH, longMs: db.batchMs });
  return {
    name,
    everyMs: 2 * SECOND,
    isDueAtStart: true,
    isExclusive: true,
    async runOnce() {
      while (await hasMissing(db.reader)) {
        await size.run(
          (limit) => db.write(SYSTEM_ACTOR, (unit) => indexMissing(unit, limit)),
          (done, limit) => done >= limit,
        );
        await yieldToEventLoop();
      }
    },
  };
}
