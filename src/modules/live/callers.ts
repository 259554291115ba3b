/** Rechecks the sessions and keys behind all open streams, where news of their end was lost. */
import type { Clock } from '../../core/clock.ts';
import type { Database } from '../../db/database.ts';
import { POLL_MS } from '../../http/stream-tail.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { findEndReason, listLiveCredentials } from '../../store/live-credentials.ts';

/** Credentials in one statement; a hub has up to 50,000. */
const BATCH = 1000;

/** Open streams that rest on credentials. */
export interface CalledStreams {
  /** Ids of the sessions and keys of all streams. */
  callers(): readonly string[];
  /** Has the streams of a session or key judge it again. @param reason for the client, if it has ended. */
  recheckCaller(credentialId: string, reason: string): void;
}

export function callersJob({ reader }: Pick<Database, 'reader'>, clock: Clock, streams: readonly CalledStreams[]): Job {
  return {
    name: 'callers of streams',
    everyMs: POLL_MS,
    async runOnce() {
      const ids = [...new Set(streams.flatMap((one) => one.callers()))];
      const now = clock.now();
      for (let from = 0; from < ids.length; from += BATCH) {
        const batch = ids.slice(from, from + BATCH);
        const live = new Set(await listLiveCredentials(reader, { ids: batch, now }));
        for (const id of batch) {
          if (live.has(id)) continue;
          const reason = await findEndReason(reader, id, now);
          for (const one of streams) one.recheckCaller(id, reason);
        }
      }
    },
  };
}
