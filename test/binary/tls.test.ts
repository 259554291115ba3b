/** The binary with its own certificate: https, a renewal that ends no connection, and unusable files. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { databaseCode, emptyFolder, eventually, run, type RunningServer, startServer } from '../support/binary.ts';
import { makeCertificate, writeCertificate } from '../support/certificate.ts';

setDefaultTimeout(120_000);

const OWNER = 'owner@example.com';
const { path: folder } = emptyFolder();
const data = join(folder, 'data');
const [first, second] = [await makeCertificate({ name: 'first' }), await makeCertificate({ name: 'second' })];
const files = writeCertificate(folder, first);
const flags = ['--tls-cert', files.cert, '--tls-key', files.key];

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(data, { GATEHOUSE_OWNER_EMAIL: OWNER, GATEHOUSE_LOG_LEVEL: 'info' }, flags);
});
afterAll(() => server.stop());

interface Connection {
  /** Name in the certificate that the server showed. */
  readonly name: string;
  readonly protocol: string | null;
  readonly socket: TLSSocket;
  said(): string;
  isClosed(): boolean;
}

function open(options: ConnectionOptions = {}): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const port = Number(new URL(server.url).port);
  let said = '';
  let isClosed = false;
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
    const name = String(socket.getPeerCertificate().subject.CN);
    resolve({ name, protocol: socket.getProtocol(), socket, said: () => said, isClosed: () => isClosed });
  });
  socket.on('data', (part) => void (said += part.toString()));
  socket.on('close', () => void (isClosed = true));
  socket.on('error', reject);
  return promise;
}

async function shown(): Promise<string> {
  const { name, socket } = await open();
  socket.destroy();
  return name;
}

