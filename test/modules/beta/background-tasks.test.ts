import { describe, expect, test } from 'bun:test';
import { FIRST_BATCH } from '@/jobs/background-tasks.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { openWriter } from '../../../src/db/sqlite/pragmas.ts';
import { migrate } from '../../../src/db/sqlite/migrate.ts';
import { START } from '../../support/instance.ts';
import { type Beta, betaOf, setUpBeta, signIn } from './beta.ts';
import { mailsOf, workspaceKeyUserId } from './records.ts';

/** More entries than the first batch, which the state change itself writes. */
const MANY = 250;

const emails = (count = MANY) => Array.from({ length: count }, (_, index) => `person${index}@example.com`);

/** Creates many pending entries, and stops the background tasks. */
async function setUpMany(options: Parameters<typeof setUpBeta>[0] = {}): Promise<Beta> {
  const beta = await setUpBeta(options);
  await beta.add(...emails());
  await beta.instance.services.tasks.stop();
  return beta;
}

/** Restarts as after a crash in the middle of a background task, and runs the jobs. */
async function restartAndRunJobs(beta: Beta): Promise<Beta> {
  const restarted = betaOf(await beta.instance.restart(), beta.application);
  // A launch runs only after the decisions before it.
  for (let turn = 0; turn < 2; turn += 1) await restarted.instance.services.scheduler.runAll();
  return restarted;
}

/** Counts rows as they are stored, whether the task has reached them or not. */
const stored = ({ instance }: Beta, status: string): number =>
  (
    instance.sqlite.query('SELECT count(*) AS n FROM beta_interests WHERE status = ?').get(status) as {
      n: number;
    }
  ).n;

const recipients = ({ instance }: Beta, subject: string) =>
  mailsOf(instance)
    .filter((mail) => mail.subject === subject)
    .map(({ to }) => to)
    .sort();

const pendingWork = async (beta: Beta) => (await beta.admin('GET', '')).json.data.pendingWork;

describe('an application that goes live', () => {
  async function setUpDraft() {
    const beta = await setUpBeta({ gate: 'public' });
    const { instance } = beta;
    const { json } = await instance.call('POST', '/api/applications', {
      token: instance.workspaceKey,
      body: { name: 'Next' },
    });
    const draft = betaOf(instance, json.data);
    const move = async (step: string) => {
      const { status } = await draft.admin('POST', `/${step}`);
      await instance.services.scheduler.runAll();
      return status;
    };
    const mailed = () => mailsOf(instance).map(({ to }) => to);
    return { ...draft, move, mailed };
  }

  test('notifies each person on the waitlist once', async () => {
    const { ask, move, mailed, rows } = await setUpDraft();
    await ask('notify@example.com', 'notify');
    await ask('request@example.com', 'request');
    expect([await move('publish'), mailed()]).toEqual([200, []]);
    await ask('later@example.com', 'notify');
    expect(await move('go-live')).toBe(200);
    const all = ['later@example.com', 'notify@example.com', 'request@example.com'];
    expect(mailed().sort()).toEqual(all);
    for (const row of Object.values(await rows()))
      expect(row).toMatchObject({ status: 'notify_when_public', notifiedAt: expect.any(String) });
    expect(await move('go-live')).toBe(409);
    expect(mailed().sort()).toEqual(all);
  });

  test('behind a gate sends no mail until the gate opens', async () => {
    const { ask, move, mailed, setGate, instance } = await setUpDraft();
    await setGate('private_beta');
    await ask('notify@example.com', 'notify');
    for (const step of ['publish', 'go-live']) await move(step);
    expect(mailed()).toEqual([]);
    await setGate('public');
    await instance.services.scheduler.runAll();
    expect(mailed()).toEqual(['notify@example.com']);
  });

  test('has no pending work when its waitlist is empty', async () => {
    const { move, admin } = await setUpDraft();
    await move('publish');
    const { json } = await admin('POST', '/go-live');
    expect(json.data.pendingWork).toBeNull();
  });
});

