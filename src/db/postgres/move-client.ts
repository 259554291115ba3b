/** Connects to the database that an instance is moved into or out of. */
import type { SQL } from 'bun';
import type { PostgresAddress } from './address.ts';
import { clientOptions, connectPrimary } from './clients.ts';
import { connectOptions, reachPrimary } from './reach.ts';

/** One for the lock or the frozen source, two for ranges in flight, one for definitions. */
const CONNECTIONS = 4;
const WAIT_MS = 3000;

/** Reading and indexing large tables takes longer than a server's statements may. */
const SETTINGS = { application_name: 'gatehouse move', statement_timeout: 0 };

/** @throws {StartupError} with the remedy */
export async function openMoveClient(address: PostgresAddress): Promise<SQL> {
  const probe = await reachPrimary(address, { waitMs: WAIT_MS, onWaiting() {} });
  await probe.close({ timeout: 0 });
  const options = connectOptions(address);
  const { client, url } = await connectPrimary(options, 1);
  await client.close({ timeout: 0 });
  return new Bun.SQL(clientOptions(options, url, CONNECTIONS, SETTINGS));
}
