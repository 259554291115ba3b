import { afterAll, describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { guardedFetch } from '../../../src/outbound/guarded-fetch.ts';
import { createInstance, START } from '../../support/instance.ts';
import { auditsOf, databaseOf } from '../beta/records.ts';

const cleanUps: (() => unknown)[] = [];
afterAll(() => Promise.all(cleanUps.map((cleanUp) => cleanUp())));

type Urls = { terms?: string | null; privacy?: string | null; imprint?: string | null };
type Check = { kind: string; url: string | null; status: string; finalCode: number | null; checkedAt: string | null };

const INTERNAL = 'http://10.0.0.1/internal';

/** Serves legal pages: `/status/404` answers with that status, `/hops/3` redirects three times. */
function serveSite(answer?: (path: string) => Promise<Response>) {
  const paths: string[] = [];
  const headers: Headers[] = [];
  const redirect = (location?: string) => new Response(null, { status: 302, headers: location ? { location } : {} });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      paths.push(pathname);
      headers.push(request.headers);
      if (answer) return answer(pathname);
      const [, what, value = ''] = pathname.split('/');
      if (what === 'status') return new Response(null, { status: Number(value) });
      if (what === 'hops') return Number(value) > 0 ? redirect(`/hops/${Number(value) - 1}`) : new Response('there');
      if (what === 'loop') return redirect('/loop');
      if (what === 'nowhere') return redirect();
      if (what === 'to') return redirect(decodeURIComponent(value));
      return new Response('the terms');
    },
  });
  cleanUps.push(() => server.stop(true));
  return { paths, headers, url: (path: string) => `http://127.0.0.1:${server.port}${path}` };
}

async function setUp() {
  const instance = await createInstance({
    outbound: guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true }),
  });
  const application = await instance.createApplication();
  const path = `/api/applications/${application.id}`;
  const { workspaceKey: token } = instance;
  return {
    instance,
    application,
    path,
    set: async (legalUrls: Urls) => {
      expect((await instance.call('PATCH', path, { token, body: { legalUrls } })).status).toBe(200);
    },
    check: () => instance.call('GET', `${path}/url-check`, { token }),
    recheck: (body?: unknown) => instance.call('POST', `${path}/recheck-urls`, { token, body }),
  };
}

const byKind = ({ json }: { json: { data: { urls: Check[] } } }) =>
  Object.fromEntries(json.data.urls.map((check) => [check.kind, check])) as Record<string, Check>;

/** Returns a port on which nothing listens. */
function closedPort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

