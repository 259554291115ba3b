/** Two servers of the compiled binary on one PostgreSQL database, behind haproxy where it is installed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom } from '../../../src/core/random.ts';
import { mintSecret } from '../../../src/core/secret.ts';
import { BINARY, cleanEnvironment, eventually, freePort } from '../../support/binary.ts';
import { owned } from './processes.ts';

export const INSTANCES = ['one', 'two'] as const;
export type InstanceName = (typeof INSTANCES)[number];
/** Where a request goes. */
export type Place = InstanceName | 'proxy';

export interface ServerPair {
  /** Full key of the workspace. */
  readonly workspaceKey: string;
  readonly urls: Readonly<Record<Place, string>>;
  /** Kills a server with SIGKILL. */
  kill(name: InstanceName): Promise<void>;
  /** Starts it again, and waits until it answers. */
  start(name: InstanceName): Promise<void>;
  /** Returns whether an instance was down at some moment of a time. */
  wasDown(place: Place, begin: number, end: number): boolean;
  close(): Promise<void>;
}

const CHECK_MS = 250;

function proxySettings(port: number, ports: readonly number[]): string {
  return `defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  option redispatch
  retries 3
  retry-on conn-failure
  option httpchk GET /readyz
  default-server check inter ${CHECK_MS} fall 2 rise 1
  http-error status 503 content-type application/json string '{"error":"unavailable"}' hdr Retry-After 1
frontend in
  bind 127.0.0.1:${port}
  default_backend instances
backend instances
  balance roundrobin
${ports.map((own) => `  server at${own} 127.0.0.1:${own}`).join('\n')}
`;
}

/** Starts both servers at once on an empty database. */
export async function startServers(databaseUrl: string, folder: string): Promise<ServerPair> {
  const workspaceKey = mintSecret('apiKey', systemRandom);
  const ports = { one: freePort(), two: freePort() };
  const proxyPort = freePort();
  const proxyUrl = `http://127.0.0.1:${proxyPort}`;
  const urls = { one: `http://127.0.0.1:${ports.one}`, two: `http://127.0.0.1:${ports.two}` };
  const env = cleanEnvironment({
    GATEHOUSE_DATABASE_URL: databaseUrl,
    GATEHOUSE_INSTANCE_KEY: Buffer.from(systemRandom.bytes(32)).toString('base64'),
    GATEHOUSE_WORKSPACE_KEY: workspaceKey,
    GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
    GATEHOUSE_BASE_URL: proxyUrl,
    GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8',
    GATEHOUSE_LOG_LEVEL: 'warn',
    GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000000',
    GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000000',
    GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '1000000',
    GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '1000000',
    GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1000',
    GATEHOUSE_LIMIT_WRONG_CODES_PER_BROWSER: '1000',
    GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '10000',
    GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL: '100000',
  });
  const children = new Map<InstanceName | 'proxy', Bun.Subprocess>();
  const downs: { readonly name: InstanceName; readonly since: number; until: number }[] = [];
  let starts = 0;

  async function start(name: InstanceName): Promise<void> {
    const log = join(folder, `${name}-${(starts += 1)}.log`);
    const child = owned(
      Bun.spawn([BINARY, 'serve', '--port', String(ports[name])], {
        cwd: folder,
        env,
        stdin: 'ignore',
        stdout: Bun.file(log),
        stderr: Bun.file(`${log}.errors`),
      }),
    );
    children.set(name, child);
    await eventually(
      `${name} ready`,
      async () => {
        if (child.exitCode !== null)
          throw new Error(`${name} ended: ${await Bun.file(log).text()}${await Bun.file(`${log}.errors`).text()}`);
        return fetch(`${urls[name]}/healthz`, { keepalive: false })
          .then(({ ok }) => ok)
          .catch(() => false);
      },
      60_000,
    );
  }

  await Promise.all(INSTANCES.map(start));
  if (Bun.which('haproxy') !== null) {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, proxySettings(proxyPort, Object.values(ports)));
    children.set('proxy', owned(Bun.spawn(['haproxy', '-db', '-f', file], { stdout: 'ignore', stderr: 'ignore' })));
    await eventually('the proxy', () =>
      fetch(`${proxyUrl}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false),
    );
  }
  return {
    workspaceKey,
    urls: { ...urls, proxy: children.has('proxy') ? proxyUrl : urls.one },
    wasDown: (place, begin, end) =>
      downs.some(({ name, since, until }) => (place === 'proxy' || name === place) && since <= end && until >= begin),
    async kill(name) {
      downs.push({ name, since: performance.now(), until: Infinity });
      children.get(name)?.kill('SIGKILL');
      await children.get(name)?.exited;
    },
    async start(name) {
      await start(name);
      const down = downs.findLast((one) => one.name === name);
      if (down) down.until = performance.now();
    },
    async close() {
      for (const child of children.values()) child.kill('SIGKILL');
      await Promise.all([...children.values()].map(({ exited }) => exited));
    },
  };
}
