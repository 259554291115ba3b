/** The scheduled backups of the server: when they run, how many are kept, and who is notified of failures. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY, HOUR, MINUTE } from '@/core/clock.ts';
import { inspectBackup } from '@/db/sqlite/backup.ts';
import { lockBackups } from '@/db/sqlite/locks.ts';
import { emptyFolder } from '../../support/binary.ts';
import * as given from '../../support/given.ts';
import { createInstanceOn, type Instance } from '../../support/instance.ts';
import { startBucket } from '../../support/s3.ts';

const PATH = '/api/workspace/backups';

let scratch: ReturnType<typeof emptyFolder> | undefined;
let instance: (Instance & { close(): Promise<void> }) | undefined;
const bucket = await startBucket();
afterEach(async () => {
  await instance?.close();
  scratch?.remove();
  instance = scratch = undefined;
});
afterAll(() => bucket.stop());

/** @param environment overrides the settings; backups go to a folder of the test by default. */
async function open(environment: Record<string, string> = {}) {
  scratch = emptyFolder();
  const backups = join(scratch.path, 'backups');
  mkdirSync(backups);
  instance = await createInstanceOn(join(scratch.path, 'data'), {
    environment: { GATEHOUSE_BACKUP_TO: backups, GATEHOUSE_BACKUP_SCHEDULE: 'daily 03:00', ...environment },
  });
  const owner = (await instance.signIn('console', 'owner@example.com')).token;
  const listed = async () => (await instance!.call('GET', PATH, { token: owner })).json.data;
  const statuses = async () => (await listed()).runs.map(({ status }: { status: string }) => status);
  /** Runs the backups that are due. */
  const runDue = () => instance!.services.backups.runOnce();
  return { instance, backups, owner, listed, statuses, runDue };
}

/** Reads the mails about backups, oldest first. */
const mails = ({ sqlite }: Instance) =>
  sqlite
    .query(
      "SELECT recipient, subject, text FROM mails WHERE subject LIKE '%ackup%' OR subject LIKE '%icherung%' ORDER BY id",
    )
    .all() as { recipient: string; subject: string; text: string }[];

