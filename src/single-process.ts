/**
 * State in the memory of one process that matters once several instances share a database, and how each is kept right. A
 * contract test finds state in memory, and requires its file here, or in the test's own list of state that concerns one
 * process only.
 */

/**
 * How several instances keep it: *shared*, in the database; *leased*, held or taken from the database for a while;
 * *hint*, where news of a change may be missed, since polling finds it; *own*, by each.
 */
export type Rule = 'shared' | 'leased' | 'hint' | 'own';

export interface ProcessState {
  readonly rule: Rule;
  /** Paths below `src`. */
  readonly owners: readonly string[];
  /** Behaviour of several instances on one database, and how far it differs from that of one. */
  readonly bound: string;
}

export const PROCESS_STATE: Readonly<Record<string, ProcessState>> = {
  'rate limits': {
    rule: 'leased',
    owners: [
      'http/counting-limiter.ts',
      'http/rate-limit-table.ts',
      'http/lease-requests.ts',
      'http/leasing-limiter.ts',
      'http/limit-leases.ts',
      'http/shared-counter-memory.ts',
      'http/shared-limits.ts',
    ],
    bound:
      'All together never grant more than a limit: each leases blocks of a sixteenth of the rest, at least one use. One that does not use its block withholds it for five seconds, or until a window of a minute ends. A crash of the database’s machine forgets the leases of its last second, and clocks more than five minutes apart reset each other’s counts.',
  },
  'query cache': {
    rule: 'shared',
    owners: ['db/query-cache.ts', 'db/cached-rows.ts', 'db/packed-row.ts'],
    bound:
      'None on one SQLite file, where `data_version` shows a commit of the other; a thread that verifies may see one within a second, where the server itself commits at the same time. Elsewhere a ban would be seen late, so verification reads the database.',
  },
  'delivery claims': {
    rule: 'shared',
    owners: ['modules/webhooks/claims.ts', 'modules/webhooks/due-endpoints.ts', 'modules/webhooks/dispatcher.ts'],
    bound:
      'A lease in the row keeps each delivery with one, and the other takes over 45 s after the last renewal. Each sends at most 10 at once to one endpoint, and 100 in all.',
  },
  'mail queue': {
    rule: 'shared',
    owners: ['mail/queue.ts', 'mail/slots.ts'],
    bound:
      'A lease in the row keeps each mail with one, as for deliveries. A mail server gets the connections of both: at most 36 of each.',
  },
  'mail server': {
    rule: 'shared',
    owners: ['mail/stored-server.ts', 'mail/switching-queue.ts'],
    bound:
      'The row is read for every mail, so none is sent by a server that was replaced before; an attempt under way ends where it began. Connections are each instance’s own.',
  },
  'expired credentials': {
    rule: 'own',
    owners: ['modules/verification/expired-credentials.ts'],
    bound:
      'After a clock step back one accepts what another saw expire, until the job of five seconds has stored the end. Clocks that differ by more than a second are warned of.',
  },
  'last-seen times': {
    rule: 'own',
    owners: ['modules/verification/last-seen.ts'],
    bound: 'Each writes its own, and the later time stays. The first use of a day counts once.',
  },
  'daily counts': {
    rule: 'own',
    owners: ['modules/stats/count-buffer.ts', 'modules/stats/key-calls.ts'],
    bound: 'None: each adds its own to the counters, in one statement.',
  },
  'guesses of user codes': {
    rule: 'leased',
    owners: ['modules/devices/user-code-limit.ts'],
    bound:
      'None exceeds the limit: a guess takes a use before its lookup, and a right one gives it back. Right codes that arrive at several instances at once, at the last use, can refuse each other.',
  },
  'applies of a seed': {
    rule: 'leased',
    owners: ['modules/seed/apply-pool.ts'],
    bound: 'One apply per budget runs at a time. Another instance waits eight seconds, then refuses.',
  },
  'live streams': {
    rule: 'hint',
    owners: ['modules/live/hub.ts'],
    bound:
      'News of the other’s changes reaches a stream at once; lost news is found by a poll within 3 seconds. News and poll make it show the present state.',
  },
  'activity streams': {
    rule: 'hint',
    owners: ['modules/activity/streams.ts'],
    bound: 'A stream shows what the other commits at its news, or at the poll within 3 seconds.',
  },
  'event streams': {
    rule: 'hint',
    owners: ['modules/webhooks/event-streams.ts'],
    bound: 'A stream shows what the other commits at its news, or at the poll within 3 seconds.',
  },
  'ids in order of creation': {
    rule: 'shared',
    owners: ['core/id.ts', 'http/recent-ids.ts', 'http/stream-tail.ts'],
    bound:
      'A row can become visible 20 seconds behind later ids. Streams remember the ids of that time, and send what they have passed.',
  },
  'news between instances': {
    rule: 'hint',
    owners: ['db/postgres/news.ts'],
    bound: 'Each collects its own messages for 50 ms. What is lost with a connection is found by polling.',
  },
  'background tasks': {
    rule: 'leased',
    owners: ['jobs/background-tasks.ts'],
    bound:
      'One holds a task, and another takes it over within 35 seconds of a kill. Batches start from the cursor in the row, so none runs twice even where a lease was lost.',
  },
  jobs: {
    rule: 'leased',
    owners: ['jobs/scheduler.ts'],
    bound:
      'Expiry, retention, rotation of signing keys and notices of held events run in one instance an interval, in another within half a minute and an interval of a kill. The other jobs concern their own process.',
  },
  backups: {
    rule: 'leased',
    owners: ['modules/backups/service.ts'],
    bound: 'One makes a backup at a time, and a start leaves the running one of another alone.',
  },
  'test mails': {
    rule: 'leased',
    owners: ['modules/outbox/mail-test.ts'],
    bound: 'One test mail per budget is sent at a time; after a kill half a minute passes.',
  },
};
