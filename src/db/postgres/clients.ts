/**
 * Clients of Bun's driver for each kind of statement, on the first server of a list that is a primary. `Bun.SQL` is
 * loaded where it is first used; an import of it would load it at the start of every server.
 */
import type { SQL } from 'bun';
import { deadlineIn, waitUntil } from '../../core/deadline.ts';
import { away } from './errors.ts';

export type Lane = 'lookups' | 'reads' | 'longReads' | 'changes';

export type Clients = Readonly<Record<Lane, SQL>>;

export interface ConnectOptions {
  /** Address of each server of one cluster, tried in order; one of them is the primary. */
  readonly urls: readonly string[];
  /** Options of `tls.connect`, or whether TLS is required; undefined follows the URL. */
  readonly tls: SQL.PostgresOrMySQLOptions['tls'];
  /** Behind PgBouncer in transaction mode, which keeps neither prepared statements nor settings of a session. */
  readonly isBouncer: boolean;
  /** Connections of each kind. */
  readonly lanes: Readonly<Record<Lane, number>>;
}

const CONNECT_SECONDS = 3;

/** Time for a server of a list to answer before the next one is tried as well. */
const HEAD_START_MS = 300;

/** Time-outs of the server in milliseconds, shorter than ours. */
export const SERVER_SETTINGS = {
  application_name: 'gatehouse',
  statement_timeout: 6000,
  lock_timeout: 4000,
  idle_in_transaction_session_timeout: 9000,
};

const LONG_SETTINGS = { ...SERVER_SETTINGS, statement_timeout: 115_000 };

/** A sequential scan locks its whole table against concurrent changes; an index locks what it has read. */
const CHANGE_SETTINGS = { ...SERVER_SETTINGS, enable_seqscan: 'off', jit: 'off' };

/** Settings of one transaction, for connections that keep none. */
export const LOCAL_SETTINGS = Object.entries(CHANGE_SETTINGS)
  .filter(([name]) => name !== 'application_name')
  .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
  .join('; ');

/** Divides a number of connections among the kinds. Lookups travel together, so few connections carry them all. */
export function lanesOf(total: number): Readonly<Record<Lane, number>> {
  const lookups = Math.max(1, Math.floor(total / 10));
  const reads = Math.max(1, Math.floor(total / 5));
  const longReads = Math.max(1, Math.floor(total / 10));
  return { lookups, reads, longReads, changes: Math.max(1, total - lookups - reads - longReads) };
}

/** Options of one client, as the driver takes them. */
export function clientOptions(
  { tls, isBouncer }: Pick<ConnectOptions, 'tls' | 'isBouncer'>,
  url: string,
  max: number,
  settings: object = SERVER_SETTINGS,
): SQL.PostgresOrMySQLOptions {
  return {
    url,
    max,
    bigint: true,
    connectionTimeout: CONNECT_SECONDS,
    idleTimeout: 0,
    maxLifetime: 0,
    prepare: !isBouncer,
    ...(tls !== undefined && { tls }),
    // PgBouncer refuses settings that it does not know.
    ...(!isBouncer && { connection: settings as Record<string, string | number> }),
  };
}

/** Connects to the primary. @param onLoss called when a connection of it closes. @throws the last server's error */
export async function connectClients(options: ConnectOptions, onLoss: () => void): Promise<Clients> {
  const { client: lookups, url } = await connectPrimary(options, options.lanes.lookups, onLoss);
  const client = (lane: Lane, settings?: object) =>
    new Bun.SQL({ ...clientOptions(options, url, options.lanes[lane], settings), onclose: onLoss });
  return {
    lookups,
    reads: client('reads'),
    longReads: client('longReads', LONG_SETTINGS),
    changes: client('changes', CHANGE_SETTINGS),
  };
}

interface Found {
  readonly client: SQL;
  readonly url: string;
}

/**
 * Connects one client to the first primary of the list. A server that does not answer delays the next by a moment only.
 *
 * @param max its connections. @throws the last server's error
 */
export async function connectPrimary(
  options: Omit<ConnectOptions, 'lanes'>,
  max: number,
  onLoss: () => void = () => {},
): Promise<Found> {
  const attempts: Promise<Found>[] = [];
  let found: Found | undefined;
  const isFound = (client: SQL) => client === found?.client;
  for (const url of options.urls) {
    // The end of a refused server's connection is no loss of the primary's.
    const onclose = () => void (isFound(client) && onLoss());
    const client = new Bun.SQL({ ...clientOptions(options, url, max), onclose });
    attempts.push(ifPrimary({ client, url }));
    const first = Promise.any(attempts).then(
      (one) => void (found ??= one),
      () => {},
    );
    await waitUntil(deadlineIn(HEAD_START_MS), first);
    if (found) break;
  }
  try {
    return (found ??= await Promise.any(attempts));
  } catch (error) {
    throw (error as AggregateError).errors.at(-1) ?? away();
  } finally {
    for (const attempt of attempts) void closeUnless(attempt, isFound);
  }
}

/** @throws the server's error, and {AppError} unavailable where it is no primary */
async function ifPrimary(found: Found): Promise<Found> {
  try {
    const isInTime = await waitUntil(deadlineIn(CONNECT_SECONDS * 1000), requirePrimary(found.client));
    if (!isInTime) throw away(new Error('the server does not answer'));
    return found;
  } catch (error) {
    void found.client.close({ timeout: 0 }).catch(() => {});
    throw error;
  }
}

/** Closes a further primary that answered late, such as one that the first has replaced. */
async function closeUnless(attempt: Promise<Found>, isFound: (client: SQL) => boolean): Promise<void> {
  const late = await attempt.catch(() => null);
  if (late !== null && !isFound(late.client)) await late.client.close({ timeout: 0 }).catch(() => {});
}

/** @throws {AppError} unavailable where the server is a standby, or refuses changes. */
export async function requirePrimary(client: SQL): Promise<void> {
  const [row] = (await client.unsafe(
    'SELECT pg_is_in_recovery() OR current_setting(\'default_transaction_read_only\')::boolean AS "isStandby"',
  )) as { isStandby: boolean }[];
  if (row?.isStandby !== false) throw away(new Error('the server is a standby, or takes no changes'));
}
