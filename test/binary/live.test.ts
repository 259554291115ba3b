/** Event streams: idle for long, many at once, aborted, and at a stop. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, request, signIn, startEphemeral } from '../support/binary.ts';
import { messagesIn, PATH } from '../modules/live/listen.ts';

// Connections are idle on purpose.
setDefaultTimeout(120_000);

/** A listener on its own socket, since fetch limits the number of connections. */
interface Listener {
  /** Returns everything received, with the answer's head and chunk frames. */
  text(): string;
  events(): string[];
  isClosed(): boolean;
  /** Returns whether the chunked answer ended properly (RFC 9112 §7.1). */
  isComplete(): boolean;
  /** Sends another request over the same connection. */
  again(): void;
  drop(): void;
}

async function listen(server: { url: string }, token: string, method = 'GET'): Promise<Listener> {
  const { hostname, port } = new URL(server.url);
  const head = `${method} ${PATH} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  let text = '';
  let isClosed = false;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => void (text += chunk.toString()),
      close: () => void (isClosed = true),
      error: () => void (isClosed = true),
    },
  });
  socket.write(head);
  return {
    text: () => text,
    events: () => messagesIn(withoutFrames(text)).map(({ event }) => event),
    isClosed: () => isClosed,
    isComplete: () => text.endsWith('\r\n0\r\n\r\n'),
    again: () => void socket.write(head),
    drop: () => socket.terminate(),
  };
}

/** Returns the body of a chunked answer. */
function withoutFrames(text: string): string {
  return text
    .slice(text.indexOf('\r\n\r\n') + 4)
    .replace(/(^|\r\n)[0-9a-f]+\r\n/g, '')
    .replaceAll('\r\n', '');
}

const hasSnapshot = (listener: Listener) => listener.text().includes('event: session\n');

function manage(server: EphemeralServer, method: string, path: string, body?: unknown) {
  return request(server, method, `/api/applications/${server.applicationId}${path}`, {
    token: server.workspaceKey,
    body,
  });
}

const eventStream = (server: EphemeralServer, email: string) => signIn(server, email, server.clientId);

describe.concurrent('event streams of the binary', () => {
  test('a thousand idle streams outlive every timeout, get their events, and do not delay a stop', async () => {
    const server = await startEphemeral();
    const people = [];
    for (let at = 0; at < 50; at += 1) people.push(await eventStream(server, `person-${at}@example.com`));
    const listeners = await Promise.all(
      people.flatMap(({ token }) => Array.from({ length: 20 }, () => listen(server, token))),
    );
    await eventually('all have their snapshot', () => listeners.every(hasSnapshot));
    const since = performance.now();
    // Bun closes connections idle for ten seconds; a comment is due within fifteen.
    await eventually(
      'all have heard a heartbeat',
      () => listeners.every((one) => one.text().includes(': heartbeat')),
      20_000,
    );
    await Bun.sleep(Math.max(0, 12_000 - (performance.now() - since)));
    expect(listeners.filter((one) => one.isClosed())).toHaveLength(0);

    const [first] = people;
    expect((await manage(server, 'PUT', `/users/${first!.userId}/roles`, { slugs: [] })).status).toBe(200);
    await eventually('the tabs of one person are told', () =>
      listeners.slice(0, 20).every((one) => one.events().includes('roles')),
    );
    expect(listeners.slice(20).filter((one) => one.events().length > 1)).toHaveLength(0);

    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(4000);
    await eventually('all are closed', () => listeners.every((one) => one.isClosed()));
    expect(listeners.filter((one) => !one.isComplete())).toHaveLength(0);
  });

  test('end with `revoked` when the clock passes the session’s end', async () => {
    const server = await startEphemeral();
    const { token } = await eventStream(server, 'ada@example.com');
    const listener = await listen(server, token);
    await eventually('the snapshot', () => hasSnapshot(listener));
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 31 * 24 * 3_600_000 } });
    await eventually('the end', () => listener.isComplete());
    expect(listener.events()).toEqual(['session', 'revoked']);
    expect(listener.text()).toContain('data: {"reason":"expired"}');
    expect((await request(server, 'GET', PATH, { token })).json.error).toBe('expired');
    await server.stop();
  });

  test('are removed when their readers disconnect, so that the session can open others', async () => {
    const server = await startEphemeral();
    const { token } = await eventStream(server, 'ada@example.com');
    for (let round = 0; round < 3; round += 1) {
      const listeners = await Promise.all(Array.from({ length: 20 }, () => listen(server, token)));
      await eventually('all have their snapshot', () => listeners.every(hasSnapshot));
      const refused = await request(server, 'GET', PATH, { token });
      expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
      for (const listener of listeners) listener.drop();
      await eventually('one is let in again', async () => {
        const one = await listen(server, token);
        await eventually('an answer', () => one.text().includes('\r\n\r\n'));
        one.drop();
        return one.text().startsWith('HTTP/1.1 200');
      });
      await Bun.sleep(50);
    }
    await server.stop();
  });

  test('are not opened by HEAD requests, which are answered at once', async () => {
    const server = await startEphemeral();
    const { token } = await eventStream(server, 'ada@example.com');
    const statuses = [];
    for (let ask = 0; ask < 25; ask += 1) {
      const answer = await request(server, 'HEAD', PATH, { token });
      statuses.push(answer.status);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    const listener = await listen(server, token);
    await eventually('the snapshot', () => hasSnapshot(listener));
    await server.stop();
  });

  test('cannot delay a stop by reconnecting at once', async () => {
    const server = await startEphemeral();
    const { token } = await eventStream(server, 'ada@example.com');
    const listeners = await Promise.all(Array.from({ length: 10 }, () => listen(server, token)));
    await eventually('all have their snapshot', () => listeners.every(hasSnapshot));
    let isOver = false;
    const reopening = (async () => {
      const isReopened = new Set<Listener>();
      while (!isOver) {
        for (const listener of listeners)
          if (listener.isComplete() && !isReopened.has(listener)) {
            isReopened.add(listener);
            listener.again();
          }
        await Bun.sleep(1);
      }
    })();
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(4000);
    isOver = true;
    await reopening;
  });
});