describe('a check of the legal URLs', () => {
  test('probes each new URL once and stores the result', async () => {
    const { instance, application, set, check } = await setUp();
    const site = serveSite();
    await set({ terms: site.url('/terms'), privacy: site.url('/status/404') });
    const audits = auditsOf(instance).length;
    instance.clock.advance(MINUTE);
    const first = await check();
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      success: true,
      data: {
        urls: [
          { kind: 'terms', url: site.url('/terms'), status: 'ok', finalCode: 200, checkedAt: isoTime(START + MINUTE) },
          {
            kind: 'privacy',
            url: site.url('/status/404'),
            status: 'broken',
            finalCode: 404,
            checkedAt: isoTime(START + MINUTE),
          },
          { kind: 'imprint', url: null, status: 'missing', finalCode: null, checkedAt: null },
        ],
      },
    });
    expect(site.paths.sort()).toEqual(['/status/404', '/terms']);
    expect(auditsOf(instance, audits)).toMatchObject([
      { kind: 'application.urls_checked', applicationId: application.id, detail: { terms: 'ok', privacy: 'broken' } },
    ]);

    instance.clock.advance(MINUTE);
    const before = await databaseOf(instance);
    const again = await check();
    expect(again.json).toEqual(first.json);
    expect(site.paths).toHaveLength(2);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('probes a changed URL again, and drops the result of a removed one', async () => {
    const { instance, set, check } = await setUp();
    const site = serveSite();
    await set({ terms: site.url('/terms'), privacy: site.url('/privacy') });
    await check();
    instance.clock.advance(MINUTE);
    await set({ privacy: site.url('/status/500') });
    const changed = byKind(await check());
    expect(site.paths.slice(2)).toEqual(['/status/500']);
    expect(changed['terms']).toMatchObject({ status: 'ok', checkedAt: isoTime(START) });
    expect(changed['privacy']).toMatchObject({ status: 'broken', finalCode: 500, checkedAt: isoTime(START + MINUTE) });
    await set({ privacy: null });
    expect(byKind(await check())['privacy']).toEqual({
      kind: 'privacy',
      url: null,
      status: 'missing',
      finalCode: null,
      checkedAt: null,
    });
    expect(site.paths).toHaveLength(3);
  });

  test('sends no request and writes nothing for an application without legal URLs', async () => {
    const { instance, check, recheck } = await setUp();
    const before = await databaseOf(instance);
    for (const answer of [await check(), await recheck()])
      expect(Object.values(byKind(answer)).map(({ status }) => status)).toEqual(['missing', 'missing', 'missing']);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('identifies itself by its user agent and sends no credentials of the caller', async () => {
    const { instance, set, check } = await setUp();
    const site = serveSite();
    await set({ terms: site.url('/terms') });
    await check();
    expect(site.headers[0]!.get('user-agent')).toBe('Gatehouse link check');
    expect([...site.headers[0]!.values()].join(' ')).not.toContain(instance.workspaceKey);
  });
});

describe('a recheck of the legal URLs', () => {
  test.each([undefined, '', {}])('probes every URL again, with body %p', async (body) => {
    const { instance, set, check, recheck } = await setUp();
    let status = 200;
    const site = serveSite(async () => new Response(null, { status }));
    await set({ terms: site.url('/terms'), privacy: site.url('/privacy'), imprint: site.url('/imprint') });
    await check();
    status = 503;
    instance.clock.advance(MINUTE);
    const audits = auditsOf(instance).length;
    const answer = await recheck(body);
    expect(answer.status).toBe(200);
    for (const found of Object.values(byKind(answer)))
      expect(found).toMatchObject({ status: 'broken', finalCode: 503, checkedAt: isoTime(START + MINUTE) });
    expect(site.paths.slice(3).sort()).toEqual(['/imprint', '/privacy', '/terms']);
    expect(auditsOf(instance, audits).map(({ kind }) => kind)).toEqual(['application.urls_checked']);
    expect((await check()).json).toEqual(answer.json);
    expect(site.paths).toHaveLength(6);
  });
});

describe('a legal URL', () => {
  test.each([
    ['answered 200', '/terms', 'ok', 200],
    ['answered 204', '/status/204', 'ok', 204],
    ['answered 404', '/status/404', 'broken', 404],
    ['answered 401', '/status/401', 'broken', 401],
    ['answered 500', '/status/500', 'broken', 500],
    ['that redirects once', '/hops/1', 'ok', 200],
    ['that redirects five times', '/hops/5', 'ok', 200],
    ['that redirects to nothing', '/nowhere', 'broken', 302],
    ['that redirects to a page that is not there', '/to/%2Fstatus%2F404', 'broken', 404],
    ['that redirects to a private address', `/to/${encodeURIComponent(INTERNAL)}`, 'refused', null],
    ['that redirects to the metadata service', `/to/${encodeURIComponent('http://169.254.169.254/')}`, 'refused', null],
    ['that redirects to a file', `/to/${encodeURIComponent('file:///etc/passwd')}`, 'refused', null],
  ])('%s is reported with its status', async (_, path, status, finalCode) => {
    const { set, check } = await setUp();
    const site = serveSite();
    await set({ terms: site.url(path) });
    expect(byKind(await check())['terms']).toMatchObject({ url: site.url(path), status, finalCode });
  });

  test.each(['/hops/6', '/loop'])(
    'with more than five redirects is broken, and left after the fifth: %s',
    async (path) => {
      const { set, check } = await setUp();
      const site = serveSite();
      await set({ terms: site.url(path) });
      expect(byKind(await check())['terms']).toMatchObject({ status: 'broken' });
      expect(site.paths).toHaveLength(6);
    },
  );

  test('is reported as unreachable or refused without affecting the others', async () => {
    const { set, check } = await setUp();
    const site = serveSite();
    await set({
      terms: `http://127.0.0.1:${closedPort()}/`,
      privacy: INTERNAL,
      imprint: site.url('/imprint'),
    });
    const found = byKind(await check());
    expect(found['terms']).toMatchObject({ status: 'unreachable', finalCode: null, checkedAt: isoTime(START) });
    expect(found['privacy']).toMatchObject({ status: 'refused', finalCode: null, checkedAt: isoTime(START) });
    expect(found['imprint']).toMatchObject({ status: 'ok', finalCode: 200 });
  });

  test('on loopback is refused by a public instance', async () => {
    const site = serveSite();
    const instance = await createInstance({
      outbound: guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: false }),
    });
    const application = await instance.createApplication({ legalUrls: { terms: site.url('/terms') } });
    const answer = await instance.call('GET', `/api/applications/${application.id}/url-check`, {
      token: instance.workspaceKey,
    });
    expect(byKind(answer)['terms']).toMatchObject({ status: 'refused', finalCode: null });
    expect(site.paths).toEqual([]);
  });
});

