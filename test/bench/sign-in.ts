/**
 * Durable sign-ins by code through the API: codes sent and codes verified per second at 32 connections, by new people
 * (each becomes a member) and then by the same people; and how long others wait. Codes are read from the database
 * file, which must be on a real disk for meaningful results; TMPDIR sets its folder. Prints one JSON line.
 * Usage: bun test/bench/sign-in.ts [seconds] [--connections 32]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyFolder, readDatabase } from '../support/binary.ts';
import { createApplication, fill, startServer } from './server.ts';
import { type Waits, whileWatched } from './waits.ts';
import { linesFrom, wrk, type WrkResult } from './wrk.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { connections: { type: 'string', default: '32' } },
});
const seconds = Number(positionals[0] ?? 10);
const connections = Number(values.connections);

const scratch = emptyFolder();
const folder = scratch.path;
let server = await startServer(folder);
try {
  const { id: applicationId, clientId } = await createApplication(server, 'Bench');
  const newcomers = { send: await send(), signIn: await signIn() };
  await letResend();
  const members = { send: await send(), signIn: await signIn() };
  const signedIn = newcomers.signIn.requests + members.signIn.requests;
  await server.stop();
  const sessions = readDatabase(folder, (sqlite) => sqlite.query('SELECT count(*) AS count FROM sessions').get());
  if ((sessions as { count: number }).count < signedIn)
    throw new Error(`${signedIn} sign-ins, but ${JSON.stringify(sessions)}`);
  console.log(
    JSON.stringify({
      benchmark: 'sign-in',
      connections,
      newcomers: { send: figures(newcomers.send), signIn: figures(newcomers.signIn) },
      members: { send: figures(members.send), signIn: figures(members.signIn) },
    }),
  );

  function send() {
    const headers = '{ ["Content-Type"] = "application/json" }';
    return load(`local turn = 0
      request = function()
        turn = turn + 1
        local body = '{"email":"person' .. turn .. '@example.com","clientId":"${clientId}"}'
        return wrk.format("POST", "/api/v1/auth/otp/send", ${headers}, body)
      end`);
  }

  /** Verifies each person's newest unused code once; for half the time, so that there are enough. */
  async function signIn() {
    const codes = readDatabase(folder, (sqlite) =>
      sqlite
        .query(
          `SELECT max(c.id), m.code FROM code_challenges c JOIN mails m ON m.rowid =
             (SELECT max(rowid) FROM mails WHERE recipient = c.email)
           WHERE c.application_id = ? AND c.consumed_at IS NULL GROUP BY c.email ORDER BY max(c.id)`,
        )
        .values(applicationId),
    );
    await Bun.write(
      join(folder, 'codes'),
      codes.map(([id, code]) => `{"challengeId":"${id}","code":"${code}"}`).join('\n'),
    );
    const headers = '{ ["Content-Type"] = "application/json" }';
    return load(
      `${linesFrom('body', join(folder, 'codes'))}
      request = function() return wrk.format("POST", "/api/v1/auth/otp/verify", ${headers}, body()) end`,
      seconds / 2,
    );
  }

  /** Ages the first codes while no server runs, since a second code within 30 seconds is refused. */
  async function letResend(): Promise<void> {
    await server.stop();
    fill(folder, (sqlite) => sqlite.run('UPDATE code_challenges SET created_at = created_at - 60000'));
    server = await startServer(folder);
  }
} finally {
  server.kill();
  scratch.remove();
}

type Load = WrkResult & { readonly others: Waits };

async function load(script: string, duration = seconds): Promise<Load> {
  const { result, waits } = await whileWatched(server, () =>
    wrk({ url: server.url, connections, seconds: Math.ceil(duration), folder, script }),
  );
  if (result.errors > 0) throw new Error(`${result.errors} of ${result.requests} were refused`);
  return { ...result, others: waits };
}

function figures({ requestsPerSecond, p50Ms, p99Ms, others }: Load) {
  return { perSecond: requestsPerSecond, p50Ms, p99Ms, others };
}
