/**
 * Sends refused bodies over a kept connection through nginx, Caddy and HAProxy with their default settings. The server
 * refuses each before it has read it. Every refusal must arrive unchanged, with its `Retry-After`.
 *
 *   bun test/faults/proxies.ts [rounds]
 *
 * Uses those of the three that are installed (Debian's packages nginx-light, caddy, haproxy).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, eventually, freePort, request, startEphemeral } from '../support/binary.ts';

const rounds = Number(process.argv[2] ?? 60);
/** The default limit of nginx is 1 MiB. */
const SIZES_KB = [20, 300, 900];

interface Proxy {
  /** Writes the proxy's configuration into the folder. @returns the command that runs it in the foreground. */
  prepare(folder: string, port: number, upstream: number): string[];
}

const PROXIES: Record<string, Proxy> = {
  nginx: {
    prepare(folder, port, upstream) {
      const file = join(folder, 'nginx.conf');
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder};`);
      writeFileSync(
        file,
        `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
         http { access_log off; ${places.join(' ')} client_max_body_size 4m;
           server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; } } }`,
      );
      return ['nginx', '-p', folder, '-c', file];
    },
  },
  caddy: {
    prepare(folder, port, upstream) {
      const file = join(folder, 'Caddyfile');
      writeFileSync(file, `{\n admin off\n}\nhttp://127.0.0.1:${port} {\n reverse_proxy 127.0.0.1:${upstream}\n}\n`);
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', file];
    },
  },
  haproxy: {
    prepare(folder, port, upstream) {
      const file = join(folder, 'haproxy.cfg');
      writeFileSync(
        file,
        `defaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s
frontend in\n bind 127.0.0.1:${port}\n default_backend out\nbackend out\n server one 127.0.0.1:${upstream}\n`,
      );
      return ['haproxy', '-db', '-f', file];
    },
  },
};

const server = await startEphemeral([], { GATEHOUSE_LOG_LEVEL: 'error' });
const application = `/api/applications/${server.applicationId}`;
const created = await request(server, 'POST', `${application}/api-keys`, {
  token: server.workspaceKey,
  body: { name: 'spent', access: 'full', rateLimits: { perMinute: 1, perDay: 10_000 } },
});
const spentKey: string = created.json.data.token;

interface Refusal {
  readonly path: string;
  readonly token?: string;
  /** Added to each size, for a body that exceeds the limit of JSON in every round. */
  readonly extraKb?: number;
}

const REFUSALS: Record<number, Refusal> = {
  401: { path: '/api/applications' },
  404: { path: '/api/applications/app_none/api-keys', token: server.workspaceKey },
  413: { path: '/api/applications', token: server.workspaceKey, extraKb: 1024 },
  429: { path: `${application}/api-keys`, token: spentKey },
};

/** Counts answers by kind; `ok` is the expected refusal. */
async function measure(url: string, status: number, { path, token, extraKb = 0 }: Refusal, sizeKb: number) {
  const counts: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    // Exhausts the key's limit again, which recovers between requests.
    if (status === 429) await request(server, 'GET', application, { token: spentKey });
    const body = ' '.repeat((sizeKb + extraKb) * 1024);
    const answer = await request({ url }, 'POST', path, { body, ...(token !== undefined && { token }) }).catch(
      (error: { code?: string }) => ({ status: error.code ?? 'error', headers: new Headers() }),
    );
    const isWhole = answer.status === status && (status !== 429 || answer.headers.has('retry-after'));
    const kind = isWhole ? 'ok' : String(answer.status);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

let isWhole = true;
for (const [name, proxy] of Object.entries(PROXIES)) {
  if (Bun.which(name) === null) {
    console.log(`${name}: not installed`);
    continue;
  }
  const scratch = emptyFolder();
  mkdirSync(join(scratch.path, 'home'));
  const port = freePort();
  const command = proxy.prepare(scratch.path, port, Number(new URL(server.url).port));
  const child = Bun.spawn(command, {
    stdout: 'ignore',
    stderr: 'ignore',
    env: { ...process.env, HOME: join(scratch.path, 'home') },
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(`${name} answers`, () =>
    request({ url }, 'GET', '/healthz').then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  for (const [status, refusal] of Object.entries(REFUSALS))
    for (const sizeKb of SIZES_KB) {
      const counts = await measure(url, Number(status), refusal, sizeKb);
      if (counts['ok'] !== rounds) isWhole = false;
      console.log(`${name}: ${status}, ${sizeKb + (refusal.extraKb ?? 0)} KB: ${JSON.stringify(counts)} of ${rounds}`);
    }
  child.kill();
  await child.exited;
  scratch.remove();
}
await server.stop();
process.exitCode = isWhole ? 0 : 1;
