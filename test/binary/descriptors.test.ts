/** Clients use up all file descriptors by holding connections: the server survives, reports it, and frees some. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { BINARY, cleanEnvironment, emptyFolder, eventually, freePort, request } from '../support/binary.ts';

setDefaultTimeout(120_000);

const DESCRIPTORS = 60;
const HELD = 70;

async function startLimited(folder: string) {
  const limited = `ulimit -Sn ${DESCRIPTORS} && ulimit -Hn ${DESCRIPTORS} && exec "$0" serve --ephemeral`;
  const server = Bun.spawn(['sh', '-c', limited, BINARY], {
    cwd: folder,
    env: cleanEnvironment(),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: Bun.file(`${folder}/log`),
  });
  const { value } = await server.stdout.getReader().read();
  const ready = JSON.parse(new TextDecoder().decode(value)) as {
    url: string;
    workspaceKey: string;
    applicationId: string;
  };
  return { server, ready, log: () => Bun.file(`${folder}/log`).text() };
}

/** Opens a connection, sends, and keeps it open. */
async function hold(url: string, first: string) {
  const { hostname, port } = new URL(url);
  const held = {
    isOpen: true,
    said: '',
    send: (more: string) => void socket.write(more),
    drop: () => socket.terminate(),
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, part) => void (held.said += part.toString()),
      close: () => void (held.isOpen = false),
      error: () => void (held.isOpen = false),
    },
  });
  if (first !== '') socket.write(first);
  return held;
}

const isAnswered = ({ said }: { said: string }) => said.startsWith('HTTP/1.1 200');

test('idle connections are closed to free descriptors, and the log says why', async () => {
  const scratch = emptyFolder();
  const { server, ready, log } = await startLimited(scratch.path);
  const head = `GET /healthz HTTP/1.1\r\nHost: ${new URL(ready.url).host}\r\n\r\n`;
  const held = await Promise.all(Array.from({ length: HELD }, () => hold(ready.url, head)));
  await eventually('all are answered', () => held.every(isAnswered), 20_000);
  await eventually('the log says why', async () => (await log()).includes('no file descriptors are left'));
  expect((await request(ready, 'GET', '/readyz')).status).toBe(200);
  expect(server.exitCode).toBeNull();
  for (const { drop } of held) drop();
  server.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  scratch.remove();
});

test('connections that send nothing are closed, waiting requests are answered, and a due delivery ends no process', async () => {
  const scratch = emptyFolder();
  const { server, ready, log } = await startLimited(scratch.path);
  const path = `/api/applications/${ready.applicationId}/webhooks`;
  const token = ready.workspaceKey;
  const body = { url: `http://127.0.0.1:${freePort()}/`, events: ['*'] };
  const { id } = (await request(ready, 'POST', path, { token, body })).json.data;
  const rest = `HTTP/1.1\r\nHost: ${new URL(ready.url).host}\r\nAuthorization: Bearer ${token}\r\n`;
  const asking = await hold(ready.url, `POST ${path}/${id}/test ${rest}`);
  const held = await Promise.all(Array.from({ length: HELD }, () => hold(ready.url, 'GET /healthz HTTP/1.1\r\n')));
  await eventually('the log says why', async () => (await log()).includes('no file descriptors are left'));
  asking.send('Content-Length: 0\r\n\r\n');
  const waiting = request(ready, 'GET', '/readyz');
  // The delivery waits until the held connections are closed.
  const deliveries = () => request(ready, 'GET', `${path}/${id}/deliveries`, { token });
  await eventually(
    'the delivery is tried',
    async () => (await deliveries()).json.data.items[0]?.attempts === 1,
    40_000,
  );
  expect((await waiting).status).toBe(200);
  await eventually('an idle connection is closed', () => held.some(({ isOpen }) => !isOpen), 30_000);
  for (const { drop } of [...held, asking]) drop();
  expect((await request(ready, 'GET', '/readyz')).status).toBe(200);
  server.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  scratch.remove();
});
