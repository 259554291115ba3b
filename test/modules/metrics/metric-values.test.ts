/** Each thing is done once, over HTTP where possible, and grows its metric in `/metrics` by one. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { HOUR, MINUTE } from '@/core/clock.ts';
import { MailError, type MailTransport } from '@/mail/transport.ts';
import { grafana } from '@/cli/print/grafana.ts';
import { prometheus } from '@/cli/print/prometheus.ts';
import { insertLongWork } from '@/store/long-works.ts';
import { queueMail } from '@/store/mails.ts';
import { VERSION } from '@/version.ts';
import { ENGINE } from '../../support/engine.ts';
import { eventually } from '../../support/eventually.ts';
import * as given from '../../support/given.ts';
import type { Instance } from '../../support/instance.ts';
import { listen } from '../live/listen.ts';
import { emit, quarantine, setUp as setUpWebhooks, subscribe } from '../webhooks/scene.ts';
import { grown, look, TOKEN, watched } from './scene.ts';

const instance = await watched();
const shop = await instance.createApplication();
const key = await instance.createKey(shop.id);
const { token: adasToken } = await instance.signIn(shop.clientId, 'ada@example.com');

const verify = (token: string) => instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
const session = (token?: string) => instance.call('POST', '/api/v1/session', { ...(token && { token }) });

describe('requests', () => {
  const REQUESTS = 'gatehouse_http_requests_total';
  const DURATIONS = 'gatehouse_http_request_duration_seconds_count';

  test('are counted by route pattern, method and status, and timed', async () => {
    const labels = { method: 'GET', route: '/api/applications/:id' };
    const read = (id: string) => instance.call('GET', `/api/applications/${id}`, { token: instance.workspaceKey });
    expect(await grown(instance, REQUESTS, { ...labels, status: '200' }, () => read(shop.id))).toBe(1);
    expect(await grown(instance, REQUESTS, { ...labels, status: '404' }, () => read('app_of_nobody'))).toBe(1);
    expect(await grown(instance, DURATIONS, labels, () => read(shop.id))).toBe(1);
  });

  test('unknown paths and methods share one route and one method, so that callers create no series', async () => {
    const nowhere = { method: 'GET', route: '(none)', status: '404' };
    expect(
      await grown(instance, REQUESTS, nowhere, async () => {
        for (let index = 0; index < 20; index += 1) await instance.call('GET', `/nowhere/${index}`);
      }),
    ).toBe(20);
    for (const method of ['BREW', 'PROPFIND']) await instance.call(method, '/healthz');
    const { text } = await instance.call('GET', '/metrics', { token: TOKEN });
    for (const made of ['nowhere', 'BREW', 'PROPFIND', shop.id, 'app_of_nobody', 'ada@', 'Shop'])
      expect(text).not.toContain(made);
    expect(text).toContain('method="other"');
  });
});

describe('verdicts', () => {
  const VERDICTS = 'gatehouse_verdicts_total';
  const CASES: [endpoint: string, outcome: string, ask: () => Promise<unknown>][] = [
    ['verify', 'ok', () => verify(adasToken)],
    ['verify', 'invalid_token', () => verify('est_none')],
    ['session', 'ok', () => session(adasToken)],
    ['session', 'invalid_token', () => session('est_none')],
    ['session', 'invalid_token', () => session()],
    ['introspect', 'ok', () => introspect(adasToken)],
    ['introspect', 'invalid_token', () => introspect('est_none')],
  ];
  const introspect = (token: string) =>
    instance.call('POST', '/api/v1/introspect', { token: key.token, body: { token } });

  test.each(CASES)('a verdict of %s: %s is counted', async (endpoint, outcome, ask) => {
    expect(await grown(instance, VERDICTS, { endpoint, outcome }, ask)).toBe(1);
  });

  test('name the reason for a revoked token', async () => {
    const { token } = await instance.signIn(shop.clientId, 'bob@example.com');
    await instance.call('DELETE', '/api/v1/session', { token });
    const revoked = (endpoint: string, ask: () => Promise<unknown>) =>
      grown(instance, VERDICTS, { endpoint, outcome: 'revoked' }, ask);
    expect(await revoked('verify', () => verify(token))).toBe(1);
    expect(await revoked('session', () => session(token))).toBe(1);
    expect(await revoked('introspect', () => introspect(token))).toBe(1);
  });

  test('are not counted for a session used elsewhere', async () => {
    const account = () => instance.call('GET', '/api/account', { token: adasToken });
    expect(await grown(instance, VERDICTS, { endpoint: 'session', outcome: 'ok' }, account)).toBe(0);
  });
});

describe('sign-ins', () => {
  const SIGN_INS = 'gatehouse_sign_ins_total';

  test('are counted by method, and by reason if refused', async () => {
    const signIn = () => instance.signIn(shop.clientId, 'eve@example.com');
    expect(await grown(instance, SIGN_INS, { method: 'otp', outcome: 'succeeded' }, signIn)).toBe(1);

    const wrong = async () => {
      const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
        body: { email: 'mallory@example.com', clientId: shop.clientId },
      });
      const { challengeId } = sent.json.data;
      const code = instance.codeFor('mallory@example.com') === '000000' ? '000001' : '000000';
      await instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });
    };
    expect(await grown(instance, SIGN_INS, { method: 'otp', outcome: 'code_invalid' }, wrong)).toBe(1);

    const closed = await instance.createApplication({ name: 'Closed', slug: 'closed' });
    await given.application(instance, closed.id, { signinGate: 'closed' });
    const refused = () => instance.trySignIn(closed.clientId, 'stranger@example.com');
    expect(await grown(instance, SIGN_INS, { method: 'otp', outcome: 'gate_closed' }, refused)).toBe(1);
  });
});

describe('limits', () => {
  test('are counted by the limit that refused', async () => {
    const tight = await watched({ environment: { GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '1' } });
    const { clientId } = await tight.createApplication();
    const { token } = await tight.signIn(clientId, 'ada@example.com');
    const twice = async () => {
      for (let call = 0; call < 2; call += 1) await tight.call('POST', '/api/v1/session', { token });
    };
    const REFUSALS = 'gatehouse_rate_limit_refusals_total';
    expect(await grown(tight, REFUSALS, { limit: 'session' }, twice)).toBe(1);

    const many = async () => {
      for (let call = 0; call < 12; call += 1) {
        await tight.call('POST', '/api/v1/auth/otp/send', { body: { email: 'flood@example.com', clientId } });
        tight.clock.advance(61_000);
      }
    };
    expect(await grown(tight, REFUSALS, { limit: 'too_many_codes_sent' }, many)).toBeGreaterThan(0);
  });
});

describe('mails', () => {
  /** A transport whose answer a test sets. */
  function scriptedTransport(): MailTransport & { answer: () => Promise<undefined> } {
    return {
      slots: 1,
      answer: async () => undefined,
      send() {
        return this.answer();
      },
      close() {},
    };
  }
  const post = (of: Instance, expiresInMs = HOUR) =>
    of.db.write(SYSTEM_ACTOR, async (unit) => {
      await queueMail(unit, {
        to: 'ada@example.com',
        subject: 'Hello',
        text: 'Hello',
        html: '<p>Hello</p>',
        code: null,
        expiresAt: unit.now + expiresInMs,
        origin: { applicationId: null, workspaceId: null },
      });
    });

  test('are counted by outcome of their attempts; waiting ones with their age', async () => {
    const mail = scriptedTransport();
    const sending = await watched({ mail });
    const MAILS = 'gatehouse_mails_total';
    const send = async () => {
      await post(sending);
      await sending.services.mail.runOnce();
    };
    expect(await grown(sending, MAILS, { outcome: 'sent' }, send)).toBe(1);
    mail.answer = () => Promise.reject(new MailError('550 5.1.1 no such user', true));
    expect(await grown(sending, MAILS, { outcome: 'refused' }, send)).toBe(1);
    mail.answer = () => Promise.reject(new MailError('450 4.2.1 busy', false));
    expect(await grown(sending, MAILS, { outcome: 'postponed' }, send)).toBe(1);

    // Postponed by five seconds; six have passed.
    const waiting = await look(sending);
    expect(waiting.value('gatehouse_mails_waiting', { lane: 'notice' })).toBe(1);
    expect(waiting.value('gatehouse_mails_waiting', { lane: 'code' })).toBe(0);
    const late = waiting.value('gatehouse_mails_oldest_due_seconds', { lane: 'notice' })!;
    sending.clock.advance(10 * MINUTE);
    expect((await look(sending)).value('gatehouse_mails_oldest_due_seconds', { lane: 'notice' })).toBe(late + 606);

    sending.clock.advance(2 * HOUR);
    expect(await grown(sending, MAILS, { outcome: 'expired' }, () => sending.services.mail.runOnce())).toBe(1);
    expect((await look(sending)).value('gatehouse_mails_oldest_due_seconds', { lane: 'notice' })).toBe(0);
  });

  test('are counted as captured without a transport', async () => {
    const captured = async () => {
      await post(instance);
      await instance.services.mail.runOnce();
    };
    expect(await grown(instance, 'gatehouse_mails_total', { outcome: 'captured' }, captured)).toBe(1);
  });
});

