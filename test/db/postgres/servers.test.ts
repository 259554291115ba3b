/** Finding the primary among the servers of a cluster, some of which do not answer. */
import { afterEach, expect, test } from 'bun:test';
import type { SQL } from 'bun';
import { connectPrimary } from '@/db/postgres/clients.ts';
import { freshPostgresDatabase } from '../../support/postgres.ts';
import { freePort } from '../../support/free-port.ts';

/** `R` (authenticated) and `Z` (ready), https://www.postgresql.org/docs/current/protocol-message-formats.html */
const ACCEPTED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Starts a server that accepts connections and answers nothing more. `open` counts the connections. */
function startSilent(greeting?: Uint8Array) {
  const silent = { url: '', open: 0 };
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void (silent.open += 1),
      close: () => void (silent.open -= 1),
      data: (socket) => void (greeting && socket.write(greeting)),
    },
  });
  closing.push(() => server.stop(true));
  silent.url = `postgres://gatehouse@127.0.0.1:${server.port}/gatehouse?sslmode=disable`;
  return silent;
}

async function connect(urls: readonly string[]): Promise<{ url: string; client: SQL }> {
  const found = await connectPrimary({ urls, tls: undefined, isBouncer: false }, 1);
  closing.push(() => found.client.close({ timeout: 0 }));
  return found;
}

test('the primary is found while another server still does not answer', async () => {
  const primary = await freshPostgresDatabase();
  for (const silent of [startSilent(), startSilent(ACCEPTED)]) {
    const { url } = await connect([silent.url, primary]);
    expect([url, silent.open]).toEqual([primary, 1]);
  }
});

test('a server that accepts a connection and then hangs is given up after some seconds', async () => {
  const error = await connect([startSilent(ACCEPTED).url]).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'unavailable', hint: 'database_away' });
});

test('where no server answers, the last one’s error is thrown', async () => {
  const refused = `postgres://gatehouse@127.0.0.1:${freePort()}/gatehouse?sslmode=disable`;
  const error = await connect([startSilent(ACCEPTED).url, refused]).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'ERR_POSTGRES_CONNECTION_REFUSED' });
});
