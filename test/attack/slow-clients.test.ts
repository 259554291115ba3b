/** Slow clients: hundreds of them block nobody, and none is waited for without limit. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { eventually, request, startEphemeral } from '../support/binary.ts';

setDefaultTimeout(120_000);

const EACH = 100;
const HEAD = 'POST /api/v1/auth/otp/send HTTP/1.1\r\nHost: localhost\r\n';
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`;

/** The bytes sent at once, and the bytes sent repeatedly. */
const KINDS: Record<string, readonly [first: string, drip: string]> = {
  'nothing at all': ['', ''],
  'headers without end': [HEAD, 'X-Slow: 1\r\n'],
  'no more than half a line': ['POST /api/v1/au', ''],
  'a body byte by byte': [`${JSON_HEAD}Content-Length: 60000\r\n\r\n{`, ' '],
  'a body that does not go on': [`${JSON_HEAD}Content-Length: 60000\r\n\r\n{`, ''],
  'chunks without end': [`${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
};

test('slow senders block nobody and are disconnected', async () => {
  const server = await startEphemeral();
  const port = Number(new URL(server.url).port);
  const open = new Set<Bun.Socket<undefined>>();
  let opened = 0;
  const drips = new Map<Bun.Socket<undefined>, string>();
  try {
    for (const [first, drip] of Object.values(KINDS))
      for (let count = 0; count < EACH; count += 1)
        await Bun.connect({
          hostname: '127.0.0.1',
          port,
          socket: {
            open(socket) {
              open.add(socket);
              opened += 1;
              drips.set(socket, drip);
              socket.write(first);
            },
            data() {},
            close: (socket) => void open.delete(socket),
            error: (socket) => void open.delete(socket),
          },
        });
    const dripping = setInterval(() => {
      for (const socket of open) socket.write(drips.get(socket)!);
    }, 500);
    expect(opened).toBe(EACH * Object.keys(KINDS).length);
    for (let count = 0; count < 20; count += 1) {
      const path = `/api/applications/${server.applicationId}`;
      expect((await request(server, 'GET', path, { token: server.workspaceKey })).status).toBe(200);
    }
    await eventually('all of them left', () => open.size === 0, 90_000);
    clearInterval(dripping);
    expect((await request(server, 'GET', '/healthz')).status).toBe(200);
  } finally {
    for (const socket of open) socket.terminate();
    expect(await server.stop()).toBe(0);
  }
});
