/** The doctor alongside a real server, a real proxy and a real mail server. */
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { mailFindings } from '@/cli/doctor/mail.ts';
import { runChecks } from '@/cli/doctor/run-checks.ts';
import type { Finding } from '@/cli/doctor/finding.ts';
import { type DoctorContextOptions, doctorContext } from '@/cli/doctor/context.ts';
import { loadConfig } from '@/config.ts';
import { DAY } from '@/core/clock.ts';
import { DOCTOR_HEADER, doctorPass } from '@/core/doctor-pass.ts';
import { findServer } from '@/db/sqlite/running-server.ts';
import { type RunningServer, startServer } from '@/server.ts';
import { startMailServer, type TestMailServer } from '../../support/smtp.ts';

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-doctor-'));
/** The handler at the public address. */
let front: (request: Request) => Response | Promise<Response>;
const proxy = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => front(request) });
let mail: TestMailServer;
let server: RunningServer;
const OWN: Record<string, string> = { GATEHOUSE_DATA: folder, GATEHOUSE_BASE_URL: `http://localhost:${proxy.port}` };

/** Forwards everything to the server, with a proxy's headers. */
const forward =
  (headers: Record<string, string> = {}) =>
  (request: Request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(`${server.localUrl}${pathname}${search}`, { headers: { ...request.headers.toJSON(), ...headers } });
  };

beforeAll(async () => {
  mail = await startMailServer();
  const config = loadConfig({ ...OWN, GATEHOUSE_PORT: '0', GATEHOUSE_SMTP_URL: mail.url, GATEHOUSE_BACKUP_TO: folder });
  server = await startServer(config, { log: pino({ level: 'silent' }), accessLog: () => {} });
});
afterEach(() => {
  front = forward();
  mail.reply({});
});
afterAll(async () => {
  await server.stop();
  await proxy.stop(true);
  await mail.close();
  rmSync(folder, { recursive: true, force: true });
});
front = forward();

async function runDoctor(
  environment: Record<string, string> = {},
  options: Partial<DoctorContextOptions> = {},
  sendTo?: string,
) {
  const scene = doctorContext({
    environment: { ...OWN, GATEHOUSE_SMTP_URL: mail.url, ...environment },
    flags: {},
    now: Date.now,
    timeoutMs: 3000,
    ...options,
  });
  return runChecks(scene, { sendTo: sendTo ?? null, isFull: false });
}

const of = (findings: readonly Finding[], check: string) =>
  findings.filter((finding) => finding.check === check).map(({ status, message }) => `${status} ${message}`);
const failed = (findings: readonly Finding[]) => findings.filter(({ status }) => status === 'fail');

