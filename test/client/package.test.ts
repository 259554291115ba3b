/** The npm package as published: small, reproducible, and usable once installed, from ES modules and from CommonJS. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { ENTRIES, packClient } from '@/client/package.ts';
import manifest from '../../package.json' with { type: 'json' };
import { BINARY, cleanEnvironment } from '../support/binary.ts';

setDefaultTimeout(120_000);

const PACKAGES = resolve(import.meta.dir, '../../node_modules');
const MOST_BYTES = 5 * 1024;
/** Packages that the adapters are for; a project has those that it uses. */
const FRAMEWORKS = ['elysia', 'express', 'fastify', 'hono', 'next', 'react', 'react-router'];

const guide = await Bun.file(join(import.meta.dir, '../../src/modules/docs/guides/typescript.md')).text();
const [, shown = ''] = /^```js\n(.*?)^```$/ms.exec(guide) ?? [];

const folder = await mkdtemp(join(tmpdir(), 'gatehouse-package-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const tarball = await packClient(join(folder, 'first'));

/** The folder of the unpacked tarball. */
const unpacked = command(folder, 'tar', '-xzf', tarball, '-C', folder).then(() => join(folder, 'package'));

/** Bundles the entry point alone: the others and the frameworks are not its code. */
const ownCode = ({ path, importer }: { path: string; importer: string }) =>
  importer === '' ? undefined : { path, external: true };

/** @returns its output. @throws {Error} with its error output. */
async function command(cwd: string, ...args: string[]): Promise<string> {
  const child = Bun.spawn(args, { cwd, env: cleanEnvironment({ BINARY }), stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return stdout + stderr;
}

/** Creates an empty project with the package installed from the file alone. */
async function project(name: string, files: Record<string, string>, type = 'module'): Promise<string> {
  const path = join(folder, name);
  await Bun.write(join(path, 'package.json'), JSON.stringify({ private: true, type }));
  for (const [file, text] of Object.entries({ ...files, 'guide.js': shown })) await Bun.write(join(path, file), text);
  if (Bun.which('npm')) await command(path, 'npm', 'install', '--offline', '--no-audit', '--no-fund', tarball);
  else await command(path, process.execPath, 'add', tarball);
  return path;
}

/** A customer's test suite, for any runner. */
const suite = (imports: string) => `
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
${imports}
import { createClient, createVerifier, GatehouseError, VerificationRefused, verifyWebhook } from 'gatehouse';
import { startEphemeral } from 'gatehouse/testing';

test('a sign-in, its verification, and a look at the users', async () => {
  const server = await startEphemeral({ binary: process.env.BINARY });
  const { token, userId } = await server.signIn('ada@example.com');
  const { verify, requireSession } = createVerifier({ url: server.url, apiKey: server.workspaceKey });
  assert.equal((await verify(token)).userId, userId);
  assert.equal((await requireSession({ headers: { authorization: 'Bearer ' + token } })).userId, userId);
  await assert.rejects(verify('est_0'), VerificationRefused);
  await assert.rejects(verify('est_0'), GatehouseError);
  const client = createClient({ url: server.url, apiKey: server.workspaceKey });
  const emails = [];
  for await (const { email } of client.all('/api/applications/{id}/users', { path: { id: server.applicationId } }))
    emails.push(email);
  assert.deepEqual(emails, ['ada@example.com']);
  await server.stop();
});

test('a failure of the test server is an error of the package', async () => {
  await assert.rejects(startEphemeral({ binary: '/nowhere/gatehouse' }), GatehouseError);
});

test('the example of the guide to the package', async () => {
  const server = await startEphemeral({ binary: process.env.BINARY });
  Object.assign(process.env, { GATEHOUSE: server.url, API_KEY: server.workspaceKey, SIGNING_SECRET: 'whsec_1' });
  const { me, hook } = await import('./guide.js');
  const { token } = await server.signIn('ada@example.com');
  const ask = (authorization) => me(new Request('http://shop/me', { headers: { authorization } }));
  assert.deepEqual(await (await ask('Bearer ' + token)).json(), { email: 'ada@example.com', roles: ['user'] });
  assert.equal((await ask('Bearer est_0')).status, 401);
  assert.equal((await hook(new Request('http://shop/hook', { method: 'POST', body: '{}' }))).status, 401);
  await server.stop();
});

test('a webhook', async () => {
  const body = JSON.stringify({ id: 'evt_1', type: 'user.left', data: { userId: 'usr_1' } });
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac('sha256', 'whsec_1').update(t + '.' + body).digest('hex');
  const event = await verifyWebhook(body, { 'svc-signature': 't=' + t + ',v1=' + v1 }, 'whsec_1');
  assert.equal(event.data.userId, 'usr_1');
});
`;

describe('the tarball', () => {
  test('is named by the version and identical at every build', async () => {
    expect(tarball).toEndWith(`/gatehouse-${manifest.version}.tgz`);
    const again = await packClient(join(folder, 'second'));
    expect(await Bun.file(again).bytes()).toEqual(await Bun.file(tarball).bytes());
  });

  test('contains each entry point as an ES module and as CommonJS, with types, and has no dependencies', async () => {
    const files = (await command(folder, 'tar', '-tzf', tarball)).trim().split('\n');
    const modules = Object.values(ENTRIES).flatMap((entry) => [`${entry}.js`, `${entry}.cjs`]);
    expect(files.filter((file) => !/\.d\.c?ts$/.test(file)).sort()).toEqual(
      ['LICENSE', 'README.md', 'package.json', ...modules].map((file) => `package/${file}`).sort(),
    );
    const described = JSON.parse(await command(folder, 'tar', '-xzOf', tarball, 'package/package.json'));
    expect(Object.keys(described)).not.toContain('dependencies');
    expect(described.version).toBe(manifest.version);
    const { './package.json': _, ...exported } = described.exports;
    for (const conditions of Object.values(exported) as Record<string, { types: string; default: string }>[])
      for (const { types, default: code } of Object.values(conditions))
        for (const file of [types, code]) expect(files).toContain(file.replace('./', 'package/'));
  });

  test.each(Object.values(ENTRIES))(
    'adds less than 5 KB to an application with all of %s, minified and compressed',
    async (entry) => {
      const path = await unpacked;
      const { outputs } = await Bun.build({
        entrypoints: [join(path, `${entry}.js`)],
        minify: true,
        plugins: [{ name: 'own-code', setup: (build) => void build.onResolve({ filter: /./ }, ownCode) }],
      });
      const code = await outputs[0]!.text();
      expect(code).toContain('export');
      expect(Bun.gzipSync(Buffer.from(code), { level: 9 }).byteLength).toBeLessThan(MOST_BYTES);
    },
  );

  test('has a main module without Node’s modules, which a browser loads as it is', async () => {
    const code = await command(folder, 'tar', '-xzOf', tarball, 'package/gatehouse.js');
    expect(code).not.toMatch(/\bimport\b|\bBun\.|\bprocess\.|\bBuffer\b/);
  });

  test('resolves in every mode of TypeScript, as the code does at run time (attw)', async () => {
    const checked = await checkPackage(createPackageFromTarballData(await Bun.file(tarball).bytes()));
    expect(checked.types).toMatchObject({ kind: 'included' });
    expect('problems' in checked && checked.problems).toEqual([]);
  });

  test('has a manifest without a fault (publint)', async () => {
    const { messages } = await publint({ pack: { tarball: await Bun.file(tarball).arrayBuffer() } });
    expect(messages).toEqual([]);
  });
});

describe('the package in an empty project', () => {
  const node = Bun.which('node');
  test.skipIf(!node)(`works with node --test${node ? '' : ' (there is no node on this machine)'}`, async () => {
    const path = await project('node', { 'shop.test.mjs': suite("import test from 'node:test';") });
    expect(await command(path, 'node', '--test')).toMatch(/^(?:#|ℹ) pass 4$/m);
  });

  test.skipIf(!node)(`works from CommonJS${node ? '' : ' (there is no node on this machine)'}`, async () => {
    const text = suite("import test from 'node:test';").replace(
      /^import (.*) from (.*);$/gm,
      (_, names: string, from: string) => `const ${names.replaceAll(' as ', ': ')} = require(${from});`,
    );
    const path = await project('commonjs', { 'shop.test.cjs': text }, 'commonjs');
    await Bun.$`mv ${join(path, 'guide.js')} ${join(path, 'guide.mjs')}`;
    expect(text).toContain("} = require('gatehouse/testing');");
    await Bun.write(join(path, 'shop.test.cjs'), text.replace('./guide.js', './guide.mjs'));
    expect(await command(path, 'node', '--test')).toMatch(/^(?:#|ℹ) pass 4$/m);
  });

  test('works with bun test', async () => {
    const path = await project('bun', { 'shop.test.js': suite("import { test } from 'bun:test';") });
    expect(await command(path, process.execPath, 'test')).toContain('4 pass');
  });

  test('works with vitest', async () => {
    const path = await project('vitest', { 'shop.test.js': suite("import { test } from 'vitest';") });
    await symlink(join(PACKAGES, 'vitest'), join(path, 'node_modules/vitest'));
    const said = await command(path, node ?? process.execPath, join(PACKAGES, 'vitest/vitest.mjs'), 'run');
    expect(Bun.stripANSI(said)).toMatch(/Tests +4 passed/);
  });
});

describe('its types', () => {
  let path = '';
  const readme = Bun.file(join(import.meta.dir, '../../src/client/README.md'));
  const frameworks = Bun.file(join(import.meta.dir, '../../src/modules/docs/guides/frameworks.md'));

  beforeAll(async () => {
    const examples = [await readme.text(), await frameworks.text()].join('\n');
    const blocks = [...examples.matchAll(/^```(tsx?)\n(.*?)^```$/gms)].map(([, language = '', block = ''], index) => {
      const [, name = `block-${index}.${language}`] = /^\/\/ (\S+)\n/.exec(block) ?? [];
      return [name, block];
    });
    expect(blocks.length).toBeGreaterThan(15);
    path = await project('types', {
      ...Object.fromEntries(blocks),
      'wrong.ts': `
import { createServer } from 'node:http';
import { createClient, createVerifier, has, NotAdmitted } from 'gatehouse';
const client = createClient({ url: '', apiKey: '' });
// @ts-expect-error has to be looked up by its id
await client.get('/api/applications/{id}');
// @ts-expect-error there is no such path
await client.get('/api/nothing');
// @ts-expect-error is no list
client.all('/api/applications/{id}', { path: { id: '' } });
// @ts-expect-error has no such status
client.all('/api/applications/{id}/users', { path: { id: '' }, query: { status: 'nonsense' } });
// @ts-expect-error needs a body
await client.post('/api/applications/{id}/roles', { path: { id: '' } });
// @ts-expect-error never comes to an end
await client.get('/api/v1/session/events');
type Slugs = 'admin' | 'user';
const typed = createVerifier<Slugs, 'orders:write'>({ url: '', apiKey: '' });
export const roles: Slugs[] = (await typed.requireRole(new Request('http://shop'), ['admin', 'user'])).roles;
// @ts-expect-error is no role of this application
await typed.requireRole(new Request('http://shop'), 'owner');
// @ts-expect-error is no scope of this application
await typed.requireScope(new Request('http://shop'), 'orders:delete');
// @ts-expect-error is no role of this application
export const isOwner: boolean = has(await typed.verify(''), { role: 'owner' });
// @ts-expect-error is compared with a role that there is not
export const isWrong: boolean = (await typed.verify('')).roles[0] === 'owner';
export const isAnyone: boolean = has(await createVerifier({ url: '', apiKey: '' }).verify(''), { role: 'anything' });
// @ts-expect-error has no such field
(await createVerifier({ url: '', apiKey: '' }).verify('')).isAdmin;
const verdict = await client.post('/api/v1/verify', { body: { token: '' } });
createServer(async (request, response) => {
  await createVerifier({ url: '', apiKey: '' }).requireSession(request).catch((error: unknown) => {
    if (error instanceof NotAdmitted) error.sendTo(response);
  });
});
export const id: string | null = 'userId' in verdict ? verdict.userId : null;
`,
    });
    for (const name of ['@types', 'undici-types', 'csstype', ...FRAMEWORKS])
      await symlink(join(PACKAGES, name), join(path, 'node_modules', name));
  });

  test.each([
    ['in a browser’s project', { module: 'esnext', moduleResolution: 'bundler' }, []],
    // Files of Next.js import each other as its bundler finds them.
    ['in Node’s own resolution', { module: 'nodenext', moduleResolution: 'nodenext' }, ['app', 'lib', 'proxy.ts']],
  ])('accept the examples of the documentation and refuse misuse, %s', async (_, options, exclude) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      lib: ['es2023', 'dom'],
      types: ['node'],
      jsx: 'react-jsx',
      skipLibCheck: true,
      ...options,
    };
    await Bun.write(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, exclude }));
    expect(await command(path, process.execPath, 'check')).not.toContain('error TS');
  });

  test.each([
    ['Node 16’s', { module: 'node16', moduleResolution: 'node16' }, ['check']],
    ['Node 20’s', { module: 'nodenext', moduleResolution: 'nodenext' }, ['check']],
    // Known to TypeScript 5 and older alone.
    ['the oldest', { module: 'commonjs', moduleResolution: 'node10' }, [join(PACKAGES, 'typescript/bin/tsc')]],
  ])('are found from CommonJS in %s resolution', async (_, resolution, checking) => {
    const old = join(path, 'commonjs');
    await Bun.write(join(old, 'package.json'), '{ "type": "commonjs" }');
    await Bun.write(
      join(old, 'all.ts'),
      `import { createVerifier, type Identity } from 'gatehouse';
import { startEphemeral } from 'gatehouse/testing';
export const who: (token: string) => Promise<Identity> = createVerifier({ url: '', apiKey: '' }).verify;
// @ts-expect-error is no number
export const url: Promise<number> = startEphemeral().then((server) => server.url);
`,
    );
    const options = { strict: true, noEmit: true, target: 'es2022', lib: ['es2023'], types: ['node'], ...resolution };
    const compilerOptions = { ...options, esModuleInterop: true };
    await Bun.write(join(old, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['all.ts'] }));
    expect(await command(old, process.execPath, ...checking)).not.toContain('error TS');
  });

  test('do not need a browser’s types', async () => {
    await Bun.write(join(path, 'node/all.ts'), "export * from 'gatehouse';\nexport * from 'gatehouse/testing';\n");
    const compilerOptions = { strict: true, noEmit: true, target: 'es2023', lib: ['es2023'], types: ['node'] };
    const options = { ...compilerOptions, module: 'nodenext', moduleResolution: 'nodenext' };
    await Bun.write(
      join(path, 'node/tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['all.ts'] }),
    );
    expect(await command(join(path, 'node'), process.execPath, 'check')).not.toContain('error TS');
  });
});