test('deliveries are counted by attempt and result; waiting and held ones with their age', async () => {
  const scene = await setUpWebhooks({ environment: { GATEHOUSE_METRICS_TOKEN: TOKEN } });
  const hooked = scene.instance;
  const { receiver } = await subscribe(scene, ['user.banned']);
  const send = async () => {
    await emit(scene);
    await hooked.services.deliveries.runOnce();
  };
  const ATTEMPTS = 'gatehouse_delivery_attempts_total';
  expect(await grown(hooked, ATTEMPTS, { outcome: 'delivered' }, send)).toBe(1);
  expect((await look(hooked)).value('gatehouse_deliveries_total', { outcome: 'delivered' })).toBe(1);

  receiver.answerWith(() => ({ status: 500 }));
  expect(await grown(hooked, ATTEMPTS, { outcome: 'failed' }, send)).toBe(1);
  hooked.clock.advance(10 * MINUTE);
  const late = await look(hooked);
  expect(late.value('gatehouse_deliveries_waiting', { state: 'queued' })).toBe(1);
  expect(late.value('gatehouse_deliveries_oldest_due_seconds')).toBeGreaterThan(300);
  expect(late.value('gatehouse_deliveries_total', { outcome: 'failed' })).toBe(0);

  await quarantine(scene, { receiver });
  await emit(scene);
  const held = await look(hooked);
  expect(held.value('gatehouse_deliveries_total', { outcome: 'failed' })).toBeGreaterThan(0);
  expect(held.value('gatehouse_deliveries_waiting', { state: 'held' })).toBe(1);
  expect(held.value('gatehouse_deliveries_oldest_due_seconds')).toBe(0);
});

