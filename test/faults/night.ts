/**
 * A night of a lone operator with only the binary and the commands of the production guide: the mail server dies, the
 * certificate expires, the disk fills, the machine moves, the owner is locked out. Prints the session when run
 * directly:
 *
 *   bun test/faults/night.ts
 */
import { copyFileSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { emptyFolder, eventually, request, run, type RunningServer, startServer } from '../support/binary.ts';
import { makeCertificate, writeCertificate } from '../support/certificate.ts';
import { startReceiver } from '../support/receiver.ts';
import { startMailServer, type TestMailServer } from '../support/smtp.ts';

type Act = 'mail' | 'certificate' | 'disk' | 'move' | 'locked out';
export const ACTS: readonly Act[] = ['mail', 'certificate', 'disk', 'move', 'locked out'];

export interface Night {
  readonly problems: readonly string[];
}

const DISK_MIB = 48;
const MAIL_MS = 60_000;
const OWNER = 'owner@example.com';

interface DoctorFinding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly remedy: string | null;
}

/** @param acts incidents, in this order. */
export async function night(acts: readonly Act[] = ACTS, tell: (line: string) => void = () => {}): Promise<Night> {
  const scratch = emptyFolder();
  const at = (name: string) => join(scratch.path, name);
  const problems: string[] = [];
  const expectThat = (isSo: boolean, what: string) => void (isSo || problems.push(what));
  const disk = at('disk');
  mkdirSync(disk);
  const isSmall = acts.includes('disk') && process.getuid?.() === 0;
  if (isSmall) Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'none', disk]);
  const folder = join(disk, 'data');
  let mails = await startMailServer();
  const receiver = await startReceiver();
  const key = (await run(['key'], { cwd: '/' })).stdout.trim();
  const env: Record<string, string> = {
    GATEHOUSE_OWNER_EMAIL: OWNER,
    GATEHOUSE_WORKSPACE_KEY: key,
    GATEHOUSE_SMTP_URL: mails.url,
    GATEHOUSE_MAIL_FROM: 'Example <auth@example.com>',
    GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8',
  };
  let server = await startServer(folder, env);

  /** Runs a command of the guide with the server's folder and settings. */
  async function type(args: string[], own: Record<string, string> = env) {
    const { exitCode, stdout, stderr } = await run(args, { cwd: scratch.path, env: own });
    tell(`  $ gatehouse ${args.join(' ')}`);
    for (const line of `${stdout}${stderr}`.trim().split('\n').slice(0, 6)) tell(`    ${line.slice(0, 140)}`);
    tell(`    exit ${exitCode}`);
    return { exitCode, stdout, stderr };
  }

  /** Returns what `gatehouse doctor` says about one check. */
  async function doctor(check: string, own: Record<string, string> = env) {
    const { exitCode, stdout } = await run(['doctor', '--data', folder, '--json'], { cwd: scratch.path, env: own });
    const said = JSON.parse(stdout) as DoctorFinding[] | { findings: DoctorFinding[] };
    const findings = Array.isArray(said) ? said : said.findings;
    const found = findings.filter((finding) => finding.check === check && finding.status !== 'ok');
    tell(`  $ gatehouse doctor: exit ${exitCode}`);
    for (const { status, message, remedy } of found) tell(`    ${status} ${check}: ${message} → ${remedy}`);
    return { exitCode, found };
  }

  const codeTo = async (to: string, from: TestMailServer) => {
    const mail = await eventually(
      `a mail to ${to}`,
      () => from.received.findLast(({ envelopeTo }) => envelopeTo.includes(to)),
      MAIL_MS,
    );
    return /\b\d{6}\b/.exec(mail.text)![0];
  };

  async function ask(email: string, clientId?: string) {
    return request(server, 'POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  }

  async function signIn(email: string, clientId?: string): Promise<string> {
    const sent = await ask(email, clientId);
    const body = { challengeId: sent.json.data.challengeId, code: await codeTo(email, mails) };
    const answer = await request(server, 'POST', '/api/v1/auth/otp/verify', { body });
    if (answer.status !== 200) throw new Error(`${email} could not sign in: ${answer.text}`);
    return answer.json.data.token;
  }

  const manage = async (at: RunningServer, method: string, path: string, body?: object) => {
    const answer = await request(at, method, path, { token: key, ...(body && { body }) });
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.json.data;
  };

  const shop = await manage(server, 'POST', '/api/applications', { name: 'Shop' });
  await manage(server, 'POST', `/api/applications/${shop.id}/publish`, {});
  await manage(server, 'POST', `/api/applications/${shop.id}/go-live`, {});
  const hook = { url: receiver.url, events: ['user.role_added', 'user.role_removed'] };
  receiver.trust((await manage(server, 'POST', `/api/applications/${shop.id}/webhooks`, hook)).signingSecret);
  const session = await signIn('ada@example.com', shop.clientId);
  const isGood = async (token: string) => (await request(server, 'POST', '/api/v1/session', { token })).status === 200;

  const NIGHT: Readonly<Record<Act, () => Promise<void>>> = {
    async mail() {
      const { port } = mails;
      await mails.close();
      const sent = await ask('grace@example.com', shop.clientId);
      expectThat(sent.status === 200, `a code is refused without a mail server: ${sent.text}`);
      const { exitCode, found } = await doctor('mail');
      expectThat(exitCode === 1 && found.length > 0, 'the doctor does not see that the mail server is gone');
      const log = () => `${server.stdout.text()}${server.stderr.text()}`;
      await eventually('the log tells of it', () => /could not be sent yet/.test(log())).catch(() =>
        problems.push('the log does not tell of a mail that could not be sent'),
      );
      mails = await startMailServer({ port });
      const code = await codeTo('grace@example.com', mails);
      const body = { challengeId: sent.json.data.challengeId, code };
      const answer = await request(server, 'POST', '/api/v1/auth/otp/verify', { body });
      expectThat(answer.status === 200, `a code that waited for the mail server: ${answer.text}`);
      expectThat(
        (await doctor('mail')).found.length === 0,
        'the doctor is not content with a mail server that is back',
      );
    },

    async certificate() {
      const own = at('tls');
      mkdirSync(own);
      const endsAt = Date.now() + 6000;
      const files = writeCertificate(own, await makeCertificate({ endsAt }));
      const secure = {
        GATEHOUSE_TLS_CERT: files.cert,
        GATEHOUSE_TLS_KEY: files.key,
      };
      const other = await startServer(at('tls-data'), secure);
      const port = Number(new URL(other.url).port);
      expectThat((await shownBy(port)) === 'first', 'https was never well');
      await Bun.sleep(Math.max(0, endsAt + 1000 - Date.now()));
      const { stdout, exitCode } = await run(['doctor', '--data', at('tls-data')], { cwd: scratch.path, env: secure });
      tell(
        `  $ gatehouse doctor: exit ${exitCode}\n${stdout
          .split('\n')
          .filter((line) => /certificate|expired/i.test(line))
          .join('\n')}`,
      );
      expectThat(exitCode === 1 && /It ended/.test(stdout), 'the doctor does not see a certificate that has ended');
      writeCertificate(own, await makeCertificate({ name: 'second' }));
      tell('  $ kill -HUP PID');
      other.process.kill('SIGHUP');
      await eventually('the new certificate', async () => (await shownBy(port)) === 'second').catch((error: Error) =>
        problems.push(error.message),
      );
      await other.stop();
    },

    async disk() {
      if (!isSmall) return tell('  left out: it needs the right to mount');
      const ballast = join(disk, 'ballast');
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(ballast, new Uint8Array(bavail * bsize));
      let [refused, readyz] = [await ask('disk@example.com'), await request(server, 'GET', '/readyz')];
      // The log's reserved space takes some more changes; the limits of the key allow this many a minute.
      const returnUrls = Array.from({ length: 20 }, (_, n) => `https://example.com/${n}/${'x'.repeat(1900)}`);
      for (let n = 0; n < 60 && readyz.status === 200; n += 1) {
        const body = { name: `filler ${n}`, returnUrls };
        const made = await request(server, 'POST', '/api/applications', { token: key, body });
        if (made.status !== 200) refused = made;
        readyz = await request(server, 'GET', '/readyz');
        if (made.status !== 200) await Bun.sleep(250);
      }
      tell(`  $ curl /readyz: ${readyz.status} ${readyz.json?.message}`);
      expectThat(refused.json?.error === 'unavailable', `a full disk: ${refused.text}`);
      expectThat(readyz.status === 503 && /disk/.test(readyz.json?.message), '/readyz does not tell of a full disk');
      expectThat(await isGood(session), 'a session is refused while the disk is full');
      const { exitCode, found } = await doctor('disk');
      expectThat(exitCode === 1 && found.length > 0, 'the doctor does not see a full disk');
      const backup = await type(['backup', join(disk, 'night.backup'), '--data', folder]);
      expectThat(backup.exitCode === 1 && /room/.test(backup.stderr), 'a backup onto a full disk does not say so');
      rmSync(ballast);
      await eventually('ready again', async () => (await request(server, 'GET', '/readyz')).status === 200).catch(
        (error: Error) => problems.push(error.message),
      );
    },

    async move() {
      const file = at('gatehouse.backup');
      expectThat((await type(['backup', file, '--data', folder])).exitCode === 0, 'no backup beside the server');
      expectThat((await type(['backup', 'verify', file])).exitCode === 0, 'the backup is not verified');
      await server.stop();
      const elsewhere = at('elsewhere');
      mkdirSync(elsewhere);
      copyFileSync(file, join(elsewhere, 'gatehouse.backup'));
      const target = join(elsewhere, 'restored');
      const restored = await type(['restore', join(elsewhere, 'gatehouse.backup'), '--data', target]);
      expectThat(restored.exitCode === 0, 'no restore');
      server = await startServer(target, env);
      expectThat(await isGood(session), 'a session is not good where the machine has moved to');
      const before = receiver.received.length;
      const users = [{ email: 'moved@example.com', roleSlugs: ['user'] }];
      const { results } = await manage(server, 'POST', `/api/applications/${shop.id}/users/bulk`, { users });
      const roles = `/api/applications/${shop.id}/users/${results[0].userId}/roles`;
      await manage(server, 'PUT', roles, { slugs: ['user', 'developer'] });
      await eventually('a webhook with the old signature', () => receiver.received.length > before).catch(
        (error: Error) => problems.push(error.message),
      );
    },

    async 'locked out'() {
      const { exitCode, stdout } = await type(['setup-link', '--data', server.folder]);
      const link = /https?:\/\/\S+/.exec(stdout)?.[0] ?? '';
      expectThat(exitCode === 0 && link.startsWith(server.url), `the link leads to ${link}, not to ${server.url}`);
      expectThat((await fetch(link)).status === 200, 'the page of the link does not open');
      const token = new URL(link).searchParams.get('token');
      const body = { token, email: 'second-owner@example.com' };
      const made = await request(server, 'POST', '/api/setup', { body });
      expectThat(made.status === 200, `the setup link: ${made.text}`);
      const owner = made.json?.data?.token ?? (await signIn('second-owner@example.com'));
      const health = await request(server, 'GET', '/api/workspace/health', { token: owner });
      expectThat(health.json?.data?.isOperator === true, `the new owner does not run the instance: ${health.text}`);
      expectThat((await request(server, 'POST', '/api/setup', { body })).status !== 200, 'the link works twice');
    },
  };

  try {
    for (const act of acts) {
      tell(`${act}:`);
      await NIGHT[act]().catch((error: Error) => problems.push(`${act}: ${error.message}`));
    }
    expectThat((await server.stop()) === 0, 'the server did not end well');
  } finally {
    await receiver.close().catch((error: Error) => problems.push(error.message));
    await mails.close();
    if (isSmall) Bun.spawnSync(['umount', '-l', disk]);
    scratch.remove();
  }
  return { problems };
}

/** Returns the name in the certificate of a new connection, valid or not. */
function shownBy(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}

if (import.meta.main) {
  const { problems } = await night(ACTS, console.log);
  for (const problem of problems) console.log(`BROKEN: ${problem}`);
  if (problems.length === 0) console.log('all is well in the morning');
  process.exit(problems.length === 0 ? 0 : 1);
}
