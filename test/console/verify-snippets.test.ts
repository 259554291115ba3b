/** The snippets that verify a session: those in TypeScript run here as they are shown, with the npm package. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { verifySnippets } from '@/console/views/overview/verify-snippets.ts';
import { emptyFolder } from '../support/binary.ts';
import { createInstance } from '../support/instance.ts';

const PACKAGE = Bun.resolveSync('@/client/gatehouse.ts', import.meta.dir);
const folder = emptyFolder();

let server: Bun.Server<undefined>;
let key: string;
let token: string;

beforeAll(async () => {
  const instance = await createInstance();
  const shop = await instance.createApplication({ name: 'Shop' });
  ({ token } = await instance.signIn(shop.clientId, 'ada@example.com'));
  ({ token: key } = await instance.createKey(shop.id, { access: 'read' }));
  server = Bun.serve({ port: 0, fetch: (request) => instance.app.fetch(request) });
});
afterAll(async () => {
  await server.stop(true);
  folder.remove();
});

const all = () => verifySnippets(server.url.origin, { key, token });

/** Imports the code of a variant between other lines, as a reader who pastes it has them. */
async function paste(variant: string, before = '', after = ''): Promise<any> {
  const language = all().find(({ name }) => name === 'TypeScript');
  const found = language && 'variants' in language ? language.variants.find(({ name }) => name === variant) : undefined;
  const file = join(folder.path, `${variant.replaceAll(/\W/g, '')}.ts`);
  await Bun.write(file, [before, found?.code.replace(`from 'gatehouse'`, `from '${PACKAGE}'`), after].join('\n'));
  return import(file);
}

const APP = 'export let used; const app = { use(handler) { used = handler; } };';
const asAda = () => new Request('http://localhost/me', { headers: { authorization: `Bearer ${token}` } });
const asNobody = () => new Request('http://localhost/me');

test('a fetch handler gets the identity of a session, and the answer for everybody else', async () => {
  const { whoIsCalling } = await paste('No framework');
  expect(await whoIsCalling(asAda())).toMatchObject({ email: 'ada@example.com' });
  expect((await whoIsCalling(asNobody())).status).toBe(401);
});

test('Express: the session is in the locals of the response, and a call without one ends with 401', async () => {
  const { used } = await paste('Express', APP);
  const backend = createServer((request, response) => {
    const answer = Object.assign(response, { locals: {} as { user?: { email: string } } });
    used(request, answer, () => response.end(answer.locals.user?.email));
  });
  await new Promise<void>((done) => backend.listen(0, done));
  const url = `http://localhost:${(backend.address() as AddressInfo).port}/`;
  try {
    expect(await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text()).toBe('ada@example.com');
    expect((await fetch(url)).status).toBe(401);
  } finally {
    backend.close();
  }
});

test('Hono: the session is a variable of the context, and a call without one ends before the handler', async () => {
  const { used } = await paste('Hono', APP);
  const variables = new Map<string, any>();
  let handled = 0;
  const call = (raw: Request) =>
    used(
      { req: { raw }, set: (name: string, value: unknown) => variables.set(name, value) },
      async () => (handled += 1),
    );
  expect(await call(asAda())).toBeUndefined();
  expect([variables.get('user').email, handled]).toEqual(['ada@example.com', 1]);
  expect([(await call(asNobody())).status, handled]).toEqual([401, 1]);
});

test('Next.js: a route answers whoever is signed in', async () => {
  const { GET } = await paste('Next.js');
  expect(await (await GET(asAda())).json()).toMatchObject({ email: 'ada@example.com', roles: ['user'] });
  expect((await GET(asNobody())).status).toBe(401);
});

test('without the npm package, one call gives the verdict', async () => {
  const before = `const token = ${JSON.stringify(token)};`;
  expect(await paste('Without the npm package', before, 'export { email };')).toMatchObject({
    email: 'ada@example.com',
  });
});

test('every snippet has the address of this server and the key, and the reader finds the frameworks', () => {
  const names = all().flatMap((one) => ('variants' in one ? one.variants.map(({ name }) => name) : []));
  expect(names).toEqual(expect.arrayContaining(['Express', 'Hono', 'Next.js', 'FastAPI', 'Laravel']));
  for (const one of all())
    for (const { code } of 'variants' in one ? one.variants : [one]) {
      expect(code).toContain(server.url.origin);
      expect(code).toContain(key);
    }
});