test('background tasks are counted by kind, with their rows and the time without progress', async () => {
  const busy = await watched();
  await busy.db.write(SYSTEM_ACTOR, (unit) =>
    insertLongWork(unit, { kind: 'of a newer version', applicationId: null, data: {}, cursor: null, done: 30 }),
  );
  busy.sqlite.run('UPDATE long_works SET total = 100');
  busy.clock.advance(MINUTE);
  const figures = await look(busy);
  const kind = { kind: 'of a newer version' };
  expect(figures.value('gatehouse_long_works')).toBe(1);
  expect(figures.value('gatehouse_long_work_pending', kind)).toBe(1);
  expect(figures.value('gatehouse_long_work_rows_done', kind)).toBe(30);
  expect(figures.value('gatehouse_long_work_rows_left', kind)).toBe(70);
  expect(figures.value('gatehouse_long_work_age_seconds', kind)).toBe(66);
  expect(figures.value('gatehouse_long_work_stalled_seconds')).toBe(66);
});

test('imported rows are counted by outcome, and account exports in total', async () => {
  const users = [{ email: 'new@example.com' }, { email: 'ada@example.com' }, { email: 'no address' }];
  const imported = () =>
    instance.call('POST', `/api/applications/${shop.id}/users/bulk`, { token: instance.workspaceKey, body: { users } });
  const before = await look(instance);
  expect((await imported()).status).toBe(200);
  const after = await look(instance);
  const rows = (outcome: string) =>
    after.value('gatehouse_imported_rows_total', { outcome })! -
    before.value('gatehouse_imported_rows_total', { outcome })!;
  expect(['created', 'linked', 'already_member', 'skipped'].map(rows)).toEqual([1, 0, 1, 1]);

  const exported = () => instance.call('GET', '/api/account/export', { token: adasToken });
  expect(await grown(instance, 'gatehouse_account_exports_total', {}, exported)).toBe(1);
});