describe('a policy over many pending entries', () => {
  test('takes effect for all of them at once: in the answer, in every list and at sign-in', async () => {
    const beta = await setUpMany();
    beta.instance.clock.advance(MINUTE);
    const answer = await beta.setPolicy('auto_accept');
    expect(answer.json.data).toEqual({ policy: 'auto_accept', decided: MANY });
    expect([stored(beta, 'approved'), stored(beta, 'pending')]).toEqual([FIRST_BATCH, MANY - FIRST_BATCH]);

    const rows = Object.values(await beta.rows());
    expect(rows).toHaveLength(MANY);
    for (const row of rows)
      expect(row).toMatchObject({
        status: 'approved',
        decidedById: workspaceKeyUserId(beta.instance),
        decidedAt: isoTime(START + MINUTE),
        updatedAt: isoTime(START + MINUTE),
      });
    const listed = async (query: string) => (await beta.admin('GET', `/beta-interests?limit=200${query}`)).json.data;
    expect((await listed('&status=pending')).items).toEqual([]);
    const first = await listed('&status=approved');
    const rest = await listed(`&status=approved&cursor=${first.nextCursor}`);
    expect([...first.items, ...rest.items].map(({ email }: { email: string }) => email)).toEqual(emails().reverse());
    expect(await signIn(beta, 'person249@example.com')).toBe('in');
  });

  test('is completed after a crash: no row changes, and each person is notified once', async () => {
    const beta = await setUpMany();
    await beta.setPolicy('auto_accept', true);
    const before = await beta.rows();
    const restarted = await restartAndRunJobs(beta);
    expect(stored(restarted, 'approved')).toBe(MANY);
    expect(await restarted.rows()).toEqual(before);
    expect(recipients(restarted, 'You can now sign in to Shop')).toEqual(emails().sort());
    const lanes = beta.instance.sqlite.query('SELECT DISTINCT lane FROM mails').all();
    expect(lanes).toEqual([{ lane: 2 }]);
  });

  test('is shown as pending work of the application until it is written', async () => {
    const beta = await setUpMany();
    expect(await pendingWork(beta)).toBeNull();
    await beta.setPolicy('auto_decline', false);
    const work = { kind: 'decide_pending', done: FIRST_BATCH, total: null };
    expect(await pendingWork(beta)).toEqual(work);
    const list = await beta.instance.call('GET', '/api/applications', { token: beta.instance.workspaceKey });
    expect(list.json.data.items).toMatchObject([{ id: beta.application.id, pendingWork: work }]);
    expect(await pendingWork(await restartAndRunJobs(beta))).toBeNull();
  });

  test('keeps decisions made for single entries while it runs', async () => {
    const beta = await setUpMany();
    await beta.setPolicy('auto_accept', true);
    const rows = await beta.rows();
    const decline = (email: string) => beta.admin('POST', `/beta-interests/${rows[email]!.id}/decline`);
    expect((await decline('person200@example.com')).json.data.status).toBe('declined');
    await beta.admin('DELETE', `/beta-interests/${rows['person201@example.com']!.id}`);
    const again = await beta.admin('POST', `/beta-interests/${rows['person202@example.com']!.id}/approve`, {
      notify: true,
    });
    expect(again.json.data).toEqual(rows['person202@example.com']);
    const restarted = await restartAndRunJobs(beta);
    expect((await restarted.statuses())['person200@example.com']).toBe('declined');
    const mailed = recipients(restarted, 'You can now sign in to Shop');
    expect(mailed).toEqual(
      emails()
        .filter((email) => !['person200@example.com', 'person201@example.com'].includes(email))
        .sort(),
    );
  });

  test('is not undone by the next policy, which decides only later entries', async () => {
    const beta = await setUpMany();
    await beta.ask('waiting@example.com', 'notify');
    await beta.setPolicy('auto_accept');
    await beta.setPolicy('manual');
    // This entry is older than the first decision, since the person first asked to be notified.
    await beta.ask('waiting@example.com');
    await beta.ask('late@example.com');
    expect((await beta.setPolicy('auto_decline')).json.data.decided).toBe(2);
    const restarted = await restartAndRunJobs(beta);
    const statuses = await restarted.statuses();
    for (const email of emails()) expect(statuses[email]).toBe('approved');
    for (const email of ['waiting@example.com', 'late@example.com']) expect(statuses[email]).toBe('notify_when_public');
    expect(recipients(restarted, 'Your request for Shop has to wait')).toEqual([
      'late@example.com',
      'waiting@example.com',
    ]);
  });
});