describe('the doctor alongside a healthy server', () => {
  test('has no failures, recognises the instance at its address, and advises on every problem', async () => {
    const findings = await runDoctor();
    expect(failed(findings)).toEqual([]);
    expect(of(findings, 'base URL')).toContain('ok It is reachable from here, and leads to this instance.');
    expect(of(findings, 'server')[0]).toContain(`ok Version`);
    expect(of(findings, 'server')[0]).toContain(server.localUrl);
    for (const { status, message, remedy } of findings) {
      expect(message).toMatch(/[.:%]$|said: /);
      expect(remedy === null).toBe(status === 'ok');
    }
  });

  test('changes nothing in the folder', async () => {
    const files = ['gatehouse.db', 'gatehouse.db-wal', 'instance.key', 'gatehouse.server.json'];
    const read = () => files.map((name) => Bun.SHA256.hash(readFileSync(join(folder, name)), 'hex'));
    const before = read();
    await runDoctor();
    expect(read()).toEqual(before);
  });

  test('names all invalid and unknown settings at once, and still runs the other checks', async () => {
    const findings = await runDoctor({
      GATEHOUSE_MAIL_FROM: 'nobody',
      GATEHOUSE_AUDIT_DAYS: 'x',
      GATEHOUSE_SMPT_URL: 'y',
    });
    expect(of(findings, 'settings')).toEqual([
      'fail GATEHOUSE_MAIL_FROM cannot be used.',
      'fail GATEHOUSE_AUDIT_DAYS cannot be used.',
      'fail GATEHOUSE_SMPT_URL is not known.',
    ]);
    expect(of(findings, 'integrity')[0]).toContain('ok ');
  });

  test('names settings that the running server does not have', async () => {
    const findings = await runDoctor({ GATEHOUSE_AUDIT_DAYS: '30' });
    expect(of(findings, 'settings')[0]).toContain(
      'warn The running server has other values, or none, for GATEHOUSE_AUDIT_DAYS',
    );
  });

  test('finds files that others can read', async () => {
    chmodSync(join(folder, 'instance.key'), 0o644);
    const findings = await runDoctor();
    chmodSync(join(folder, 'instance.key'), 0o600);
    expect(of(findings, 'permissions')[0]).toContain('fail Other users can read or change');
    expect(findings.find(({ check }) => check === 'permissions')?.remedy).toContain('chmod 600');
  });

  test.each<[string, (path: string) => void, string]>([
    ['gone', (path) => rmSync(path), 'instance.key is missing, but the database exists'],
    ['rubbish', (path) => writeFileSync(path, 'rubbish'), 'instance.key is damaged'],
    [
      'another instance’s',
      (path) => writeFileSync(path, Buffer.alloc(32, 7).toString('base64url')),
      'instance.key is the key of another instance',
    ],
  ])('finds an instance key that is %s, and says that the next start fails', async (_, spoil, words) => {
    const path = join(folder, 'instance.key');
    const whole = readFileSync(path);
    expect(of(await runDoctor(), 'instance key')).toEqual([`ok ${path} belongs to the database.`]);
    spoil(path);
    const [finding] = (await runDoctor()).filter(({ check }) => check === 'instance key');
    writeFileSync(path, whole, { mode: 0o600 });
    expect(finding).toMatchObject({ status: 'fail', remedy: expect.stringContaining('gatehouse restore FILE') });
    expect(finding?.message).toContain(words);
    expect(finding?.message).toContain('its next start fails');
  });

  test('reports limits that refused calls, quarantined endpoints, and late mails', async () => {
    const sqlite = new Database(join(folder, 'gatehouse.db'));
    const today = Date.now() - (Date.now() % DAY);
    sqlite.run("INSERT INTO daily_counts VALUES ('app_1', 'limit_reached', ?, 'keyPerMinute', 7)", [today]);
    sqlite.run(
      `INSERT INTO mails (id, recipient, subject, status, attempts, next_attempt_at, leased_until, expires_at, created_at, lane)
       VALUES ('mail_1', 'a@example.com', 's', 'queued', 0, ?1, ?2, ?2, ?1, 0)`,
      [Date.now() - 3_600_000, Date.now() + DAY],
    );
    sqlite.run(
      `INSERT INTO webhooks (id, application_id, url, events, status, sealed_secret, created_at, updated_at)
       SELECT 'whk_1', id, 'https://example.com', '[]', 'quarantined', '', 1, 1 FROM applications LIMIT 1`,
    );
    const findings = await runDoctor();
    sqlite.run('DELETE FROM webhooks');
    sqlite.run("DELETE FROM mails WHERE id = 'mail_1'");
    sqlite.run('DELETE FROM daily_counts');
    sqlite.close();
    expect(of(findings, 'limits')[0]).toBe('warn Limits exceeded since yesterday: keyPerMinute 7 times.');
    expect(of(findings, 'pending')[0]).toContain('warn Waiting: 1 mail (due for 60 minutes).');
    expect(of(findings, 'webhooks')[0]).toContain('warn 1 endpoint in quarantine');
    expect(of(await runDoctor(), 'webhooks')).toEqual(['ok No endpoint is in quarantine.']);
  });
});

