/** The short path and the general pipeline show the same of every call: answer, headers, log line, counters and limits. */
import { describe, expect, test } from 'bun:test';
import { isShort } from '@/http/short-path.ts';
import { BUSY_PATHS } from '@/http/raw-path.ts';
import { ENGINE } from '../support/engine.ts';
import { createScene, lastUses, requestOf, type Scene, type Sent, seenOf } from './short-path-scene.ts';

const VERIFY = '/api/v1/verify';
const SESSION = '/api/v1/session';
const INTROSPECT = '/api/v1/introspect';
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const BASIC = { authorization: 'Basic {clientId}:{clientSecret}' };

const bearer = (name: string) => ({ authorization: `Bearer {${name}}` });
const verify = (key: string, token: string): Sent => ({
  path: VERIFY,
  headers: { ...JSON_TYPE, ...bearer(key) },
  body: `{"token":"{${token}}"}`,
});
const verifyBody = (body: Sent['body'], headers: Record<string, string> = JSON_TYPE): Sent => ({
  path: VERIFY,
  headers: { ...headers, ...bearer('key') },
  ...(body !== undefined && { body }),
});
const session = (token: string): Sent => ({ path: SESSION, headers: bearer(token) });
const introspect = (headers: Record<string, string>, body: string): Sent => ({
  path: INTROSPECT,
  headers: { ...FORM_TYPE, ...headers },
  body,
});

const SESSIONS = ['ada', 'banned', 'paused', 'left', 'ended', 'owner'];
const KEYS = ['key', 'full', 'workspaceKey', 'revoked', 'rotated', 'inGrace', 'foreignKey', 'personal'];
const UNKNOWN = `est_${'a'.repeat(49)}`;

