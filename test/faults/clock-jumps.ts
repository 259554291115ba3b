/**
 * Moves the wall clock of a server's machine a day ahead, back, an hour back, and to the right time. No code or
 * session comes to life again, nobody is locked out, and neither webhooks nor backups repeat endlessly. Prints figures
 * when run directly:
 *
 *   bun test/faults/clock-jumps.ts [SECONDS AT EACH TIME]
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DAY, HOUR, MINUTE } from '../../src/core/clock.ts';
import { insertDeliveries, insertMembers, insertSessions } from '../bench/rows.ts';
import { fill } from '../bench/server.ts';
import {
  databaseCode,
  emptyFolder,
  eventually,
  readDatabase,
  request,
  sendCode,
  signIn,
  startServer,
  verifyCode,
} from '../support/binary.ts';
import { faultsOf } from './promises.ts';
import { setScene } from './scene.ts';
import { movedClock } from './shims.ts';

export interface ClockRun {
  /** Broken promises. */
  readonly problems: readonly string[];
  readonly deliveries: number;
  /** Requests to the receiver, and the most of one delivery. */
  readonly received: number;
  readonly mostOfOne: number;
  readonly backups: number;
  readonly mails: number;
}

const JUMPS = [
  ['a day ahead', DAY],
  ['back from there', 0],
  ['an hour back', -HOUR],
  ['ahead from there', 0],
] as const;

/** One at first, one after a failure, and one for each of the two times that the clock goes back. */
const MOST_OF_ONE = 4;

