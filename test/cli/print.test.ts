/** `gatehouse print`: every text is complete, follows the configuration, and names existing settings. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { print } from '@/cli/print.ts';
import { KNOWN_VARIABLES } from '@/settings.ts';
import { VERSION } from '@/version.ts';
import { printed, ROOT } from './printed.ts';

const WHAT = print.operands?.[0]?.words ?? [];
const PROXIES = ['nginx', 'caddy', 'haproxy'];
const BASE_URL = 'https://id.acme.example';

const DEPLOYMENT = ['systemd', 'dockerfile', 'compose', 'kubernetes', ...PROXIES];
const allOf = async (names: readonly string[], env: Record<string, string>) =>
  Object.fromEntries(await Promise.all(names.map(async (what) => [what, await printed(what, env)] as const)));
const [plain, placed] = await Promise.all([
  allOf(WHAT, {}),
  allOf(DEPLOYMENT, { GATEHOUSE_BASE_URL: BASE_URL, GATEHOUSE_PORT: '9443' }),
]);
const textOf = (what: string, from = plain) => from[what] ?? '';

test.each(WHAT)('%s is printed completely, without placeholders', (what) => {
  const text = textOf(what);
  expect(text.length).toBeGreaterThan(80);
  expect(text).toEndWith('\n');
  expect(text).not.toMatch(/@[A-Z_]{2,}@|\bundefined\b/);
});

test.each(WHAT)('%s names only existing settings', (what) => {
  const named = what === 'licenses' ? [] : [...textOf(what).matchAll(/\bGATEHOUSE_[A-Z0-9_]+/g)].map(([name]) => name);
  expect(named.filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
});

describe('base URL and port', () => {
  test.each(DEPLOYMENT)('base URL and port from the environment are used in %s', (what) => {
    expect(textOf(what)).toContain('auth.example.com');
    expect(textOf(what, placed)).toContain('id.acme.example');
    expect(textOf(what, placed)).not.toContain('auth.example.com');
    expect(textOf(what, placed)).not.toContain('127.0.0.1:8080');
  });

  test('can be given by flags too', async () => {
    const text = await printed('caddy', {}, ['--base-url', BASE_URL, '--port', '9443']);
    expect(text).toBe(textOf('caddy', placed));
  });
});

describe('the systemd unit', () => {
  const settings = textOf('systemd')
    .split('\n')
    .filter((line) => /^\w+=/.test(line));

  test('allows JIT compilation, reloads by SIGHUP, and gives a stop the server’s time', () => {
    expect(settings).toEqual(
      expect.arrayContaining(['MemoryDenyWriteExecute=no', 'ExecReload=/bin/kill -HUP $MAINPID', 'TimeoutStopSec=30']),
    );
  });

  test('gives the server no root privileges, and one writable folder', () => {
    expect(settings).toEqual(
      expect.arrayContaining([
        'CapabilityBoundingSet=',
        'NoNewPrivileges=yes',
        'ProtectSystem=strict',
        'StateDirectory=gatehouse',
        'StateDirectoryMode=0700',
        'Environment=GATEHOUSE_DATA=/var/lib/gatehouse',
      ]),
    );
    expect(settings.filter((line) => line.startsWith('ReadWritePaths'))).toEqual([]);
  });

  test.skipIf(Bun.which('systemd-analyze') === null)('is accepted by systemd', async () => {
    const path = join(process.env['TMPDIR'] ?? '/tmp', `gatehouse-print-${process.pid}.service`);
    // Replaces the binary, which need not be installed here.
    await Bun.write(path, textOf('systemd').replace('/usr/local/bin/gatehouse serve', '/bin/true'));
    const { stderr, exitCode } = Bun.spawnSync(['systemd-analyze', 'verify', path]);
    await Bun.file(path).delete();
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
  });
});

test('the image has this version, a checked download, no root, and a health check', () => {
  const text = textOf('dockerfile');
  expect(text).toContain(`ARG VERSION=${VERSION}\n`);
  expect(text).toContain('sha256sum --check --strict --ignore-missing SHA256SUMS');
  expect(text).toContain('USER 65532:65532\n');
  expect(text).toContain('CMD ["/usr/local/bin/gatehouse", "healthcheck"]');
});

test('the compose service uses this version’s image and a data volume', () => {
  const { services, volumes } = Bun.YAML.parse(textOf('compose', placed)) as {
    services: Record<string, Record<string, unknown>>;
    volumes: Record<string, unknown>;
  };
  expect(services['gatehouse']).toMatchObject({
    image: `gatehouse:${VERSION}`,
    read_only: true,
    volumes: ['data:/data'],
    ports: ['127.0.0.1:9443:8080'],
    environment: { GATEHOUSE_BASE_URL: BASE_URL },
  });
  expect(Object.keys(volumes)).toEqual(['data']);
});

test.each(PROXIES)('the production guide shows %s as it is printed', async (what) => {
  const guide = await Bun.file(join(ROOT, 'src/modules/docs/guides/production.md')).text();
  expect(guide).toContain(`\`\`\`${what === 'caddy' ? '' : what}\n${textOf(what)}\`\`\`\n`);
});
