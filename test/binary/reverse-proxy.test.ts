/** Runs real nginx, Caddy and HAProxy with the configuration of `gatehouse print`, as far as they are installed. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as ask, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { jpeg, png, RED } from '../modules/images/pictures.ts';
import { messagesIn, PATH } from '../modules/live/listen.ts';
import { databaseCode, emptyFolder, eventually, freePort, run, startServer } from '../support/binary.ts';

setDefaultTimeout(120_000);

/** An address of this machine that no proxy has, for clients from elsewhere. */
const CLIENT = '127.0.0.2';
const HOST = 'auth.example.com';

interface Front {
  readonly folder: string;
  readonly port: number;
  /** Configuration that is printed for the port of the binary. */
  readonly printed: string;
}

/** Returns the command line of a proxy with its printed configuration and its own certificate. */
const PROXIES: Record<string, (front: Front) => string[]> = {
  nginx({ folder, port, printed }) {
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    // Workers that root starts run as another user, who may not write here.
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const config = `${user} daemon off; pid ${folder}/pid; error_log stderr; events {}
      http {
        access_log off;
        ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        ${printed
          .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
          .replace(`/etc/nginx/${HOST}.pem`, join(folder, 'cert.pem'))
          .replace(`/etc/nginx/${HOST}.key`, join(folder, 'key.pem'))}
      }`;
    writeFileSync(join(folder, 'nginx.conf'), config);
    return ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  },
  caddy({ folder, port, printed }) {
    const site = printed
      .replace(`${HOST} {`, `${HOST}:${port} {`)
      .replace('{\n', `{\n  tls ${folder}/cert.pem ${folder}/key.pem\n`);
    writeFileSync(join(folder, 'Caddyfile'), `{\n  admin off\n  auto_https off\n}\n${site}`);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  },
  haproxy({ folder, port, printed }) {
    const both = ['cert', 'key'].map((name) => readFileSync(join(folder, `${name}.pem`), 'utf8'));
    writeFileSync(join(folder, 'both.pem'), both.join(''));
    const config = printed
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace(`/etc/haproxy/${HOST}.pem`, join(folder, 'both.pem'));
    writeFileSync(join(folder, 'haproxy.cfg'), config);
    return ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')];
  },
};

const proxies: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const proxy of proxies) proxy.kill('SIGTERM');
  await Promise.all(proxies.map((proxy) => proxy.exited));
});

async function certificate(folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${HOST}`, ...files];
  expect(await Bun.spawn(['openssl', ...args], { stdout: 'ignore', stderr: 'ignore' }).exited).toBe(0);
}

interface Given {
  token?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  agent?: Agent;
}

/** Returns a client at another address that trusts the proxy's certificate. */
function clientOf(port: number) {
  const optionsOf = (method: string, path: string, { token, headers, agent }: Given): RequestOptions => ({
    host: '127.0.0.1',
    port,
    servername: HOST,
    rejectUnauthorized: false,
    localAddress: CLIENT,
    method,
    path,
    ...(agent && { agent }),
    headers: {
      host: HOST,
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });

  function call(method: string, path: string, given: Given = {}) {
    // biome-ignore lint: each test checks the answer it asked for.
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; headers: any; json: any }>();
    const sent = ask(optionsOf(method, path, given), async (answer) => {
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += chunk;
      const isJson = answer.headers['content-type']?.startsWith('application/json');
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, json: isJson ? JSON.parse(text) : null });
    });
    sent.on('error', reject).end(given.body);
    return promise;
  }

  /** Collects what a stream has received so far. */
  function stream(path: string, token: string) {
    const come = { text: '' };
    const sent = ask(optionsOf('GET', path, { token }), (answer) =>
      answer.setEncoding('utf8').on('data', (chunk) => void (come.text += chunk)),
    );
    sent.on('error', () => {}).end();
    return { told: () => messagesIn(come.text).map(({ event }) => event), leave: () => sent.destroy() };
  }

  return { call, stream };
}

describe.each(Object.entries(PROXIES))('behind %s, as it is printed', (name, commandOf) => {
  test.skipIf(Bun.which(name) === null)(
    'addresses, cookies, uploads, streams and refusals of large bodies come through',
    async () => {
      const { path: folder } = emptyFolder();
      await certificate(folder);
      const [port, own] = [freePort(), freePort()];
      const server = await startServer(
        join(folder, 'data'),
        {
          GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
          GATEHOUSE_BASE_URL: `https://${HOST}`,
          GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1',
        },
        ['--port', String(own)],
      );
      const baseUrl = { GATEHOUSE_BASE_URL: `https://${HOST}` };
      const { stdout: printed } = await run(['print', name, '--port', String(own)], { cwd: folder, env: baseUrl });
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      const command = commandOf({ folder, port, printed });
      proxies.push(Bun.spawn(command, { env, stdout: 'ignore', stderr: 'ignore' }));
      const { call, stream } = clientOf(port);
      await eventually('the proxy runs', () => call('GET', '/healthz').catch(() => null));

      // A client can claim any address; only the proxy's header counts.
      const headers = { 'x-forwarded-for': '198.51.100.7' };
      const asked = { email: 'owner@example.com', clientId: 'console' };
      const sent = await call('POST', '/api/v1/auth/otp/send', { body: JSON.stringify(asked), headers });
      const code = databaseCode(join(folder, 'data'), 'owner@example.com');
      const proof = JSON.stringify({ challengeId: sent.json.data.challengeId, code });
      const signedIn = await call('POST', '/api/v1/auth/otp/verify', { body: proof, headers });
      const { token } = signedIn.json.data;
      expect(signedIn.headers['set-cookie'].join()).toMatch(/__Host-[^;]+;.*Secure/);
      expect(signedIn.headers['strict-transport-security']).toStartWith('max-age=');
      const [session] = (await call('GET', '/api/account/sessions', { token })).json.data.items;
      expect(session.ip).toBe(CLIENT);

      // Uploads the largest allowed picture, and one byte more.
      const picture = await jpeg(png(300, 200, () => RED));
      const padded = (bytes: number) => new Uint8Array(Buffer.concat([picture, Buffer.alloc(bytes - picture.length)]));
      const put = (bytes: number) =>
        call('PUT', '/api/account/self/images/avatar', {
          token,
          body: padded(bytes),
          headers: { 'content-type': 'image/jpeg' },
        });
      const largest = 10 * 1024 * 1024;
      expect((await put(largest)).status).toBe(200);
      const tooLarge = await put(largest + 1);
      expect([tooLarge.status, tooLarge.json.error]).toEqual([413, 'payload_too_large']);

      const open = stream(PATH, token);
      await eventually('the first event', () => open.told().includes('session'));
      open.leave();

      // Refuses unread bodies over kept connections.
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      const body = JSON.stringify({ token: 'x'.repeat(900_000) });
      const refusals = await Promise.all(
        Array.from({ length: 40 }, () => call('POST', '/api/v1/verify', { token: 'eak_none', body, agent })),
      );
      agent.destroy();
      const statuses = new Set(refusals.map(({ status }) => status));
      expect([...statuses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
      expect(refusals.every(({ json }) => typeof json?.requestId === 'string')).toBe(true);

      expect(await server.stop()).toBe(0);
    },
  );
});
