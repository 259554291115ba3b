import { expect, test } from 'bun:test';
import pino from 'pino';
import { loadConfig } from '@/config.ts';
import { startServer } from '@/server.ts';

const CONNECTIONS = 10;

test('a stop still answers requests that have arrived but were not read, on idle and new connections', async () => {
  const config = loadConfig({}, { mode: 'ephemeral', flags: { port: '0' } });
  const server = await startServer(config, { log: pino({ level: 'silent' }), accessLog: () => {} });
  const { hostname, port, host } = new URL(server.url);

  async function connect() {
    const over = Promise.withResolvers<void>();
    let said = '';
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, part) => void (said += part.toString()), close: () => over.resolve() },
    });
    const ask = () => void socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    return { ask, over: over.promise, answers: () => said.split('HTTP/1.1 200').length - 1 };
  }
  const connectSome = () => Promise.all(Array.from({ length: CONNECTIONS }, connect));

  const kept = await connectSome();
  for (const { ask } of kept) ask();
  while (kept.some(({ answers }) => answers() === 0)) await fetch(`${server.url}/healthz`);
  const fresh = await connectSome();
  // Everything is in the kernel's buffers now, since nothing was awaited in between.
  for (const { ask } of [...kept, ...fresh]) ask();
  const stopped = server.stop();
  await Promise.all([...kept, ...fresh].map(({ over }) => over));
  expect(kept.map(({ answers }) => answers())).toEqual(kept.map(() => 2));
  expect(fresh.map(({ answers }) => answers())).toEqual(fresh.map(() => 1));
  await stopped;
});
