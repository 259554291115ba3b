/** `gatehouse print`: every text is whole, follows what is set, and names settings that there are. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { print } from '@/cli/print.ts';
import { ALL_SETTINGS } from '@/settings.ts';
import { VERSION } from '@/version.ts';
import { cleanEnvironment } from '../support/binary.ts';

const ROOT = join(import.meta.dir, '../..');
const WHAT = print.operands?.[0]?.words ?? [];
const PROXIES = ['nginx', 'caddy', 'haproxy'];
const BASE_URL = 'https://id.acme.example';

/** From source, in a process: what is printed at the build is read there too. */
async function printed(what: string, env: Record<string, string> = {}, flags: string[] = []): Promise<string> {
  const command = [process.execPath, 'src/main.ts', 'print', what, ...flags];
  const child = Bun.spawn(command, { cwd: ROOT, env: cleanEnvironment(env), stdout: 'pipe', stderr: 'inherit' });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text;
}

const DEPLOYMENT = ['systemd', 'dockerfile', 'compose', ...PROXIES];
const allOf = async (names: readonly string[], env: Record<string, string>) =>
  Object.fromEntries(await Promise.all(names.map(async (what) => [what, await printed(what, env)] as const)));
const [plain, placed] = await Promise.all([
  allOf(WHAT, {}),
  allOf(DEPLOYMENT, { GATEHOUSE_BASE_URL: BASE_URL, GATEHOUSE_PORT: '9443' }),
]);
const textOf = (what: string, from = plain) => from[what] ?? '';

test.each(WHAT)('%s is printed whole: nothing in it waits to be filled in', (what) => {
  const text = textOf(what);
  expect(text.length).toBeGreaterThan(80);
  expect(text).toEndWith('\n');
  expect(text).not.toMatch(/@[A-Z_]{2,}@|\bundefined\b/);
});

test.each(WHAT)('%s names settings that there are', (what) => {
  const known = ALL_SETTINGS.map(({ env }) => env);
  const named = what === 'licenses' ? [] : [...textOf(what).matchAll(/\bGATEHOUSE_[A-Z0-9_]+/g)].map(([name]) => name);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

describe('base URL and port', () => {
  test.each(DEPLOYMENT)('of the environment are those of %s', (what) => {
    expect(textOf(what)).toContain('auth.example.com');
    expect(textOf(what, placed)).toContain('id.acme.example');
    expect(textOf(what, placed)).not.toContain('auth.example.com');
    expect(textOf(what, placed)).not.toContain('127.0.0.1:8080');
  });

  test('may be given by flags as well', async () => {
    const text = await printed('caddy', {}, ['--base-url', BASE_URL, '--port', '9443']);
    expect(text).toBe(textOf('caddy', placed));
  });
});

describe('the unit', () => {
  const settings = textOf('systemd')
    .split('\n')
    .filter((line) => /^\w+=/.test(line));

  test('lets code be compiled, reload be a SIGHUP, and a stop take the time that the server may take', () => {
    expect(settings).toEqual(
      expect.arrayContaining(['MemoryDenyWriteExecute=no', 'ExecReload=/bin/kill -HUP $MAINPID', 'TimeoutStopSec=30']),
    );
  });

  test('gives the server no rights of root, and one folder to write to', () => {
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

  test.skipIf(Bun.which('systemd-analyze') === null)('is one that systemd takes', async () => {
    const path = join(process.env['TMPDIR'] ?? '/tmp', `gatehouse-print-${process.pid}.service`);
    // The binary need not be installed here.
    await Bun.write(path, textOf('systemd').replace('/usr/local/bin/gatehouse serve', '/bin/true'));
    const { stderr, exitCode } = Bun.spawnSync(['systemd-analyze', 'verify', path]);
    await Bun.file(path).delete();
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
  });
});

test('the image is of this version, checked, without root, and says how it is', () => {
  const text = textOf('dockerfile');
  expect(text).toContain(`ARG VERSION=${VERSION}\n`);
  expect(text).toContain('sha256sum --check --strict --ignore-missing SHA256SUMS');
  expect(text).toContain('USER 65532:65532\n');
  expect(text).toContain('CMD ["/usr/local/bin/gatehouse", "healthcheck"]');
});

test('the service of compose is the image of this version, with its data in a volume', () => {
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

test.each(PROXIES)('what the guide to production shows of %s is what is printed', async (what) => {
  const guide = await Bun.file(join(ROOT, 'src/modules/docs/guides/production.md')).text();
  expect(guide).toContain(`\`\`\`${what === 'caddy' ? '' : what}\n${textOf(what)}\`\`\`\n`);
});
