/** An operator's commands on the server's own machine: doctor, outbox, links, start and stop. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  BINARY,
  cleanEnvironment,
  emptyFolder,
  readDatabase,
  run,
  type RunningServer,
  sendCode,
  startServer,
  verifyCode,
} from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const folder = join(scratch.path, 'data');
const OWNER = 'owner@example.com';
let server: RunningServer;
beforeAll(async () => {
  server = await startServer(folder, { GATEHOUSE_OWNER_EMAIL: OWNER, GATEHOUSE_LOG_LEVEL: 'info' });
});
afterAll(() => server.stop('SIGKILL'));

const gatehouse = (args: string[], env: Record<string, string> = {}) => run(args, { cwd: scratch.path, env });

describe('with a running server', () => {
  test('setup-link uses the server’s address, even if it was set by a flag', async () => {
    const { stdout, exitCode } = await gatehouse(['setup-link', '--data', folder]);
    expect(exitCode).toBe(0);
    expect(stdout).toStartWith(`${server.url}/setup?token=egs_`);
    expect((await fetch(stdout.trim())).status).toBe(200);
  });

  test('doctor finds the server and exits with 0, or with 1 if a check fails', async () => {
    const well = await gatehouse(['doctor', '--data', folder, '--json']);
    expect([well.exitCode, well.stderr]).toEqual([0, '']);
    const findings = JSON.parse(well.stdout) as {
      check: string;
      status: string;
      message: string;
      remedy: string | null;
    }[];
    expect(findings.map(({ message }) => message)).toContain('It is reachable from here, and leads to this instance.');
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
    const ill = await gatehouse(['doctor', '--data', folder], { GATEHOUSE_PROT: '1' });
    expect([ill.exitCode, ill.stderr]).toEqual([1, '']);
    expect(ill.stdout).toContain('GATEHOUSE_PROT is not known.');
    expect(ill.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('outbox lists mails without their codes, and showing one is audited', async () => {
    const challengeId = await sendCode(server, OWNER, 'console');
    const listed = await gatehouse(['outbox', 'list', '--data', folder, '--to', 'OWNER@example.com', '--json']);
    const [newest] = JSON.parse(listed.stdout) as { id: string; to: string; subject: string; status: string }[];
    expect([newest?.to, newest?.status]).toEqual([OWNER, 'captured']);
    expect(listed.stdout).not.toMatch(/\d{6}(?![\d:.-])(?=[^"]*is your)/);
    expect(newest?.subject).toContain('••••••');
    const table = await gatehouse(['outbox', 'list', '--data', folder]);
    expect(table.stdout).toMatch(/^ID +WHEN +STATE +TO +SUBJECT\n/);
    expect(table.stdout).toContain(newest!.id);
    const reads = () =>
      readDatabase(folder, (sqlite) =>
        sqlite.query("SELECT target_id FROM audit_records WHERE kind = 'mail.read'").values(),
      );
    expect(reads()).toEqual([]);

    const shown = await gatehouse(['outbox', 'show', newest!.id, '--data', folder]);
    expect([shown.exitCode, shown.stderr]).toEqual([0, 'The activity records that you read it (mail.read).\n']);
    expect(reads()).toEqual([[newest!.id]]);
    const [code = ''] = /\b\d{6}\b/.exec(shown.stdout.split('\n\n').slice(1).join('\n\n')) ?? [];
    expect((await verifyCode(server, challengeId, code)).status).toBe(200);
  });

  test.each([
    [['outbox', 'show', 'mail_none'], 1, 'There is no mail mail_none'],
    [['outbox', 'list', '--limit', '0'], 2, '--limit: give a whole number'],
    [['outbox', 'list', '--to', 'nobody'], 2, '--to: give an e-mail address'],
    [['doctor', '--send-to', 'nobody'], 2, '--send-to: give an e-mail address'],
  ])('%j is refused in one line', async (args, code, words) => {
    const { stdout, stderr, exitCode } = await gatehouse([...args, '--data', folder]);
    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toStartWith(`gatehouse: ${words}`);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});

describe('a start', () => {
  const messages = ({ stdout }: RunningServer) =>
    stdout
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg?: string });

  test('with a JSON log writes only log lines, and warns if no mail is sent', async () => {
    const other = await startServer(join(scratch.path, 'other'), { GATEHOUSE_LOG_LEVEL: 'info' });
    expect(other.setupUrl).toStartWith(`${other.url}/setup?token=egs_`);
    expect(await other.stop('SIGINT')).toBe(0);
    await other.stdout.whole;
    const said = messages(other);
    expect(said.find(({ msg }) => msg?.startsWith('NO MAIL IS SENT'))?.level).toBe('warn');
    expect(said.find(({ msg }) => msg?.startsWith('Gatehouse is running'))).toMatchObject({
      url: other.url,
      mail: 'not sent',
      version: expect.any(String),
      console: `${other.url}/console`,
    });
    expect(said.slice(-2).map(({ msg }) => msg)).toEqual(['Stopping…', 'Stopped.']);
    expect(existsSync(join(other.folder, 'gatehouse.server.json'))).toBe(false);
  });

  test('in a terminal prints address, folder, mail and console, and the link to become its owner', async () => {
    const other = await startServer(join(scratch.path, 'pretty'), {}, ['--log-format', 'pretty']);
    await other.stop();
    const text = await other.stdout.whole;
    expect(text).toMatch(/^Gatehouse is running at \S+\n {2}Version {3}\S+\n[^]*Data {6}\S+\n[^]*Mail {6}not sent\n/);
    expect(text).toContain('\n! NO MAIL IS SENT');
    expect(text).toMatch(/No owner yet\. [^]*\n {2}http\S+\/setup\?token=egs_/);
    expect(text).toEndWith('\nStopping…\nStopped.\n');
  });

  test('after a crash reports it, and commands no longer use the dead server’s address', async () => {
    await server.stop('SIGKILL');
    const link = await gatehouse(['setup-link', '--data', folder]);
    expect(link.stdout).toStartWith('http://localhost:8080/setup?token=');
    server = await startServer(folder, { GATEHOUSE_LOG_LEVEL: 'info' });
    expect(messages(server).map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^The previous server did not shut down cleanly\. /),
    );
  });
});

test.skipIf(process.platform !== 'linux' || process.geteuid?.() !== 0)(
  'doctor as another user says as whom to run it, and looks no further into the folder',
  async () => {
    const command = `exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0" doctor --data "$1"`;
    const child = Bun.spawn(['sh', '-c', command, BINARY, folder], {
      cwd: '/',
      env: cleanEnvironment(),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [text, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, errors]).toEqual([1, '']);
    expect(text.replace(/\s+/g, ' ')).toMatch(/FAIL data folder .*(?:is not readable by this user|does not exist)/);
  },
);
