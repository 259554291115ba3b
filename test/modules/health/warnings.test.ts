/** Each warning appears for its cause, and only then. Those of a database server: `server-warnings.test.ts`. */
import { expect, test } from 'bun:test';
import { DAY, HOUR, MINUTE } from '@/core/clock.ts';
import { SERVER_WARNING_CODES } from '@/modules/health/server-warnings.ts';
import { type Observed, WARNING_CODES, warningsOf } from '@/modules/health/warnings.ts';
import { INSTANCE_WARNING_CODES } from '@/modules/instances/overview.ts';

const NOW = 1_000_000_000_000;
const NONE = { count: 0, dueAt: null };
const since = (ms: number) => ({ count: 1, dueAt: NOW - ms });

const HEALTHY: Observed = {
  now: NOW,
  mail: { transport: 'smtp' },
  baseUrl: 'https://auth.example.com',
  facts: {
    mode: 'normal',
    isBaseUrlSet: true,
    untrustedProxyHeader: () => null,
    certificateExpiresAt: () => null,
  },
  database: {
    queued: 0,
    logBytes: 64 * 2 ** 20,
    outage: null,
    damage: null,
    bytes: 1,
    reusableBytes: 0,
    freeBytes: 2 ** 30,
    pool: null,
    server: null,
  },
  instances: [],
  queues: {
    mails: { code: since(10 * MINUTE), notice: NONE, bulk: since(HOUR) },
    deliveries: { queued: since(15 * MINUTE), held: since(100 * HOUR) },
    longWork: NONE,
  },
  backups: { lastGoodAt: NOW - DAY, isLate: false, error: null },
  hasUsers: true,
};

const { facts, database, queues } = HEALTHY;
const outbox = { transport: 'outbox' } as const;

const UNHEALTHY: [code: (typeof WARNING_CODES)[number], Partial<Observed>][] = [
  ['mail_goes_nowhere', { mail: outbox }],
  ['base_url_unset', { baseUrl: 'http://localhost:8080', facts: { ...facts, isBaseUrlSet: false } }],
  ['base_url_not_https', { baseUrl: 'http://auth.example.com' }],
  ['base_url_not_https', { baseUrl: 'http://192.0.2.7:8080' }],
  ['certificate_expires', { facts: { ...facts, certificateExpiresAt: () => NOW + 14 * DAY } }],
  ['proxy_not_trusted', { facts: { ...facts, untrustedProxyHeader: () => 'X-Forwarded-For' } }],
  ['database_not_writable', { database: { ...database, outage: 'database_gone' } }],
  ['database_not_writable', { database: { ...database, outage: 'disk_refuses_writes' } }],
  ['database_not_writable', { database: { ...database, outage: 'database_away' } }],
  ['database_damaged', { database: { ...database, damage: 'The database is damaged: page 7.' } }],
  ['log_is_long', { database: { ...database, logBytes: 64 * 2 ** 20 + 1 } }],
  ['disk_nearly_full', { database: { ...database, freeBytes: 2 ** 30 - 1 } }],
  ['backups_off', { backups: null }],
  ['backup_failed', { backups: { lastGoodAt: null, isLate: false, error: 'There is no folder /backups.' } }],
  ['backup_late', { backups: { lastGoodAt: NOW - 3 * DAY, isLate: true, error: null } }],
  ['mail_waits', { queues: { ...queues, mails: { ...queues.mails, code: since(10 * MINUTE + 1) } } }],
  ['mail_waits', { queues: { ...queues, mails: { ...queues.mails, bulk: since(3 * HOUR) } } }],
  ['deliveries_wait', { queues: { ...queues, deliveries: { ...queues.deliveries, queued: since(HOUR) } } }],
  ['long_work_waits', { queues: { ...queues, longWork: since(HOUR) } }],
];

test('there is no warning for a healthy instance, nor for a development or test instance without mail', () => {
  expect(warningsOf(HEALTHY)).toEqual([]);
  for (const mode of ['dev', 'ephemeral'] as const)
    expect(
      warningsOf({
        ...HEALTHY,
        baseUrl: 'http://localhost:1',
        mail: outbox,
        facts: { ...facts, mode, isBaseUrlSet: false },
      }),
    ).toEqual([]);
  for (const baseUrl of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1', 'http://app.localhost'])
    expect(warningsOf({ ...HEALTHY, baseUrl })).toEqual([]);
  expect(warningsOf({ ...HEALTHY, database: { ...database, freeBytes: null } })).toEqual([]);
});

test.each(UNHEALTHY)('the warning %s appears alone for its cause, with a message and a remedy', (code, observed) => {
  const warnings = warningsOf({ ...HEALTHY, ...observed });
  expect(warnings.map((warning) => warning.code)).toEqual([code]);
  for (const { message, remedy } of warnings)
    expect([message, remedy].map((text) => /[.]$/.test(text))).toEqual([true, true]);
});

test('every warning code has a case in this file, or in that of its group', () => {
  const others: readonly string[] = [...SERVER_WARNING_CODES, ...INSTANCE_WARNING_CODES];
  const own = WARNING_CODES.filter((code) => !others.includes(code));
  expect([...new Set(UNHEALTHY.map(([code]) => code))].sort()).toEqual(own.sort());
});