const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n`;

async function post(path: string, body: object): Promise<Response> {
  const given = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return fetch(`${server.url}${path}`, { ...given, tls: { ca: [first.cert, second.cert] } });
}

/** Signs the owner in. @returns the session's answer. */
async function signIn() {
  const sent = await (await post('/api/v1/auth/otp/send', { email: OWNER, clientId: 'console' })).json();
  const { challengeId } = sent.data;
  const answer = await post('/api/v1/auth/otp/verify', { challengeId, code: databaseCode(data, OWNER) });
  return { answer, token: (await answer.json()).data.token as string };
}

describe('with a certificate', () => {
  test('links are https, sessions are __Host- cookies, and HSTS is sent', async () => {
    expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
    const { answer } = await signIn();
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-[^;]+;.*Secure/);
    expect(answer.headers.get('strict-transport-security')).toStartWith('max-age=');
    const health = await fetch(`${server.url}/healthz?any`, { tls: { ca: first.cert } });
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('client addresses are recorded', async () => {
    const { token } = await signIn();
    const headers = { authorization: `Bearer ${token}` };
    const sessions = await fetch(`${server.url}/api/account/sessions`, { headers, tls: { ca: first.cert } });
    expect((await sessions.json()).data.items[0].ip).toBe('127.0.0.1');
  });

  test('versions before TLS 1.2 are refused', async () => {
    const speak = async (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') => {
      const { protocol, socket } = await open({ minVersion: version, maxVersion: version });
      socket.destroy();
      return protocol;
    };
    expect([await speak('TLSv1.2'), await speak('TLSv1.3')]).toEqual(['TLSv1.2', 'TLSv1.3']);
    expect(speak('TLSv1.1')).rejects.toThrow();
  });

  test('a world-readable key is accepted with a warning in the log', async () => {
    chmodSync(files.key, 0o644);
    server.process.kill('SIGHUP');
    await server.stdout.until(/can be read by every user of this machine: chmod o-r/);
    chmodSync(files.key, 0o600);
  });
});

test('SIGHUP loads renewed files for new connections, keeps open ones, and ignores invalid files', async () => {
  const { token } = await signIn();
  const stream = await open();
  stream.socket.write(head('GET', '/api/v1/session/events', `Authorization: Bearer ${token}\r\n`));
  await eventually('the stream has begun', () => stream.said().includes('event: session'));
  const body = JSON.stringify({ email: OWNER, clientId: 'console' });
  const sending = await open();
  sending.socket.write(head('POST', '/api/v1/auth/otp/send', `Content-Length: ${body.length}\r\n`) + body.slice(0, 9));

  writeCertificate(folder, second);
  server.process.kill('SIGHUP');
  await eventually('the renewed one is shown', async () => (await shown().catch(() => null)) === 'second');
  // Both listeners accept until the first one closes.
  await eventually('the first is left', async () => {
    // A handshake in that moment is repeated.
    const names = await Promise.all(Array.from({ length: 20 }, () => shown().catch(() => null)));
    return names.every((name) => name === 'second');
  });
  sending.socket.write(body.slice(9));
  await eventually('the body is answered', () => sending.said().startsWith('HTTP/1.1 200'));
  expect([sending.name, stream.name, stream.isClosed()]).toEqual(['first', 'first', false]);

  writeFileSync(files.cert, 'no certificate');
  server.process.kill('SIGHUP');
  await server.stdout.until(/the certificate was not renewed, the one in use stays: --tls-cert/);
  expect(await shown()).toBe('second');

  // The stream reports later changes too.
  const gone = await fetch(`${server.url}/api/v1/session`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
    tls: { ca: second.cert },
  });
  expect(gone.status).toBe(200);
  await eventually('the stream ends', () => stream.said().includes('event: revoked'));
  for (const { socket } of [stream, sending]) socket.destroy();
});

test('a second server cannot take the port, although listeners may share it', async () => {
  writeCertificate(folder, second);
  const port = new URL(server.url).port;
  const { exitCode, stderr } = await run(['serve', '--data', join(folder, 'other'), '--port', port, ...flags], {
    cwd: folder,
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`Port ${port} on 127.0.0.1 is in use already`)]);
});

describe('a start is refused, before anything is made, for', () => {
  const DAY = 86_400_000;
  const write = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const cert = write('a.crt', first.cert);
  const key = write('a.key', first.key);

  test.each<[string, () => Promise<string[]> | string[], string]>([
    ['a certificate without a key', () => ['--tls-cert', cert], 'GATEHOUSE_TLS_KEY (--tls-key): give it together'],
    ['a key without a certificate', () => ['--tls-key', key], 'GATEHOUSE_TLS_CERT (--tls-cert): give it together'],
    [
      'a file that is not there',
      () => ['--tls-cert', join(folder, 'none'), '--tls-key', key],
      '--tls-cert (GATEHOUSE_TLS_CERT): ',
    ],
    ['a folder', () => ['--tls-cert', cert, '--tls-key', folder], 'cannot be read (EISDIR); name a PEM file.'],
    [
      'a key in place of a certificate',
      () => ['--tls-cert', key, '--tls-key', key],
      'holds no certificate in PEM form',
    ],
    ['a certificate in place of a key', () => ['--tls-cert', cert, '--tls-key', cert], 'holds no private key in PEM'],
    [
      'the key of another',
      () => ['--tls-cert', cert, '--tls-key', write('b.key', second.key)],
      'is not the key of the certificate',
    ],
    [
      'a certificate that has expired',
      async () => {
        const old = await makeCertificate({ beginsAt: Date.now() - 9 * DAY, endsAt: Date.now() - DAY });
        return ['--tls-cert', write('old.crt', old.cert), '--tls-key', write('old.key', old.key)];
      },
      'renew it, then start again.',
    ],
    [
      'a certificate that is not in force yet',
      async () => {
        const next = await makeCertificate({ beginsAt: Date.now() + DAY });
        return ['--tls-cert', write('next.crt', next.cert), '--tls-key', write('next.key', next.key)];
      },
      'or set this machine’s clock.',
    ],
  ])('%s', async (_, given, told) => {
    const made = join(folder, 'never');
    const { exitCode, stderr } = await run(['serve', '--data', made, '--port', '0', ...(await given())], {
      cwd: folder,
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(told)]);
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
    expect(existsSync(made)).toBe(false);
  });
});