const CALLS: Readonly<Record<string, readonly Sent[]>> = {
  'a verification of each credential': [...SESSIONS, ...KEYS].map((token) => verify('key', token)),
  'a verification by each key': [...KEYS, 'ada'].map((key) => verify(key, 'ada')),
  'a token of another application': [verify('workspaceKey', 'ended'), verify('foreignKey', 'ada')],
  'a call without a credential, or with a malformed one': [
    ...[VERIFY, SESSION, INTROSPECT].flatMap((path): Sent[] => [
      { path },
      { path, headers: { authorization: '' } },
      { path, headers: { authorization: 'Bearer ' } },
      { path, headers: { authorization: 'bearer {ada}' } },
      { path, headers: { authorization: 'BEARER {key}', ...JSON_TYPE }, body: '{"token":"x"}' },
      { path, headers: { authorization: 'Basic x' } },
      { path, headers: { authorization: `Bearer ${UNKNOWN}`, ...JSON_TYPE }, body: '{"token":"x"}' },
    ]),
  ],
  'each session, a key, and none': [...SESSIONS, ...KEYS].map(session),
  'a session in a cookie': [{ path: SESSION, headers: { cookie: 'gatehouse={owner}' } }],
  'a body that is wrong': [
    verifyBody(undefined),
    verifyBody(''),
    verifyBody('  '),
    verifyBody('{'),
    verifyBody('[]'),
    verifyBody('null'),
    verifyBody('"text"'),
    verifyBody('{}'),
    verifyBody('{"token":7}'),
    verifyBody('{"token":null}'),
    verifyBody('{"token":""}'),
    verifyBody('{"token":"\\u0000"}'),
    verifyBody('{"token":"\\ud800"}'),
    verifyBody('{"token":"{ada}","more":1}'),
    verifyBody('{"token":"{ada}","more":"\\u0000"}'),
    verifyBody('{"token":"x","token":"{ada}"}'),
    verifyBody('{"__proto__":{"token":"{ada}"}}'),
    verifyBody(`{"token":${'['.repeat(40)}${']'.repeat(40)}}`),
    verifyBody('\uFEFF{"token":"{ada}"}'),
    verifyBody(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])),
  ],
  'a media type that is wrong, or has parameters': [
    ...['text/plain', '', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'multipart/form-data'].map((type) =>
      verifyBody('{"token":"{ada}"}', { 'content-type': type }),
    ),
    verifyBody('token={ada}', FORM_TYPE),
  ],
  'a body that is long, chunked or oversized': [
    { ...verifyBody('{"token":"{ada}"}'), isChunked: true },
    { ...verifyBody('{"token":'), isChunked: true },
    verifyBody(`{"token":"${'x'.repeat(5000)}"}`),
    verifyBody(`{"token":"${'x'.repeat(100_000)}"}`),
    verifyBody(`{"token":"${'x'.repeat(1024 * 1024)}"}`),
    { ...verifyBody(`{"token":"${'x'.repeat(1024 * 1024)}"}`), isChunked: true },
    introspect(BASIC, `token=${'x'.repeat(70_000)}`),
  ],
  'another method, or a query': [
    ...['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'].flatMap((method) =>
      BUSY_PATHS.map((path): Sent => ({ path, method })),
    ),
    { ...verify('key', 'ada'), path: `${VERIFY}?token=x` },
    { ...session('ada'), path: `${SESSION}?x=1&x=2` },
  ],
  'a page of another origin': [
    { ...session('ada'), headers: { ...bearer('ada'), origin: 'https://shop.example.com' } },
    { ...session('left'), headers: { ...bearer('left'), origin: 'https://shop.example.com' } },
    { ...verify('key', 'ada'), headers: { ...JSON_TYPE, ...bearer('key'), origin: 'https://shop.example.com' } },
    { path: '/healthz', method: 'GET', headers: { origin: 'https://shop.example.com' } },
  ],
  'introspection by a secret or a key': [
    introspect(BASIC, 'token={ada}'),
    introspect(BASIC, 'token={ada}&token_type_hint=access_token'),
    introspect(BASIC, 'token={banned}'),
    introspect(BASIC, 'token={personal}'),
    introspect(BASIC, 'token={ended}'),
    introspect(BASIC, ''),
    introspect(BASIC, 'token={ada}&token={ada}'),
    introspect(BASIC, 'token={ada}&client_secret=x'),
    introspect(BASIC, 'token={ada}&client_id=other'),
    introspect({}, 'token={ada}&client_id={clientId}&client_secret={clientSecret}'),
    introspect({}, 'token={ada}&client_id={clientId}&client_secret=x'),
    introspect({ authorization: 'Basic {clientId}:x' }, 'token={ada}'),
    introspect({ authorization: 'Basic {clientId}:x' }, 'token={ada}&token={ada}'),
    introspect({ ...JSON_TYPE, ...BASIC }, '{"token":"{ada}"}'),
    introspect({ ...JSON_TYPE, ...BASIC }, '{"token":'),
    ...KEYS.map((key) => introspect(bearer(key), 'token={ada}')),
  ],
  'a client behind a proxy, at an IPv6 address, or gone': [
    { ...session('left'), peer: '2001:db8:1:2:3::9' },
    { ...session('left'), peer: '::ffff:198.51.100.9' },
    { ...session('left'), peer: null },
    { ...session('ada'), peer: '10.0.0.1', headers: { ...bearer('ada'), 'x-forwarded-for': '198.51.100.3, 10.0.0.2' } },
    { ...session('left'), peer: '10.0.0.1', headers: { ...bearer('left'), 'x-forwarded-for': '[2001:db8::7]:4711' } },
    // The first of an untrusted peer is logged.
    { ...session('ada'), headers: { ...bearer('ada'), 'x-forwarded-for': '198.51.100.3' } },
    { ...session('left'), headers: { ...bearer('left'), 'x-forwarded-for': '198.51.100.3' } },
  ],
  'the health check': [
    { path: '/healthz', method: 'GET' },
    { path: '/healthz?x', method: 'GET' },
  ],
  'a Host that is unknown, or sent twice': [
    { ...session('ada'), headers: { ...bearer('ada'), host: 'evil.example.com' } },
    { ...session('ada'), headers: { ...bearer('ada'), host: 'localhost, localhost' } },
    { path: '/healthz', method: 'GET', headers: { host: 'evil.example.com' } },
  ],
  'an answer that could be compressed': [
    { ...verify('key', 'ada'), headers: { ...JSON_TYPE, ...bearer('key'), 'accept-encoding': 'gzip' } },
  ],
};

async function createScenes(): Promise<readonly [Scene, Scene]> {
  return [await createScene(), await createScene()];
}

/** Sends a call to both. @returns what both show, of the short path. */
async function sameOf([short, general]: readonly [Scene, Scene], sent: Sent) {
  const ofShort = await seenOf(short, sent, true);
  const ofGeneral = await seenOf(general, sent, false);
  expect({ sent, shown: ofShort.shown }).toEqual({ sent, shown: ofGeneral.shown });
  expect(ofGeneral.isAtOnce).toBe(false);
  return ofShort;
}