/** @param stayMs duration of each time; the server checks its clock every second. */
export async function clockJumps(deliveries: number, stayMs: number): Promise<ClockRun> {
  const scratch = emptyFolder();
  const folder = join(scratch.path, 'data');
  const backups = join(scratch.path, 'backups');
  mkdirSync(backups);
  const clock = movedClock(scratch.path);
  const hits = new Map<string, number>();
  let received = 0;
  // Refuses every third the first time, so that there is something to retry.
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers }) {
      const id = headers.get('svc-event-id') ?? '';
      const before = hits.get(id) ?? 0;
      hits.set(id, before + 1);
      received += 1;
      return new Response(null, { status: before === 0 && received % 3 === 0 ? 500 : 200 });
    },
  });
  const scene = await setScene(folder, { receiverUrl: receiver.url.href, doomed: 0, sessionsEach: 0 });
  const short = fill(folder, (sqlite) => {
    insertDeliveries(sqlite, scene.applicationId, [scene.webhookId], { count: deliveries, status: 'pending' });
    const [person] = insertMembers(sqlite, scene.applicationId, 1, { prefix: 'short' });
    const [token] = insertSessions(sqlite, [person!], 1);
    sqlite.run('UPDATE sessions SET expires_at = ? WHERE application_user_id = ?', [
      Date.now() + 2 * HOUR,
      person!.memberId,
    ]);
    return token!;
  });
  const server = await startServer(folder, {
    ...scene.env,
    ...clock.env,
    GATEHOUSE_BACKUP_TO: backups,
    GATEHOUSE_BACKUP_SCHEDULE: 'every 6h',
  });
  const problems: string[] = [];
  const expectThat = (isSo: boolean, what: string) => void (isSo || problems.push(what));
  const send = async (email: string) => {
    const challengeId = await sendCode(server, email, scene.clientId);
    return { challengeId, code: databaseCode(folder, email) };
  };
  const give = async ({ challengeId, code }: { challengeId: string; code: string }) => {
    const { status, json } = await verifyCode(server, challengeId, code);
    return status === 200 ? 'taken' : String(json?.error);
  };
  const session = async (token: string) => (await request(server, 'POST', '/api/v1/session', { token })).status;
  const makeKey = async (options: object) => {
    const body = { name: 'jumps', access: 'read', ...options };
    return (await request(server, 'POST', '/api/workspace/api-keys', { token: scene.token, body })).json.data.token;
  };
  const use = async (token: string) => (await request(server, 'GET', '/api/applications', { token })).status;
  const mailCount = () =>
    readDatabase(folder, (sqlite) => (sqlite.query('SELECT count(*) AS n FROM mails').get() as { n: number }).n);
  const pending = () =>
    readDatabase(
      folder,
      (sqlite) =>
        (sqlite.query("SELECT count(*) AS n FROM deliveries WHERE status = 'pending'").get() as { n: number }).n,
    );

  const { token: long } = await signIn(server, 'long@example.com', scene.clientId);
  const endingKey = await makeKey({ expiresAt: new Date(Date.now() + 2 * HOUR).toISOString() });
  const limitedKey = await makeKey({ rateLimits: { perMinute: 3, perDay: 1000 } });
  const untouched = await send('untouched@example.com');
  const tried = await send('tried@example.com');
  expectThat((await session(short)) === 200, 'the short session was never good');
  expectThat((await use(endingKey)) === 200, 'the key that ends was never good');
  await eventually('the first deliveries', () => received > deliveries / 2, 20_000);
  const codes: { name: string; challengeId: string; code: string }[] = [];
  let sent = 2;

  for (const [name, offset] of JUMPS) {
    for (let calls = 0; calls < 4; calls += 1) await use(limitedKey);
    const mailsBefore = mailCount();
    const receivedBefore = received;
    clock.set(offset);
    await Bun.sleep(stayMs);
    expectThat((await session(long)) === 200, `${name}: a good session is refused`);
    expectThat((await session(short)) !== 200, `${name}: a session that had ended is open`);
    expectThat((await use(endingKey)) === 401, `${name}: a key that had ended is good`);
    expectThat((await use(limitedKey)) === 200, `${name}: a key is locked out`);
    if (offset === DAY) expectThat((await give(tried)) === 'code_expired', `${name}: an old code is taken`);
    else {
      for (const [what, code] of Object.entries({ untouched, tried })) {
        const answer = await give(code);
        expectThat(answer === 'code_expired', `${name}: the code that had expired, ${what}: ${answer}`);
      }
    }
    const { challengeId, code } = await send(`jump-${sent}@example.com`);
    sent += 1;
    codes.push({ name, challengeId, code });
    expectThat((await request(server, 'GET', '/readyz')).status === 200, `${name}: not ready`);
    const mailed = mailCount() - mailsBefore;
    expectThat(mailed <= 2, `${name}: ${mailed} mails`);
    const again = received - receivedBefore;
    expectThat(again <= deliveries + 10, `${name}: ${again} requests to the receiver`);
  }
  const longest = readDatabase(
    folder,
    (sqlite) =>
      (
        sqlite.query('SELECT max(expires_at) AS at FROM code_challenges WHERE consumed_at IS NULL').get() as {
          at: number;
        }
      ).at,
  );
  expectThat(
    longest <= Date.now() + 10 * MINUTE,
    `a code is good for ${Math.round((longest - Date.now()) / MINUTE)} min`,
  );
  await eventually('all deliveries', () => pending() === 0, 30_000 + stayMs).catch((error: Error) =>
    problems.push(`${error.message}: ${pending()} left`),
  );
  const mostOfOne = Math.max(...hits.values());
  expectThat(mostOfOne <= MOST_OF_ONE, `a delivery was tried ${mostOfOne} times`);
  const made = readdirSync(backups).length;
  expectThat(made <= 1 + JUMPS.length, `${made} backups were made`);
  const mails = mailCount();
  const exitCode = await server.stop();
  expectThat(exitCode === 0, `the server ended with ${exitCode}`);
  problems.push(...readDatabase(folder, faultsOf).map((fault) => JSON.stringify(fault)));
  await receiver.stop(true);
  clock.close();
  scratch.remove();
  return { problems, deliveries, received, mostOfOne, backups: made, mails };
}

if (import.meta.main) {
  const stayMs = Number(process.argv[2] ?? 25) * 1000;
  const { problems, ...figures } = await clockJumps(2000, stayMs);
  console.log(`${figures.deliveries} deliveries: ${figures.received} requests, at most ${figures.mostOfOne} of one`);
  console.log(`${figures.backups} backups, ${figures.mails} mails, over ${JUMPS.length} jumps`);
  for (const problem of problems) console.log(`BROKEN: ${problem}`);
  process.exit(problems.length === 0 ? 0 : 1);
}