describe('the backup schedule', () => {
  test('makes the first backup at once, the next when it is due, and a missed one after downtime', async () => {
    const { instance, backups, listed, statuses, runDue } = await open();
    await runDue();
    expect(readdirSync(backups)).toHaveLength(1);
    expect((await listed()).nextAt).toBe('2026-03-03T03:00:00.000Z');

    instance.clock.advance(15 * HOUR - 1);
    await runDue();
    expect(readdirSync(backups)).toHaveLength(1);
    instance.clock.advance(1);
    await runDue();
    await runDue();
    expect(readdirSync(backups)).toHaveLength(2);

    instance.clock.advance(5 * DAY);
    await runDue();
    await runDue();
    expect(await statuses()).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  test('makes a complete backup of the database with the instance key', async () => {
    const { instance, backups, listed, runDue } = await open();
    await instance.createApplication({ name: 'In the backup' });
    await runDue();
    const [name = ''] = readdirSync(backups);
    expect(name).toMatch(/^gatehouse-[0-9a-f]{8}-20260302T120000Z\.db$/);
    const contents = inspectBackup(join(backups, name), name);
    expect(contents.rows['applications']).toBe(2);
    const [run] = (await listed()).runs;
    expect(run).toMatchObject({
      status: 'succeeded',
      cause: 'schedule',
      place: join(backups, name),
      rows: contents.rowCount,
      isEncrypted: false,
      error: null,
    });
    expect(run.bytes).toBe(Bun.file(join(backups, name)).size);
    expect(run.sha256).toBe(Bun.SHA256.hash(await Bun.file(join(backups, name)).bytes(), 'hex'));
  });

  test('still runs after the clock was set back', async () => {
    const { instance, backups, runDue } = await open();
    instance.sqlite.run(
      `INSERT INTO backup_runs (id, cause, status, place, is_encrypted, started_at, ended_at)
       VALUES ('bkp_1', 'schedule', 'succeeded', '/x', 0, ?1, ?1)`,
      [instance.clock.now() + 700 * DAY],
    );
    await runDue();
    expect(readdirSync(backups)).toHaveLength(1);
    for (let minutes = 0; minutes < 5; minutes += 1) {
      instance.clock.advance(MINUTE);
      await runDue();
    }
    expect(readdirSync(backups)).toHaveLength(1);
    instance.clock.advance(DAY);
    await runDue();
    expect(readdirSync(backups)).toHaveLength(2);
  });

  test('repeats a backup that a crash interrupted, after fifteen minutes', async () => {
    const { instance, backups, statuses, runDue } = await open();
    instance.sqlite.run(
      `INSERT INTO backup_runs (id, cause, status, place, is_encrypted, started_at)
       VALUES ('bkp_1', 'schedule', 'running', '/x', 0, ?)`,
      [instance.clock.now()],
    );
    await instance.services.backups.start();
    expect(await statuses()).toEqual(['interrupted']);
    await runDue();
    expect(readdirSync(backups)).toEqual([]);
    instance.clock.advance(15 * MINUTE);
    await runDue();
    expect(readdirSync(backups)).toHaveLength(1);
  });
});

describe('the backup retention', () => {
  test('removes the oldest backups of this instance and no other file', async () => {
    const { instance, backups, runDue } = await open({ GATEHOUSE_BACKUP_KEEP: '2' });
    const others = ['gatehouse-00000001-20200101T000000Z.db', 'notes.txt'];
    for (const name of others) writeFileSync(join(backups, name), 'x');
    for (let day = 0; day < 4; day += 1) {
      await runDue();
      instance.clock.advance(DAY);
    }
    const own = readdirSync(backups).filter((name) => !others.includes(name));
    expect(own.map((name) => name.slice(-'20260305T120000Z.db'.length)).sort()).toEqual([
      '20260304T120000Z.db',
      '20260305T120000Z.db',
    ]);
    expect(readdirSync(backups)).toEqual(expect.arrayContaining(others));
  });

  test('works in a bucket with a prefix, as the backups do', async () => {
    const { instance, statuses, runDue } = await open({
      ...bucket.env,
      GATEHOUSE_BACKUP_TO: `s3://${bucket.bucket}/auth`,
      GATEHOUSE_BACKUP_KEEP: '1',
    });
    await bucket.client.write('auth/notes.txt', 'mine');
    await runDue();
    instance.clock.advance(DAY);
    await runDue();
    expect(await statuses()).toEqual(['succeeded', 'succeeded']);
    const keys = await bucket.keys();
    expect(keys).toEqual([
      expect.stringMatching(/^auth\/gatehouse-[0-9a-f]{8}-20260303T120000Z\.db$/),
      'auth/notes.txt',
    ]);
    const copy = join(scratch!.path, 'fetched.db');
    await Bun.write(copy, await bucket.client.file(keys[0]!).bytes());
    expect(inspectBackup(copy, copy).rowCount).toBeGreaterThan(0);
    // The data folder contains no remains of the upload.
    expect(readdirSync(join(scratch!.path, 'data')).filter((name) => name.includes('backup-'))).toEqual([]);
  });

  test('a bucket that refuses the key fails the backup and names the setting', async () => {
    const { listed, runDue } = await open({
      ...bucket.env,
      GATEHOUSE_BACKUP_TO: `s3://${bucket.bucket}/auth`,
      GATEHOUSE_S3_ACCESS_KEY_ID: 'WRONG',
    });
    await runDue();
    const [run] = (await listed()).runs;
    expect(run.status).toBe('failed');
    expect(run.error).toContain('GATEHOUSE_S3_ACCESS_KEY_ID');
  });
});

describe('backup failures', () => {
  test('are mailed once in the owner’s language, retried with backoff, and their recovery is mailed', async () => {
    const { instance, backups, listed, statuses, runDue } = await open();
    await runDue();
    instance.sqlite.run("UPDATE users SET locale = 'de' WHERE email = 'owner@example.com'");
    rmSync(backups, { recursive: true });
    instance.clock.advance(DAY);
    await runDue();
    await runDue();
    expect(await statuses()).toEqual(['failed', 'succeeded']);
    const [run] = (await listed()).runs;
    expect(run.error).toBe(`There is no folder ${backups}; make it, or mount it.`);
    expect(mails(instance)).toHaveLength(1);
    expect(mails(instance)[0]).toMatchObject({
      recipient: 'owner@example.com',
      subject: 'Die Sicherung von localhost:8080 ist fehlgeschlagen',
    });
    expect(mails(instance)[0]!.text).toContain(run.error);
    expect(mails(instance)[0]!.text).toContain('2. März 2026');

    // The retries wait 15 and then 30 minutes.
    instance.clock.advance(15 * MINUTE);
    await runDue();
    instance.clock.advance(15 * MINUTE);
    await runDue();
    expect(await statuses()).toEqual(['failed', 'failed', 'succeeded']);
    expect(mails(instance)).toHaveLength(1);

    mkdirSync(backups);
    instance.clock.advance(15 * MINUTE);
    await runDue();
    expect(await statuses()).toEqual(['succeeded', 'failed', 'failed', 'succeeded']);
    instance.clock.advance(DAY);
    await runDue();
    expect(mails(instance).map(({ subject }) => subject)).toEqual([
      'Die Sicherung von localhost:8080 ist fehlgeschlagen',
      'Sicherungen von localhost:8080 funktionieren wieder',
    ]);
  });

  test('leave no file behind', async () => {
    const { instance, backups, statuses, runDue } = await open({ GATEHOUSE_BACKUP_PASSPHRASE_FILE: '/nowhere' });
    await runDue();
    expect(await statuses()).toEqual(['failed']);
    expect(readdirSync(backups)).toEqual([]);
    expect(mails(instance)).toHaveLength(1);
  });

  test('cause warnings in the instance health', async () => {
    const { instance, backups, owner, runDue } = await open();
    const codes = async () =>
      (await instance.call('GET', '/api/workspace/health', { token: owner })).json.data.warnings.map(
        ({ code }: { code: string }) => code,
      );
    await runDue();
    expect(await codes()).not.toContain('backup_failed');
    rmSync(backups, { recursive: true });
    instance.clock.advance(DAY);
    await runDue();
    expect(await codes()).toContain('backup_failed');
    mkdirSync(backups);
    instance.clock.advance(HOUR);
    await runDue();
    instance.clock.advance(2 * DAY);
    expect(await codes()).toContain('backup_late');
  });
});

describe('a manual backup', () => {
  test('is started by an owner, and refused while another one runs', async () => {
    const { instance, backups, owner, statuses, runDue } = await open();
    const first = await instance.call('POST', PATH, { token: owner });
    expect([first.status, first.json.data.status, first.json.data.cause]).toEqual([200, 'running', 'manual']);
    const second = await instance.call('POST', PATH, { token: owner });
    expect([second.status, second.json.error]).toEqual([409, 'invalid_state']);
    await runDue();
    while ((await statuses())[0] === 'running') await Bun.sleep(5);
    expect(await statuses()).toEqual(['succeeded']);
    expect(readdirSync(backups)).toHaveLength(1);
    expect(instance.auditKinds()).toContain('workspace.backup_started');
  });

  test('is refused while the backup command uses the same data folder', async () => {
    const { instance, owner, statuses, runDue } = await open();
    const lock = lockBackups(join(scratch!.path, 'data'))!;
    expect((await instance.call('POST', PATH, { token: owner })).status).toBe(409);
    await runDue();
    expect(await statuses()).toEqual([]);
    lock.release();
    await runDue();
    expect(await statuses()).toEqual(['succeeded']);
  });

  test('is refused without a destination', async () => {
    const { instance, owner, listed, runDue } = await open({ GATEHOUSE_BACKUP_TO: '' });
    const answer = await instance.call('POST', PATH, { token: owner });
    expect([answer.status, answer.json.message]).toEqual([409, expect.stringContaining('GATEHOUSE_BACKUP_TO')]);
    await runDue();
    expect(await listed()).toMatchObject({ place: null, nextAt: null, runs: [] });
  });

  test('and the list are limited to owners of the first workspace', async () => {
    const { instance } = await open();
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    for (const method of ['GET', 'POST']) {
      expect((await instance.call(method, PATH)).status).toBe(401);
      for (const token of [instance.workspaceKey, admin.token])
        expect((await instance.call(method, PATH, { token })).status).toBe(403);
    }
    const { token } = await instance.signIn('console', 'owner@example.com');
    const made = await instance.call('POST', '/api/workspaces', { token, body: { name: 'Second' } });
    const id = made.json.data.id as string;
    instance.sqlite.run('UPDATE workspace_members SET user_id = ? WHERE workspace_id = ?', [admin.userId, id]);
    instance.clock.advance(MINUTE);
    for (const method of ['GET', 'POST'])
      expect((await instance.call(method, `${PATH}?workspaceId=${id}`, { token: admin.token })).json.message).toContain(
        'owners of the first workspace',
      );
    expect(existsSync(join(scratch!.path, 'backups'))).toBe(true);
  });

  test('is aborted when the server stops, and leaves no file', async () => {
    const { instance, backups, owner } = await open();
    await instance.call('POST', PATH, { token: owner });
    await instance.services.backups.stop();
    const [run] = instance.sqlite.query('SELECT status FROM backup_runs').all() as { status: string }[];
    expect(['interrupted', 'succeeded']).toContain(run!.status);
    if (run!.status === 'interrupted') expect(readdirSync(backups)).toEqual([]);
    expect(mails(instance)).toEqual([]);
  });
});
