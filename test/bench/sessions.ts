/**
 * Anonymous memory of a server, which is what the kernel cannot drop, once each of N sessions was verified, and once
 * more. Prints one JSON line.
 * Usage: bun test/bench/sessions.ts [--sessions N] [--threads N]
 */
import { parseArgs } from 'node:util';
import { emptyFolder } from '../support/binary.ts';
import { connect, type Connection } from '../threads/connection.ts';
import { giveRole, insertMembers, insertSessions } from './rows.ts';
import { anonymousMiB, createApplication, createKey, cpuMs, fill, residentMiB, round, startServer } from './server.ts';

const { values } = parseArgs({
  options: { sessions: { type: 'string', default: '100000' }, threads: { type: 'string', default: '0' } },
});
const sessions = Number(values.sessions);
const CONNECTIONS = 32;
const PASSES = 2;
/** Last-seen times are flushed and garbage is collected meanwhile. */
const SETTLE_MS = 5000;

const scratch = emptyFolder();
const folder = scratch.path;
try {
  const setup = await startServer(folder);
  const { id: applicationId } = await createApplication(setup, 'Bench');
  const key = await createKey(setup, `/api/applications/${applicationId}`, 'read');
  await setup.stop();
  const tokens = fill(folder, (sqlite) => {
    const people = insertMembers(sqlite, applicationId, sessions);
    giveRole(sqlite, applicationId, 'user', people);
    return insertSessions(sqlite, people, sessions);
  });

  const server = await startServer(folder, { GATEHOUSE_THREADS: values.threads });
  const port = Number(new URL(server.url).port);
  const idle = memoryOf(server.pid);
  const passes = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const [since, cpuBefore] = [performance.now(), cpuMs(server.pid)];
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(port)));
    await Promise.all(connections.map((connection, index) => verifyEach(connection, key, tokens, index)));
    for (const connection of connections) connection.close();
    const seconds = (performance.now() - since) / 1000;
    const cpuUs = round(((cpuMs(server.pid) - cpuBefore) / sessions) * 1000, 1);
    const underLoad = memoryOf(server.pid);
    await Bun.sleep(SETTLE_MS);
    passes.push({ seconds: round(seconds), cpuUs, underLoad, after: memoryOf(server.pid) });
  }
  await server.stop();
  console.log(JSON.stringify({ benchmark: 'sessions', sessions, threads: Number(values.threads), idle, passes }));
} finally {
  scratch.remove();
}

/** Verifies every 32nd session. @throws where one is refused. */
async function verifyEach(
  connection: Connection,
  key: string,
  tokens: readonly string[],
  first: number,
): Promise<void> {
  for (let index = first; index < tokens.length; index += CONNECTIONS) {
    const { text } = await connection.send('POST', '/api/v1/verify', { token: key, body: { token: tokens[index] } });
    if (!text.startsWith('{"success":true')) throw new Error(`a session is refused: ${text}`);
  }
}

function memoryOf(pid: number) {
  return { anonymousMiB: round(anonymousMiB(pid)), residentMiB: round(residentMiB(pid)) };
}
