/** `gatehouse healthcheck` exits silently with 0 if the server is ready, else with one line and 1. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { emptyFolder, freePort, run, startServer } from '../support/binary.ts';
import { makeCertificate, writeCertificate } from '../support/certificate.ts';

setDefaultTimeout(120_000);

const { path: folder } = emptyFolder();
const check = (args: string[], env: Record<string, string> = {}) => run(['healthcheck', ...args], { cwd: folder, env });

const HEALTHY = { exitCode: 0, stdout: '', stderr: '' };
const refused = (words: RegExp) => ({ exitCode: 1, stdout: '', stderr: expect.stringMatching(words) });

describe('with a running server', () => {
  test('the data folder names its port, and the environment’s proxy is ignored', async () => {
    const data = join(folder, 'plain');
    const server = await startServer(data, { GATEHOUSE_BASE_URL: 'https://auth.example.com' });
    expect(await check(['--data', data])).toEqual(HEALTHY);
    expect(await check([], { GATEHOUSE_DATA: data, HTTP_PROXY: 'http://127.0.0.1:9' })).toEqual(HEALTHY);
    const port = new URL((await Bun.file(join(data, 'gatehouse.server.json')).json()).localUrl).port;
    expect(await check(['--data', join(folder, 'none'), '--port', port])).toEqual(HEALTHY);
    expect(await server.stop()).toBe(0);
    expect(await check(['--data', data, '--port', port])).toEqual(
      refused(/^gatehouse: no server answers at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\.\n$/),
    );
  });

  test('a given port wins; otherwise the server is called where it listens', async () => {
    const data = join(folder, 'named');
    const server = await startServer(data);
    const { port } = new URL((await Bun.file(join(data, 'gatehouse.server.json')).json()).localUrl);
    expect(await check(['--data', data, '--port', port])).toEqual(HEALTHY);
    const other = String(freePort());
    expect(await check(['--data', data, '--port', other])).toEqual(
      refused(new RegExp(`^gatehouse: no server answers at http://127\\.0\\.0\\.1:${other} `)),
    );
    expect(await server.stop()).toBe(0);
  });

  test('its certificate is accepted on loopback even if it is not trusted', async () => {
    const data = join(folder, 'tls');
    const files = writeCertificate(folder, await makeCertificate({ name: 'auth.example.com' }));
    const server = await startServer(data, {}, ['--tls-cert', files.cert, '--tls-key', files.key]);
    expect(await check(['--data', data])).toEqual(HEALTHY);
    await server.stop();
  });

  test('a reload without a certificate leaves it running', async () => {
    const data = join(folder, 'reload');
    const server = await startServer(data, { GATEHOUSE_LOG_LEVEL: 'info' });
    server.process.kill('SIGHUP');
    await server.stdout.until(/no certificate to reload/);
    expect(await check(['--data', data])).toEqual(HEALTHY);
    expect(await server.stop()).toBe(0);
  });
});

test('a server that is not ready is reported with its own message, and a silent one after three seconds', async () => {
  const answers = { silent: false };
  using stand = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      answers.silent
        ? new Promise<Response>(() => {})
        : Response.json({ message: 'The database cannot be written.' }, { status: 503 }),
  });
  const args = ['--port', String(stand.port)];
  expect(await check(args)).toEqual(refused(/^gatehouse: [^\n]+ is not ready: The database cannot be written\.\n$/));
  answers.silent = true;
  expect(await check(args)).toEqual(refused(/does not answer within 3 seconds\.\n$/));
  stand.stop(true);
});

test('unreadable settings are reported as such, not as an unhealthy server', async () => {
  expect(await check(['--port', 'many'])).toMatchObject(refused(/GATEHOUSE_PORT \(--port\)/));
  expect((await check(['--port', String(freePort()), '--bogus'])).exitCode).toBe(2);
});
