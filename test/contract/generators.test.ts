/** Clients generated from the description by third-party tools compile and work with a running instance. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanEnvironment } from '../support/binary.ts';
import { createInstance } from '../support/instance.ts';

setDefaultTimeout(120_000);

const PACKAGES = resolve(import.meta.dir, '../../node_modules');
const folder = await mkdtemp(join(tmpdir(), 'generated-'));
const instance = await createInstance();
const { id, clientId, name } = await instance.createApplication({ name: 'Shop' });
const person = await instance.signIn(clientId, 'ada@example.com');
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => instance.app.fetch(request) });
afterAll(async () => {
  await server.stop(true);
  await rm(folder, { recursive: true, force: true });
});

/** @returns its output. @throws {Error} with its error output. */
async function command(...args: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    env: cleanEnvironment({
      URL_OF_SERVER: server.url.origin,
      KEY: instance.workspaceKey,
      TOKEN: person.token,
      APPLICATION: id,
    }),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const write = (file: string, text: string) => Bun.write(join(folder, file), text);
const tool = (path: string, ...args: string[]) => command(join(PACKAGES, path), ...args);

/** The shared start of every program. */
const GIVEN = `
const { URL_OF_SERVER: url = '', KEY: key = '', TOKEN: token = '', APPLICATION: id = '' } = process.env;
const headers = { authorization: \`Bearer \${key}\`, 'content-type': 'application/json' };
const call = async (method: string, path: string, body?: object): Promise<unknown> =>
  (await fetch(url + path, { method, headers, body: body ? JSON.stringify(body) : null })).json();
`;

/** Each program renames the application and verifies two tokens with its generated types. */
const PROGRAMS = {
  'openapi-typescript': `
import type { components, paths } from './types.ts';
type Patch = paths['/api/applications/{id}']['patch'];
type Answer = Patch['responses'][200]['content']['application/json'];
type Refusal = Patch['responses']['default']['content']['application/json']['error'];
const refusal: Refusal = 'admin_scope_required';
// @ts-expect-error is no error code
const other: Refusal = 'not_fond';
void [refusal, other];
const patch: Patch['requestBody'] = { content: { 'application/json': { name: 'Shop' } } };
const { data } = (await call('PATCH', '/api/applications/' + id, patch.content['application/json'])) as Answer;
const verify = async (given: string) => (await call('POST', '/api/v1/verify', { token: given })) as components['schemas']['Verdict'];
const [good, bad] = [await verify(token), await verify('nonsense')];
console.log(JSON.stringify([data.name, good.success ? good.data.userId : good.errorMessage, bad.success ? null : bad.errorMessage]));
`,
  'hey-api': `
import { updateApplication, verifyToken } from './hey/index.ts';
import { client } from './hey/client.gen.ts';
client.setConfig({ baseUrl: url, auth: ({ scheme }) => (scheme === 'bearer' ? key : undefined) });
const { data } = await updateApplication({ path: { id }, body: { name: 'Shop' } });
const verify = async (given: string) => {
  const { data: verdict } = await verifyToken({ body: { token: given } });
  if (!verdict) throw new Error('no verdict');
  return verdict.success ? verdict.data.userId : verdict.errorMessage;
};
console.log(JSON.stringify([data?.data.name, await verify(token), await verify('nonsense')]));
`,
  orval: `
import { UpdateApplicationBody, UpdateApplicationResponse, VerifyTokenBody, VerifyTokenResponse } from './zod.ts';
const body = UpdateApplicationBody.parse({ name: 'Shop' });
const { data } = UpdateApplicationResponse.parse(await call('PATCH', '/api/applications/' + id, body));
const verify = async (given: string) => {
  const verdict = VerifyTokenResponse.parse(await call('POST', '/api/v1/verify', VerifyTokenBody.parse({ token: given })));
  return verdict.success ? verdict.data.userId : verdict.errorMessage;
};
if (VerifyTokenResponse.safeParse({ success: true }).success) throw new Error('a verdict without its data passes');
console.log(JSON.stringify([data.name, await verify(token), await verify('nonsense')]));
`,
} as const;

const ORVAL = `export default {
  zod: { input: './openapi.yaml', output: { target: './zod.ts', client: 'zod', mode: 'single' } },
};`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    moduleDetection: 'force',
    skipLibCheck: true,
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['bun'],
  },
};

describe('a client generated from the description', () => {
  beforeAll(async () => {
    await symlink(PACKAGES, join(folder, 'node_modules'));
    await write('openapi.yaml', (await instance.call('GET', '/openapi.yaml')).text);
    await write('package.json', '{ "type": "module" }');
    await write('tsconfig.json', JSON.stringify(TSCONFIG));
    await write('orval.config.mjs', ORVAL);
    for (const [generator, program] of Object.entries(PROGRAMS)) await write(`${generator}.ts`, GIVEN + program);
    await tool('openapi-typescript/bin/cli.js', 'openapi.yaml', '-o', 'types.ts');
    await tool('@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.yaml', '-o', 'hey', '-c', '@hey-api/client-fetch');
    await tool('orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs');
  });

  test('compiles with every tool', async () => {
    expect(await command('check')).not.toContain('error');
  });

  test.each(Object.keys(PROGRAMS))('the client by %s changes an application and verifies tokens', async (generator) => {
    expect(JSON.parse(await command(`${generator}.ts`))).toEqual([name, person.userId, 'invalid_token']);
  });
});