test('streams are counted while they are open', async () => {
  const streams = async () => (await look(instance)).value('gatehouse_streams_open', { kind: 'session' });
  const listening = await listen(instance, adasToken);
  expect(await streams()).toBe(1);
  const { value } = await look(instance);
  expect(['activity', 'events'].map((kind) => value('gatehouse_streams_open', { kind }))).toEqual([0, 0]);
  await listening.leave();
  await eventually('the stream is gone', async () => (await streams()) === 0);
});

test('the database reports its changes, size and whether it is writable', async () => {
  const write = () => instance.createKey(shop.id);
  expect(await grown(instance, 'gatehouse_database_changes_total', {}, write)).toBeGreaterThan(0);
  const figures = await look(instance);
  expect(figures.value('gatehouse_database_bytes')).toBeGreaterThan(100_000);
  expect(figures.value('gatehouse_database_writable')).toBe(1);
  expect(figures.value('gatehouse_database_changes_waiting')).toBe(0);
  expect(figures.value('gatehouse_database_conflicts_total')).toBeGreaterThanOrEqual(0);
  expect(figures.value('gatehouse_database_transaction_duration_seconds_sum')).toBeGreaterThan(0);
});

test('each engine has the metrics of its parts, and omits those of the other', async () => {
  await verify(adasToken);
  const { value, families } = await look(instance);
  const ofFolder = ['disk_free_bytes', 'wal_bytes', 'commit_duration_seconds', 'flush_failures_total'];
  const ofServer = ['server_connections', 'standbys', 'pool_connections', 'lookup_batch_size', 'transaction_id_age'];
  const [own, others] = ENGINE === 'sqlite' ? [ofFolder, ofServer] : [ofServer, ofFolder];
  for (const name of own) expect([name, families.has(`gatehouse_database_${name}`)]).toEqual([name, true]);
  for (const name of others) expect([name, families.has(`gatehouse_database_${name}`)]).toEqual([name, false]);
  if (ENGINE === 'sqlite') return;
  expect(value('gatehouse_database_statements_total', { lane: 'lookups' })).toBeGreaterThan(0);
  expect(value('gatehouse_database_lookup_batch_size_sum')).toBeGreaterThan(0);
  expect(value('gatehouse_database_connection_wait_seconds_count')).toBeGreaterThan(0);
  expect(value('gatehouse_database_pool_connections', { lane: 'changes' })).toBeGreaterThan(0);
  expect(value('gatehouse_database_pool_connections_in_use', { lane: 'long_reads' })).toBe(0);
  expect(value('gatehouse_database_server_connections_max')).toBeGreaterThan(
    value('gatehouse_database_server_connections')!,
  );
});

test('a scrape while the database is away omits what it cannot know, and logs nothing of it', async () => {
  const cut = await watched();
  await look(cut);
  const before = cut.logLines.length;
  await cut.db.close();
  const { families, value } = await look(cut);
  expect(value('gatehouse_database_writable')).toBe(0);
  expect(families.has('gatehouse_database_changes_total')).toBe(true);
  const said = cut.logLines.slice(before).filter((line) => line.includes('a metric could not be read'));
  if (ENGINE === 'postgres') expect(said).toEqual([]);
});

