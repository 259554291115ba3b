/** The command line: the output of each command, and the errors of wrong ones. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/commands.ts';
import { isSecret } from '../../src/core/secret.ts';
import { VERSION } from '../../src/version.ts';
import { BINARY, cleanEnvironment, emptyFolder, request, run, startEphemeral, startServer } from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

let cwd: ReturnType<typeof emptyFolder>;
beforeEach(() => {
  cwd = emptyFolder();
});
afterEach(() => cwd.remove());

const gatehouse = (args: string[], env: Record<string, string> = {}) =>
  run(args, { cwd: cwd.path, env: { TMPDIR: cwd.path, ...env } });

// The text of each command's help is tested without a process, in test/cli/help.test.ts.
describe('help', () => {
  test.each([[[]], [['--help']]])('after %j lists every group of commands', async (args) => {
    const { stdout, stderr, exitCode } = await gatehouse(args);
    expect([exitCode, stderr]).toEqual([0, '']);
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name.split(' ')[0]} +\\S`, 'm'));
  });

  test('of a command is the same by word and by flag, and of a group lists its commands', async () => {
    const [byWord, byFlag, ofFamily] = await Promise.all([
      gatehouse(['help', 'users', 'list']),
      gatehouse(['users', 'list', '--help']),
      gatehouse(['users']),
    ]);
    expect([byWord.exitCode, byWord.stderr]).toEqual([0, '']);
    expect(byWord.stdout).toStartWith('gatehouse users list: ');
    expect(byFlag).toEqual(byWord);
    expect([ofFamily.exitCode, ofFamily.stdout]).toEqual([0, expect.stringMatching(/^ {2}users import +\S/m)]);
  });
});

describe('version', () => {
  test.each(['version', '--version'])('%s prints the version', async (word) => {
    const { stdout, stderr, exitCode } = await gatehouse([word]);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toStartWith(`gatehouse ${VERSION} `);
  });
});

describe('errors with --json', () => {
  test.each([
    ['failed', 1, ['whoami', '--json']],
    ['usage', 2, ['users', 'list', '--colour', 'red', '--json']],
    ['usage', 2, ['userz', '--json']],
  ] as const)('are JSON on stderr: %s, exit code %d', async (error, expected, args) => {
    const { stdout, stderr, exitCode } = await gatehouse([...args], { HOME: cwd.path });
    expect([exitCode, stdout, JSON.parse(stderr)]).toEqual([expected, '', { error, message: expect.any(String) }]);
  });
});

describe('key', () => {
  test('prints one well-formed key, another each time, that GATEHOUSE_WORKSPACE_KEY accepts', async () => {
    const [first, second] = await Promise.all([gatehouse(['key']), gatehouse(['key'])]);
    const key = first.stdout.trim();
    expect(first).toMatchObject({ exitCode: 0, stderr: '', stdout: `${key}\n` });
    expect(isSecret('apiKey', key)).toBe(true);
    expect(second.stdout).not.toBe(first.stdout);
    const server = await startEphemeral([], { GATEHOUSE_WORKSPACE_KEY: key });
    expect((await request(server, 'GET', '/api/applications', { token: key })).status).toBe(200);
    await server.stop();
  });
});

describe('openapi', () => {
  test('prints an OpenAPI 3.1 description as YAML, offline, and leaves nothing behind', async () => {
    const nowhere = 'http://127.0.0.1:9';
    const { stdout, stderr, exitCode } = await gatehouse(['openapi'], { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere });
    expect([exitCode, stderr]).toEqual([0, '']);
    const document = Bun.YAML.parse(stdout) as { openapi: string; paths: Record<string, unknown> };
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/api/v1/auth/otp/send', '/api/v1/session']));
    expect(readdirSync(cwd.path)).toEqual([]);
  });

  test('prints the description that a server at the same URL serves', async () => {
    // The output contains the limits in force.
    const limits = { GATEHOUSE_LIMIT_SETUP_PER_MINUTE: '7' };
    const server = await startServer(join(cwd.path, 'data'), limits);
    const printed = await gatehouse(['openapi'], { GATEHOUSE_BASE_URL: server.url, ...limits });
    expect(printed.stdout).toBe((await request(server, 'GET', '/openapi.yaml')).text);
    await server.stop();
  });
});

describe('a closed pipe', () => {
  test.each(['openapi', 'help'])('ends %s without a stack trace', async (command) => {
    const child = Bun.spawn(['sh', '-c', `"$0" "$1" | true`, BINARY, command], {
      cwd: cwd.path,
      env: cleanEnvironment(),
      stdout: 'ignore',
      stderr: 'pipe',
    });
    expect(await new Response(child.stderr).text()).toBe('');
  });
});

describe('wrong use', () => {
  test.each([
    [['bogus'], 'bogus'],
    [['help', 'bogus'], 'bogus'],
    [['--bogus'], '--bogus'],
    [['users', 'bogus'], 'gatehouse help users'],
    [['users', 'list', '--limit', 'many', '--bogus'], '--bogus'],
    [['serve', 'extra'], 'extra'],
    [['serve', '--port'], '--port'],
    [['serve', '--dev', '--ephemeral'], '--ephemeral'],
    [['print'], 'Say which: sbom, licenses'],
    [['setup-link', '--bogus'], '--bogus'],
  ])('%j exits with 2, says what is wrong on stderr and does nothing', async (args, culprit) => {
    const { stdout, stderr, exitCode } = await gatehouse(args);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gatehouse: [^\n]+\n$/);
    expect(stderr).toContain(culprit);
    expect(readdirSync(cwd.path)).toEqual([]);
  });
});

describe('a broken configuration', () => {
  const SECRET = 'hunter2@secret value';
  const broken = {
    GATEHOUSE_PORT: SECRET,
    GATEHOUSE_BASE_URL: SECRET,
    GATEHOUSE_OWNER_EMAIL: 'hunter2',
    GATEHOUSE_WORKSPACE_KEY: 'eak_hunter2',
    GATEHOUSE_SMTP_URL: SECRET,
    GATEHOUSE_MAIL_FROM: SECRET,
    GATEHOUSE_TRUSTED_PROXIES: SECRET,
    GATEHOUSE_COUNTRY_HEADER: SECRET,
    GATEHOUSE_CDN_URL: SECRET,
    GATEHOUSE_LOG_LEVEL: SECRET,
    GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '0',
    GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '-1',
    GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1.5',
    GATEHOUSE_LIMIT_CODES_PER_ADDRESS: 'hunter2',
    GATEHOUSE_LIMIT_SETUP_PER_MINUTE: '1e9',
    GATEHOUSE_SMPT_URL: 'hunter2',
  };

  test.each(['serve', 'setup-link', 'openapi'])(
    'stops %s with every problem at once, without the values, before anything is made',
    async (command) => {
      const { stdout, stderr, exitCode } = await gatehouse([command], broken);
      expect([exitCode, stdout]).toEqual([1, '']);
      for (const name of Object.keys(broken)) expect(stderr).toContain(`- ${name}`);
      expect(stderr.match(/^ {2}- /gm)).toHaveLength(Object.keys(broken).length);
      expect(stderr).not.toContain('hunter2');
      expect(readdirSync(cwd.path)).toEqual([]);
    },
  );

  test('is reported by the name of its flag', async () => {
    const { stderr, exitCode } = await gatehouse(['serve', '--port', '99999', '--base-url', 'https://a.example/path']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('--port');
    expect(stderr).toContain('--base-url');
    expect(readdirSync(cwd.path)).toEqual([]);
  });
});

describe('files of the folder it is started in', () => {
  test('do not configure the binary: neither .env nor bunfig.toml is read', async () => {
    for (const name of ['.env', '.env.local', '.env.production'])
      writeFileSync(join(cwd.path, name), 'GATEHOUSE_PORT=none\nGATEHOUSE_SURPRISE=1\n');
    writeFileSync(join(cwd.path, 'bunfig.toml'), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(cwd.path, 'preload.ts'), 'console.log("preloaded");');
    const { stdout, stderr, exitCode } = await gatehouse(['openapi']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toStartWith('openapi: ');
  });
});