describe('opening to the public with many on the waitlist', () => {
  test('makes all of them wait at once, and notifies each once after a crash', async () => {
    const beta = await setUpMany();
    await beta.setGate('public');
    expect(stored(beta, 'notify_when_public')).toBe(FIRST_BATCH);
    expect(new Set(Object.values(await beta.statuses()))).toEqual(new Set(['notify_when_public']));
    const restarted = await restartAndRunJobs(beta);
    expect(recipients(restarted, 'Now open: Shop')).toEqual(emails().sort());
    expect(await pendingWork(restarted)).toBeNull();
  });

  test('does not notify people who join while the mails are being written', async () => {
    const beta = await setUpMany();
    await beta.setPolicy('auto_decline', false);
    await beta.setGate('public');
    await beta.ask('late@example.com');
    await beta.ask('curious@example.com', 'notify');
    const restarted = await restartAndRunJobs(beta);
    expect(recipients(restarted, 'Now open: Shop')).toEqual(emails().sort());
  });

  test('stops notifying when the gate closes, and notifies the rest at the next opening', async () => {
    const beta = await setUpMany();
    await beta.setPolicy('auto_decline', false);
    const waiting = await restartAndRunJobs(beta);
    await waiting.instance.services.tasks.stop();
    await waiting.setGate('public');
    expect(recipients(waiting, 'Now open: Shop')).toHaveLength(FIRST_BATCH);
    await waiting.setGate('closed');
    const closed = await restartAndRunJobs(waiting);
    expect(recipients(closed, 'Now open: Shop')).toHaveLength(FIRST_BATCH);
    expect(await pendingWork(closed)).toBeNull();
    await closed.setGate('public');
    expect(recipients(await restartAndRunJobs(closed), 'Now open: Shop')).toEqual(emails().sort());
  });

  test('sends no mail until the application is in service', async () => {
    const { instance } = await setUpBeta();
    const { json } = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body: {} });
    const draft = betaOf(instance, json.data);
    await draft.setGate('closed');
    await draft.add('a@example.com', 'b@example.com');
    await draft.setGate('public');
    const runJobs = () => instance.services.scheduler.runAll();
    await runJobs();
    const subject = 'Now open: Untitled application';
    expect(await draft.statuses()).toEqual({
      'a@example.com': 'notify_when_public',
      'b@example.com': 'notify_when_public',
    });
    expect(recipients(draft, subject)).toEqual([]);
    expect(await pendingWork(draft)).toEqual({ kind: 'launch', done: 0, total: 2 });
    await draft.admin('POST', '/publish');
    await runJobs();
    expect(recipients(draft, subject)).toEqual(['a@example.com', 'b@example.com']);
    expect(await pendingWork(draft)).toBeNull();
  });

  test('leaves no pending work for an empty waitlist', async () => {
    const { instance } = await setUpBeta();
    const { json } = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body: {} });
    const draft = betaOf(instance, json.data);
    await draft.setGate('closed');
    const opened = await draft.setGate('public');
    expect(opened.json.data.pendingWork).toBeNull();
  });
});

test('a launch that an older version had started is continued for the people it was for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'));
  const path = join(folder, 'old.db');
  const sqlite = openWriter(path);
  try {
    const versions = ['0001_foundation', '0002_management', '0003_webhooks', '0004_sign_in_methods', '0005_account'];
    for (const version of versions)
      sqlite.run(await Bun.file(new URL(`../../../migrations/${version}.sql`, import.meta.url)).text());
    sqlite.run(`PRAGMA user_version = ${versions.length}`);
    sqlite.run("INSERT INTO workspaces (id, name, created_at) VALUES ('wsp_1', 'W', 1)");
    for (const [id, gate] of [
      ['open', 'public'],
      ['closed', 'private_beta'],
      ['done', 'public'],
    ] as const)
      sqlite.run(`INSERT INTO applications (id, workspace_id, client_id, slug, name, stage, signin_gate,
          beta_request_policy, session_ttl_seconds, return_urls, created_at, updated_at)
        VALUES ('${id}', 'wsp_1', '${id}', '${id}', 'Shop', 'live', '${gate}', 'manual', 300, '[]', 1, 1)`);
    const rows = [
      ['open', 'stamped', 'notify_when_public', 2, null],
      ['open', 'told', 'notify_when_public', 2, 3],
      ['open', 'late', 'notify_when_public', null, null],
      ['open', 'asking', 'pending', null, null],
      ['closed', 'stamped', 'notify_when_public', 2, null],
      ['done', 'told', 'notify_when_public', 2, 3],
      ['done', 'late', 'notify_when_public', null, null],
    ] as const;
    for (const [application, name, status, stampedAt, notifiedAt] of rows)
      sqlite
        .prepare(
          `INSERT INTO beta_interests (id, application_id, email, status, source, launch_queued_at, notified_at,
             created_at, updated_at) VALUES (?1 || ?2, ?1, ?2, ?3, 'request', ?4, ?5, 1, 1)`,
        )
        .run(application, name, status, stampedAt, notifiedAt);
    migrate(sqlite, path);
    const works = sqlite.query('SELECT kind, application_id AS id, data FROM long_works').all();
    expect(works).toEqual([{ kind: 'launch', id: 'open', data: '{"epoch":1}' }]);
    const dueRows = sqlite
      .query(
        `SELECT i.id FROM beta_interests i JOIN applications a ON a.id = i.application_id WHERE i.epoch < a.interest_epoch
           AND i.notified_at IS NULL`,
      )
      .all();
    expect(dueRows).toEqual([{ id: 'openstamped' }]);
  } finally {
    sqlite.close();
    rmSync(folder, { recursive: true });
  }
});