describe('the base URL', () => {
  test('is reported if another Gatehouse answers there', async () => {
    front = () => Response.json({ success: false }, { status: 404, headers: { 'X-Request-Id': 'req_1' } });
    expect(of(await runDoctor(), 'base URL').join()).toContain('fail Another instance answers at');
  });

  test.each([
    [
      'is something else',
      () => new Response('hello', { headers: { Server: 'nginx' } }),
      'is not this server’s (status 200, nginx)',
    ],
    ['sends on elsewhere', () => Response.redirect('https://www.example.com/'), 'redirects to https://www.example.com'],
    ['claims to be this instance', () => Response.json({ instanceId: 'made up' }), 'is not this server'],
  ])('fails if %s', async (_, answer, words) => {
    front = answer;
    expect(of(await runDoctor(), 'base URL').join()).toContain(words);
  });

  test('is reported if its proxy sends X-Forwarded-For without being trusted, with the setting', async () => {
    front = forward({ 'X-Forwarded-For': '203.0.113.9' });
    const [finding] = (await runDoctor()).filter(({ check }) => check === 'proxies');
    expect([finding?.status, finding?.remedy]).toEqual([
      'fail',
      'If that is your proxy, set GATEHOUSE_TRUSTED_PROXIES=127.0.0.1 and restart.',
    ]);
  });
});

describe('mail', () => {
  test('is tested up to the login, and a test mail is sent on request with the server’s answer', async () => {
    const before = mail.received.length;
    const findings = await runDoctor({}, {}, 'ada@example.com');
    expect(of(findings, 'mail')).toEqual([
      `ok 127.0.0.1:${mail.port} accepts connections, in plain text, without a login.`,
    ]);
    expect(of(findings, 'test mail')[0]).toMatch(/^ok Accepted for ada@example.com, .*the server said: 250 /);
    expect(mail.received.slice(before).map(({ envelopeTo }) => envelopeTo)).toEqual([['ada@example.com']]);
  });

  test('a refused mail is reported in the server’s words, without the password', async () => {
    mail.reply({ logIn: '535 5.7.8 no hunter22 here', recipient: () => '550 5.1.1 no such user' });
    const refused = await runDoctor({ GATEHOUSE_SMTP_URL: mail.url.replace('//', '//joe:hunter22@') });
    expect(of(refused, 'mail')).toEqual(['fail 535 5.7.8 no [redacted] here (in answer to AUTH PLAIN).']);
    const notTaken = await runDoctor({}, {}, 'nobody@example.com');
    expect(of(notTaken, 'test mail')).toEqual(['fail Refused for nobody@example.com: 550 5.1.1 no such user.']);
  });

  test('a mail server configured only in the running server is reported as such', async () => {
    const findings = await runDoctor({ GATEHOUSE_SMTP_URL: '' }, {}, 'ada@example.com');
    expect(of(findings, 'mail')[0]).toContain(`warn The running server sends by 127.0.0.1:${mail.port}`);
    expect(of(findings, 'test mail')[0]).toContain('fail Not sent');
  });

  test('a mail server set in the console is named, and the test mail is left to the console', async () => {
    const context = doctorContext({ environment: { ...OWN, GATEHOUSE_SMTP_URL: '' }, flags: {}, now: Date.now });
    const { findings } = await mailFindings(context, 'ada@example.com', 'smtp.example.com:587');
    expect(of(findings, 'mail')).toEqual([
      'ok The running server sends by smtp.example.com:587, as set in the console.',
    ]);
    expect(of(findings, 'test mail')).toEqual(['fail Not sent: only the server has the password.']);
  });
});

describe('the server’s answer to its doctor', () => {
  const ask = (headers: Record<string, string>) => fetch(`${server.localUrl}/healthz/doctor`, { headers });

  test('is given to nobody else', async () => {
    const { pass } = findServer(folder)!.note!;
    const now = Date.now();
    const passes = ['', 'x', doctorPass('another', now), doctorPass(pass, now - 120_000), `${doctorPass(pass, now)}0`];
    for (const text of passes) expect((await ask({ [DOCTOR_HEADER]: text })).status).toBe(404);
    expect((await ask({})).status).toBe(404);
    const answer = await ask({ [DOCTOR_HEADER]: doctorPass(pass, now) });
    expect([answer.status, Object.keys(await answer.json())]).toEqual([
      200,
      expect.arrayContaining(['seen', 'instanceId']),
    ]);
  });
});
