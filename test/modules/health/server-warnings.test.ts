/** Each warning of a database server appears for its cause, and only then. */
import { expect, test } from 'bun:test';
import { HOUR, MINUTE } from '@/core/clock.ts';
import type { DatabaseServer, Standby } from '@/db/database-server.ts';
import { SERVER_WARNING_CODES, serverWarnings } from '@/modules/health/server-warnings.ts';

const STANDBY: Standby = { name: 'b', state: 'streaming', syncState: 'sync', lagBytes: 64 * 2 ** 20, lagMs: MINUTE };
const HEALTHY: DatabaseServer = {
  version: '18.4',
  host: 'db.example.com:5432',
  database: 'gatehouse',
  connections: { own: 22, all: 79, most: 100 },
  standbys: [STANDBY],
  synchronousCommit: 'on',
  synchronousStandbyNames: 'FIRST 1 (b)',
  unsafeSettings: [],
  hasChecksums: true,
  isAutovacuumOn: true,
  oldestTransactionMs: HOUR,
  hiddenSessions: 3,
  bloatedTables: [],
  transactionIdAge: 1_000_000_000,
};

const UNHEALTHY: [code: (typeof SERVER_WARNING_CODES)[number], Partial<DatabaseServer>][] = [
  ['database_unsafe', { unsafeSettings: ['fsync', 'full_page_writes'] }],
  ['transaction_ids_scarce', { transactionIdAge: 1_000_000_001 }],
  ['connections_scarce', { connections: { own: 22, all: 80, most: 100 } }],
  ['synchronous_standby_missing', { standbys: [] }],
  ['synchronous_standby_missing', { standbys: [{ ...STANDBY, syncState: 'async' }] }],
  ['standby_late', { standbys: [{ ...STANDBY, lagBytes: 64 * 2 ** 20 + 1 }] }],
  ['standby_late', { standbys: [{ ...STANDBY, lagBytes: 0, lagMs: MINUTE + 1 }] }],
  ['transaction_open', { oldestTransactionMs: HOUR + 1 }],
  ['autovacuum_off', { isAutovacuumOn: false }],
  ['tables_bloated', { bloatedTables: [{ table: 'sessions', liveRows: 5, deadRows: 90_000, lastVacuumAt: null }] }],
];

test('there is none for a healthy server, nor for what its role may not see or nobody waits for', () => {
  const hidden: Standby = { name: null, state: null, syncState: null, lagBytes: null, lagMs: null };
  expect(serverWarnings(HEALTHY)).toEqual([]);
  expect(serverWarnings({ ...HEALTHY, standbys: [hidden], oldestTransactionMs: null })).toEqual([]);
  expect(serverWarnings({ ...HEALTHY, standbys: [], synchronousStandbyNames: '' })).toEqual([]);
  expect(serverWarnings({ ...HEALTHY, standbys: [], synchronousCommit: 'local' })).toEqual([]);
});

test.each(UNHEALTHY)('%s appears alone for its cause, with a message and a remedy', (code, server) => {
  const warnings = serverWarnings({ ...HEALTHY, ...server });
  expect(warnings.map((warning) => warning.code)).toEqual([code]);
  for (const { message, remedy } of warnings)
    expect([message, remedy].map((text) => /[.]$/.test(text))).toEqual([true, true]);
});

test('every code has a case in this file', () => {
  expect([...new Set(UNHEALTHY.map(([code]) => code))].sort()).toEqual([...SERVER_WARNING_CODES].sort());
});
