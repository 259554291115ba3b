/** Checks how a PostgreSQL server is reached: name, port, TLS, sign-in, and a pooler between. */
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { withoutBrackets, isLoopbackName } from '../../core/ip-address.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { PostgresAddress, PostgresSettings } from '../../db/postgres/address.ts';
import { examinePostgres, type PostgresExamination } from '../../db/postgres/examination.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('database');
const TCP_MS = 3000;
const DEFAULT_PORT = 5432;

export interface ReachedDatabase {
  /** Null where the server cannot be reached. */
  readonly examination: PostgresExamination | null;
  readonly findings: readonly Finding[];
}

export async function reachDatabase(settings: PostgresSettings): Promise<ReachedDatabase> {
  const { address } = settings;
  try {
    const examination = await examinePostgres(settings);
    const findings = [
      ...(await encryptionFindings(examination, address)),
      ...(await poolerFindings(examination, address)),
    ];
    return { examination, findings };
  } catch (error) {
    const hosts = await Promise.all(address.urls.map(hostFindings));
    const isAnyReached = hosts.some((found) => found.length === 0);
    const refusal = isAnyReached ? refusalFindings('database', error) : [];
    return { examination: null, findings: [...hosts.flat(), ...refusal] };
  }
}

/** Turns the refusal of a start into a finding: its last sentence is the remedy. */
export function refusalFindings(check: string, error: unknown): Finding[] {
  if (!(error instanceof StartupError)) throw error;
  const end = error.message.lastIndexOf('. ');
  const [message, remedy] =
    end < 0 ? [error.message, 'See its log.'] : [error.message.slice(0, end + 1), error.message.slice(end + 2)];
  return findingsOf(check).fail(message, remedy);
}

/** Finds why no connection reaches a server at all; nothing where one does. */
async function hostFindings(url: string): Promise<Finding[]> {
  const { hostname, port, host } = new URL(url);
  const name = withoutBrackets(hostname);
  try {
    await lookup(name);
  } catch (error) {
    return fail(
      `The name ${name} is not known (${(error as NodeJS.ErrnoException).code}).`,
      'Correct the host in GATEHOUSE_DATABASE_URL, or the DNS of this machine.',
    );
  }
  const problem = await tcpProblem(name, Number(port || DEFAULT_PORT));
  if (problem === 'silent')
    return fail(`${host} does not answer.`, 'Check that machine, and the network and firewalls between the two.');
  if (problem === 'refused')
    return fail(
      `Nothing accepts connections at ${host}.`,
      'Start PostgreSQL there, and check its port, listen_addresses and firewall.',
    );
  return [];
}

function tcpProblem(host: string, port: number): Promise<'refused' | 'silent' | null> {
  const { promise, resolve } = Promise.withResolvers<'refused' | 'silent' | null>();
  const socket = connect({ host, port }, () => resolve(null));
  const timer = setTimeout(() => resolve('silent'), TCP_MS);
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'silent'));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

/** Not known behind a pooler, whose own connection to the server is another one. */
async function encryptionFindings(
  examination: PostgresExamination,
  { urls, shown, isBouncer }: PostgresAddress,
): Promise<Finding[]> {
  const isLocal = urls.every((url) => isLoopbackName(new URL(url).hostname));
  if (isBouncer || isLocal || (await examination.isEncrypted())) return [];
  return warn(
    `The connection to ${shown} is not encrypted: others on the network can read everything.`,
    'Turn TLS on at the server, and set sslmode=verify-full in GATEHOUSE_DATABASE_URL.',
  );
}

/** Compares the settings that each connection asks for with those that the server has. */
async function poolerFindings(examination: PostgresExamination, { isBouncer }: PostgresAddress): Promise<Finding[]> {
  if (!isBouncer) {
    if (await examination.hasOwnSettings()) return [];
    return warn(
      'A pooler between drops the settings of connections: their time limits do not hold.',
      'Add pgbouncer=true to GATEHOUSE_DATABASE_URL, or connect to the server itself.',
    );
  }
  if (!(await examination.acceptsSettings()))
    return ok('PgBouncer is between: no prepared statements, and no notifications in transaction mode.');
  return warn(
    'pgbouncer=true is set, but no PgBouncer is between: lookups are not prepared, and cost more.',
    'Remove pgbouncer=true from GATEHOUSE_DATABASE_URL.',
  );
}
