/**
 * State in the memory of one process that matters once several instances share a database. A contract test finds state
 * in memory, and requires its file here, or in the test's own list of state that concerns one process only.
 */

/**
 * How several instances keep it: *shared*, in the database; *leased*, in blocks of a budget taken from the database, so
 * that the excess is bounded; *hint*, where news of a change may be missed, since polling finds it; *own*, by each.
 */
export type Rule = 'shared' | 'leased' | 'hint' | 'own';

export interface ProcessState {
  readonly rule: Rule;
  /** Paths below `src`. */
  readonly owners: readonly string[];
  /** Effect of two processes on one database today. */
  readonly ifTwo: string;
}

export const PROCESS_STATE: Readonly<Record<string, ProcessState>> = {
  'rate limits': {
    rule: 'leased',
    owners: ['http/rate-limit.ts', 'http/rate-limit-table.ts'],
    ifTwo: 'Each grants every limit in full, and the flush of one overwrites the counts of the other.',
  },
  'query cache': {
    rule: 'shared',
    owners: ['db/query-cache.ts'],
    ifTwo:
      'None on one SQLite file, where `data_version` shows a commit of the other. Elsewhere a ban would be seen late, so verification reads the database.',
  },
  'delivery claims': {
    rule: 'shared',
    owners: ['modules/webhooks/claims.ts', 'modules/webhooks/due-endpoints.ts', 'modules/webhooks/dispatcher.ts'],
    ifTwo:
      'A lease in the row keeps each delivery with one, and the other takes over 45 s after the last renewal. Each sends at most 10 at once to one endpoint, and 100 in all.',
  },
  'mail queue': {
    rule: 'shared',
    owners: ['mail/queue.ts', 'mail/slots.ts'],
    ifTwo:
      'A lease in the row keeps each mail with one, as for deliveries. A mail server gets the connections of both: at most 36 of each.',
  },
  'expired credentials': {
    rule: 'own',
    owners: ['modules/verification/expired-credentials.ts'],
    ifTwo: 'After a clock step back one accepts what the other saw expire, until a job has stored it seconds later.',
  },
  'last-seen times': {
    rule: 'own',
    owners: ['modules/verification/last-seen.ts'],
    ifTwo: 'Both write, and the later time stays.',
  },
  'daily counts': {
    rule: 'own',
    owners: ['modules/stats/counts.ts'],
    ifTwo: 'None: each adds its own to the counters.',
  },
  'guesses of user codes': {
    rule: 'shared',
    owners: ['modules/devices/user-code-limit.ts'],
    ifTwo: 'Concurrent guesses at both can exceed the limit, because each serializes its own only.',
  },
  'applies of a seed': {
    rule: 'shared',
    owners: ['modules/seed/apply-pool.ts'],
    ifTwo: 'Two applies of one document at the same time can create its objects twice.',
  },
  'live streams': {
    rule: 'hint',
    owners: ['modules/live/hub.ts'],
    ifTwo:
      'News of the other’s changes reaches a stream at once; lost news is found by a poll within 3 seconds. News and poll make it show the present state.',
  },
  'activity streams': {
    rule: 'hint',
    owners: ['modules/activity/streams.ts'],
    ifTwo: 'A stream shows what the other commits at its news, or at the poll within 3 seconds.',
  },
  'event streams': {
    rule: 'hint',
    owners: ['modules/webhooks/event-streams.ts'],
    ifTwo: 'A stream shows what the other commits at its news, or at the poll within 3 seconds.',
  },
  'ids in order of creation': {
    rule: 'shared',
    owners: ['core/id.ts', 'http/recent-ids.ts', 'http/stream-tail.ts'],
    ifTwo:
      'A row can become visible 20 seconds behind later ids. Streams remember the ids of that time, and send what they have passed.',
  },
  'news between instances': {
    rule: 'hint',
    owners: ['db/postgres/news.ts'],
    ifTwo: 'Each collects its own messages for 50 ms. What is lost with a connection is found by polling.',
  },
  'background tasks': {
    rule: 'shared',
    owners: ['jobs/background-tasks.ts'],
    ifTwo: 'Both process batches of one task, from the cursor in its row; no batch runs twice.',
  },
  jobs: {
    rule: 'leased',
    owners: ['jobs/scheduler.ts'],
    ifTwo: 'Every job runs in both; each takes its rows in a change, so the work is done once.',
  },
  backups: {
    rule: 'leased',
    owners: ['modules/backups/service.ts'],
    ifTwo: 'Both make every backup, and a start marks the running one of the other as interrupted.',
  },
  'test mails': {
    rule: 'leased',
    owners: ['modules/outbox/mail-test.ts'],
    ifTwo: 'A workspace can send one test mail through each at a time.',
  },
};