test('the process reports its version, memory, CPU, descriptors and start time', async () => {
  const figures = await look(instance);
  expect(figures.value('gatehouse_build_info', { version: VERSION })).toBe(1);
  expect(figures.value('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(figures.value('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(figures.value('process_start_time_seconds')).toBeGreaterThan(1.7e9);
  if (process.platform === 'linux') {
    expect(figures.value('process_open_fds')).toBeGreaterThan(3);
    expect(figures.value('process_max_fds')).toBeGreaterThan(figures.value('process_open_fds')!);
  }
  await eventually('the loop was looked at', async () =>
    (await look(instance)).value('gatehouse_event_loop_delay_seconds_count'),
  );
});

test('the console’s health view agrees on the queues', async () => {
  const { token } = await instance.signIn('console', 'owner@example.com');
  await instance.db.write(SYSTEM_ACTOR, (unit) =>
    insertLongWork(unit, { kind: 'of a newer version', applicationId: null, data: {}, cursor: null, done: 0 }),
  );
  instance.clock.advance(MINUTE);
  const { json } = await instance.call('GET', '/api/workspace/health', { token });
  const { queues } = json.data;
  expect(queues.longWork).toBe(1);
  // A scrape does not wait for a slow count.
  let figures = await look(instance);
  await eventually('the queues were counted', async () => {
    figures = await look(instance);
    return figures.value('gatehouse_long_works') === 1;
  });
  expect(figures.value('gatehouse_long_works')).toBe(queues.longWork);
  expect(figures.value('gatehouse_deliveries_waiting', { state: 'held' })).toBe(queues.deliveriesHeld);
  for (const lane of ['code', 'notice', 'bulk'])
    expect(figures.value('gatehouse_mails_waiting', { lane })).toBe(queues.mailsQueued[lane]);
});

describe('a gauge of another part', () => {
  test('is read at each scrape, omitted if unknown, and does not affect others if it fails', async () => {
    const extended = await watched();
    const { metrics } = extended.services;
    let age: number | null = null;
    metrics.gauge('gatehouse_test_age_seconds', 'How old \\ it is.\nReally.', () => age);
    metrics.gauge('gatehouse_test_broken', 'Never read.', () => Promise.reject(new Error('no such file')));
    metrics.gauge('gatehouse_test_words', 'Words.', () => [[{ word: 'a "b" \\ \n' }, Infinity]]);
    expect((await look(extended)).value('gatehouse_test_age_seconds')).toBeUndefined();
    age = 12.5;
    const figures = await look(extended);
    expect(figures.value('gatehouse_test_age_seconds')).toBe(12.5);
    expect(figures.value('gatehouse_test_words', { word: 'a "b" \\ \n' })).toBe(Infinity);
    expect(figures.families.has('gatehouse_test_broken')).toBe(false);
    expect(extended.logLines.some((line) => line.includes('a metric could not be read'))).toBe(true);
    expect(() => metrics.gauge('gatehouse_test_words', 'Again.', () => 1)).toThrow('two metrics');
  });
});

test('dashboard and alert rules use only existing metrics', async () => {
  // An engine reads no samples for the metrics of the other one.
  const known = new Set(
    instance.services.metrics
      .families()
      .flatMap(({ name, type }) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
      ),
  );
  // Only a listening server has it.
  known.add('gatehouse_http_requests_in_flight');
  if (ENGINE === 'postgres') known.add('gatehouse_database_disk_free_bytes');
  const rules = prometheus();
  const dashboard = JSON.parse(grafana()) as { panels: { title: string; targets?: { expr: string }[] }[] };
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const asked = [rules.slice(rules.indexOf('groups:')), ...expressions].flatMap(
    (text) => text.match(/\b(?:gatehouse|process)_[a-z0-9_]+/g) ?? [],
  );
  expect(asked.length).toBeGreaterThan(40);
  expect([...new Set(asked)].filter((name) => !known.has(name))).toEqual([]);
  expect((Bun.YAML.parse(rules) as { groups: { rules: unknown[] }[] }).groups[0]!.rules).toHaveLength(8);
});