describe('the short path', () => {
  test.each(Object.entries(CALLS))('shows of %s what the general pipeline shows', async (_, calls) => {
    const scenes = await createScenes();
    for (const sent of calls) await sameOf(scenes, sent);
    expect(await lastUses(scenes[0])).toEqual((await lastUses(scenes[1])) as object);
  });

  test('counts against the same limits, and announces them alike', async () => {
    const scenes = await createScenes();
    const statuses = async (calls: readonly Sent[]) => {
      const found: number[] = [];
      for (const sent of calls) found.push((await sameOf(scenes, sent)).shown.status);
      return found;
    };
    const times = (count: number, sent: Sent) => Array.from({ length: count }, () => sent);
    expect(await statuses(times(3, verify('scarce', 'ada')))).toEqual([200, 200, 429]);
    expect(await statuses(times(2, { ...verify('scarce', 'ada'), body: '{' }))).toEqual([429, 429]);
    for (const { instance } of scenes) instance.clock.advance(60_000);
    expect(await statuses(times(2, { ...verify('scarce', 'ada'), body: '{' }))).toEqual([400, 400]);
    for (const { instance } of scenes) instance.clock.advance(60_000);
    expect(await statuses(times(2, verify('scarce', 'ada')))).toEqual([200, 429]);
    expect((await statuses(times(31, session('ada')))).lastIndexOf(200)).toBe(29);
    expect((await statuses(times(32, session('left')))).indexOf(429)).toBe(30);
    const wrong = introspect({ authorization: 'Basic {clientId}:x' }, 'token={ada}');
    expect((await statuses(times(11, wrong))).at(-1)).toBe(429);
    expect(await statuses([introspect(BASIC, 'token={ada}')])).toEqual([429]);
  });

  test('shows a change at the next call', async () => {
    const scenes = await createScenes();
    await sameOf(scenes, verify('key', 'ada'));
    await sameOf(scenes, verify('key', 'ada'));
    for (const { instance, ada } of scenes) await instance.call('DELETE', '/api/v1/session', { token: ada });
    expect((await sameOf(scenes, verify('key', 'ada'))).shown.body).toContain('"revoked"');
    expect((await sameOf(scenes, session('ada'))).shown.status).toBe(401);
  });

  test('judges the caller again after a slow body', async () => {
    const scenes = await createScenes();
    const answers = await Promise.all(
      scenes.map(async (scene, index) => {
        const { instance } = scene;
        const isRevoked = Promise.withResolvers<void>();
        const body = new ReadableStream({
          async pull(controller) {
            await isRevoked.promise;
            controller.enqueue(Buffer.from(`{"token":"${scene.ada}"}`));
            controller.close();
          },
        });
        const { headers } = requestOf(scene, verify('full', 'ada'));
        headers.delete('content-length');
        const request = new Request(`http://localhost${VERIFY}`, { method: 'POST', headers, body });
        const begun = performance.now();
        const answer = instance.app.fetch(request, index === 0 ? VERIFY : 'plain');
        instance.sqlite.run('UPDATE api_keys SET revoked_at = 1');
        while (performance.now() - begun <= 25);
        isRevoked.resolve();
        return (await answer).status;
      }),
    );
    expect(answers).toEqual([401, 401]);
  });

  test('answers alike where the database fails', async () => {
    const scenes = await createScenes();
    const rename = (from: string, to: string) => {
      for (const { instance } of scenes) instance.sqlite.run(`ALTER TABLE ${from} RENAME TO ${to}`);
    };
    rename('users', 'gone');
    try {
      for (const sent of [verify('key', 'ada'), session('ada'), introspect(bearer('key'), 'token={ada}')])
        expect((await sameOf(scenes, sent)).shown).toMatchObject({
          status: 500,
          log: [{}, {}].map(() => expect.any(String)),
        });
      expect((await sameOf(scenes, { path: '/healthz', method: 'GET' })).shown.status).toBe(200);
    } finally {
      rename('gone', 'users');
    }
  });

  test('takes one operation at each of its paths', async () => {
    const { instance } = await createScene();
    const taken = instance.app.operations.filter(
      (operation) => (BUSY_PATHS as readonly string[]).includes(operation.path) && isShort(operation),
    );
    expect(taken.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      [`POST ${INTROSPECT}`, `POST ${SESSION}`, `POST ${VERIFY}`, 'GET /healthz'].sort(),
    );
  });

  test.skipIf(ENGINE === 'postgres')('waits for nothing where the database answers at once', async () => {
    const scene = await createScene();
    const atOnce = async (sent: Sent) => (await seenOf(scene, sent, true)).isAtOnce;
    expect([await atOnce(session('ada')), await atOnce({ path: '/healthz', method: 'GET' })]).toEqual([true, true]);
  });
});