describe('the probes of legal URLs', () => {
  test('run in parallel', async () => {
    const { set, check } = await setUp();
    const all = Promise.withResolvers<void>();
    const site = serveSite(async () => {
      if (site.paths.length === 3) all.resolve();
      await all.promise;
      return new Response('there');
    });
    await set({ terms: site.url('/terms'), privacy: site.url('/privacy'), imprint: site.url('/imprint') });
    expect(Object.values(byKind(await check())).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });

  test('time out after five seconds, including redirects, without blocking other requests', async () => {
    const { instance, path, set, check } = await setUp();
    const never = new Promise<Response>(() => {});
    const hanging = serveSite(async (asked) => {
      if (asked === '/hang') return never;
      return new Response(null, { status: 302, headers: { location: '/hang' } });
    });
    const site = serveSite();
    await set({ terms: hanging.url('/hang'), privacy: hanging.url('/redirect'), imprint: site.url('/imprint') });
    const startedAt = performance.now();
    let isDone = false;
    const checking = check().finally(() => (isDone = true));
    const meanwhile = await instance.call('GET', path, { token: instance.workspaceKey });
    expect([meanwhile.status, isDone]).toEqual([200, false]);
    const found = byKind(await checking);
    // A redirect with a time-out of its own would take twice as long as one.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(found['terms']).toMatchObject({ status: 'unreachable', finalCode: null });
    expect(found['privacy']).toMatchObject({ status: 'unreachable', finalCode: null });
    expect(found['imprint']).toMatchObject({ status: 'ok', finalCode: 200 });
  }, 60_000);
});

describe('access to the legal URL check', () => {
  test('allows a read key to check, and only a full key to recheck', async () => {
    const { instance, application, path, set } = await setUp();
    const site = serveSite();
    await set({ terms: site.url('/terms') });
    const { token } = await instance.createKey(application.id, { access: 'read' });
    expect((await instance.call('GET', `${path}/url-check`, { token })).status).toBe(200);
    expect(site.paths).toHaveLength(1);
    const before = await databaseOf(instance);
    const refused = await instance.call('POST', `${path}/recheck-urls`, { token });
    expect([refused.status, refused.json.error]).toEqual([403, 'admin_scope_required']);
    expect(site.paths).toHaveLength(1);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('sends no request for anonymous callers and keys of other applications', async () => {
    const { instance, path, set } = await setUp();
    const site = serveSite();
    await set({ terms: site.url('/terms') });
    const { token } = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    const before = await databaseOf(instance);
    for (const [method, rest] of [
      ['GET', '/url-check'],
      ['POST', '/recheck-urls'],
    ] as const) {
      expect((await instance.call(method, path + rest)).status).toBe(401);
      expect((await instance.call(method, path + rest, { token })).status).toBe(404);
    }
    expect(site.paths).toEqual([]);
    expect(await databaseOf(instance)).toEqual(before);
  });
});
