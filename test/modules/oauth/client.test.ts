/** OAuth client authentication: accepted credentials, and the answers to everything else. */
import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import * as given from '../../support/given.ts';
import type { Answer } from '../../support/instance.ts';
import { basic, createScene, INTROSPECTION, newSecret, REVOCATION, sendForm } from './scene.ts';

function expectRefused({ status, json, headers }: Answer, challenge = 'Basic realm="gatehouse"'): void {
  expect([status, json, headers.get('www-authenticate')]).toEqual([
    401,
    { error: 'invalid_client', error_description: expect.any(String), requestId: expect.any(String) },
    challenge,
  ]);
}

/** The parts of an answer that do not depend on the moment. */
const unmistakable = ({ status, json, headers }: Answer) => ({
  status,
  json: { ...json, requestId: '' },
  headers: [...headers].filter(([name]) => name !== 'x-request-id' && !name.startsWith('ratelimit')),
});

describe('a client', () => {
  test.each([INTROSPECTION, REVOCATION])(
    'is authenticated at %s by its secret in the header or in the body',
    async (path) => {
      const { instance, shown } = await createScene();
      const token = 'est_nonsense';
      const fields = { token, client_id: shown.clientId, client_secret: shown.secret };
      const answers = [
        await sendForm(instance, path, { token }, basic(shown)),
        await sendForm(instance, path, { token }, { authorization: `bAsIc ${btoa(Object.values(shown).join(':'))}` }),
        await sendForm(instance, path, { token, client_id: shown.clientId, client_secret: '' }, basic(shown)),
        await sendForm(instance, path, fields),
        await instance.call('POST', path, { body: fields }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store');
    },
  );

  test.each([INTROSPECTION, REVOCATION])('is authenticated at %s by a backend’s key', async (path) => {
    const { instance, application, clientId } = await createScene();
    const { token: key } = await instance.createKey(application.id);
    for (const authorization of [`Bearer ${key}`, `bearer ${instance.workspaceKey}`]) {
      const fields = { token: 'est_nonsense', client_id: clientId };
      expect((await sendForm(instance, path, fields, { authorization })).status).toBe(200);
    }
  });

  test('must use one authentication method, one client id, and each parameter once', async () => {
    const { instance, shown } = await createScene();
    const other = await instance.createApplication({ name: 'Other' });
    const token = 'est_nonsense';
    for (const [fields, path] of [
      [
        [
          ['token', token],
          ['client_secret', shown.secret],
        ],
        'client_secret',
      ],
      [
        [
          ['token', token],
          ['client_id', other.clientId],
        ],
        'client_id',
      ],
      [
        [
          ['token', token],
          ['token', token],
        ],
        'token',
      ],
      [[['token_type_hint', 'access_token']], 'token'],
    ] as [[string, string][], string][]) {
      const { status, json } = await sendForm(instance, INTROSPECTION, fields, basic(shown));
      expect([status, json.error]).toEqual([400, 'invalid_request']);
      expect(json.error_description).toStartWith(`${path}: `);
    }
  });

  test('introspects with a read key and revokes nothing with it', async () => {
    const { instance, application, ada } = await createScene();
    const { token: key } = await instance.createKey(application.id, { access: 'read' });
    const headers = { authorization: `Bearer ${key}` };
    expect((await sendForm(instance, INTROSPECTION, { token: ada.token }, headers)).json.active).toBe(true);
    const { status, json } = await sendForm(instance, REVOCATION, { token: ada.token }, headers);
    expect([status, json.error]).toEqual([403, 'admin_scope_required']);
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(200);
  });
});

describe('a caller that is no client', () => {
  test('gets one answer for an unknown client, a wrong secret, and a client without a secret', async () => {
    const { instance, shown, clientId } = await createScene();
    const bare = await instance.createApplication({ name: 'Without a secret' });
    const wrong = mintSecret('clientSecret', systemRandom);
    const strangers = [
      { clientId, secret: wrong },
      { clientId, secret: 'guess' },
      { clientId: 'cli_nobody', secret: wrong },
      { clientId: 'cli_nobody', secret: shown.secret },
      { clientId: bare.clientId, secret: '\0'.repeat(32) },
      { clientId: bare.clientId, secret: shown.secret },
      { clientId: 'console', secret: shown.secret },
    ];
    const answers = [];
    for (const stranger of strangers) {
      answers.push(await sendForm(instance, INTROSPECTION, { token: 'x' }, basic(stranger)));
      const fields = { token: 'x', client_id: stranger.clientId, client_secret: stranger.secret };
      answers.push(await sendForm(instance, REVOCATION, fields));
    }
    expectRefused(answers[0]!);
    for (const answer of answers) {
      expect(unmistakable(answer)).toEqual(unmistakable(answers[0]!));
      expect(answer.text).not.toContain(shown.secret);
    }
  });

  test('any other credential is refused before the body is read', async () => {
    const { instance, shown, ada, clientId } = await createScene();
    const headers: Record<string, string>[] = [
      {},
      { authorization: 'Basic' },
      { authorization: 'Basic !!!' },
      { authorization: `Basic ${btoa('no colon')}` },
      { authorization: `Basic ${btoa(`${clientId}:%zz`)}` },
      { authorization: `Digest ${shown.secret}` },
      { cookie: `gatehouse=${ada.token}` },
    ];
    for (const one of headers) {
      expectRefused(await sendForm(instance, INTROSPECTION, { client_id: clientId }, one));
      expectRefused(await instance.call('POST', INTROSPECTION, { body: '{"broken', headers: one }));
    }
    for (const token of [ada.token, shown.secret, 'nonsense', mintSecret('apiKey', systemRandom)])
      expectRefused(await instance.call('POST', REVOCATION, { token, body: '{"broken' }), 'Bearer');
  });

  test('a personal key may introspect no token', async () => {
    const { instance, devices, ada } = await createScene();
    const { token } = await devices.connect(ada);
    const { status, json } = await instance.call('POST', INTROSPECTION, { token, body: { token: ada.token } });
    expect([status, json.error]).toEqual([403, 'forbidden']);
  });

  test('a replaced secret is refused at once, without affecting other clients', async () => {
    const { instance, application, clientId, shown, introspect } = await createScene();
    const secret = await newSecret(instance, application);
    expectRefused(await introspect('x'));
    expect((await introspect('x', { clientId, secret })).status).toBe(200);
    expect(shown.secret).not.toBe(secret);
  });

  test.each(['archive', 'delete'])('an application after %s is refused until it is back', async (kind) => {
    const { instance, application, introspect, revoke } = await createScene();
    await given.lifecycle(instance, application.id, { kind });
    expectRefused(await introspect('x'));
    expectRefused(await revoke('x'));
    const way = kind === 'archive' ? 'unarchive' : 'restore';
    await instance.call('POST', `/api/applications/${application.id}/${way}`, { token: instance.workspaceKey });
    expect((await introspect('x')).status).toBe(200);
  });

  test('a client secret cannot manage, verify or sign in', async () => {
    const { instance, application, shown, ada } = await createScene();
    const calls = [
      ['GET', `/api/applications/${application.id}`],
      ['POST', '/api/v1/verify'],
      ['POST', '/api/v1/session'],
      ['GET', '/api/account'],
    ] as const;
    for (const [method, path] of calls)
      for (const headers of [basic(shown), { authorization: `Bearer ${shown.secret}` }]) {
        const body = method === 'POST' ? { token: ada.token } : undefined;
        expect((await instance.call(method, path, { headers, body })).status).toBe(401);
      }
  });
});

describe('limits', () => {
  const FEW = { GATEHOUSE_LIMIT_WRONG_CLIENTS_PER_MINUTE: '5', GATEHOUSE_LIMIT_CLIENT_PER_MINUTE: '4' };

  test('lock a client address after wrong secrets, even for the right one, and no other address', async () => {
    const { instance, clientId, introspect } = await createScene({ environment: FEW });
    for (let guess = 0; guess < 5; guess += 1)
      expect((await introspect('x', { clientId, secret: `guess ${guess}` })).status).toBe(401);
    for (const answer of [await introspect('x', { clientId, secret: 'guess' }), await introspect('x')]) {
      expect([answer.status, answer.json.error]).toEqual([429, 'rate_limited']);
      expect(answer.headers.get('ratelimit-limit')).toBe('5');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    instance.peer = '198.51.100.9';
    expect((await introspect('x')).status).toBe(200);
    instance.peer = '203.0.113.7';
    instance.clock.advance(MINUTE);
    expect((await introspect('x')).status).toBe(200);
  });

  test('count guesses of API keys and unknown clients together', async () => {
    const { instance, clientId, introspect } = await createScene({ environment: FEW });
    for (let guess = 0; guess < 5; guess += 1)
      if (guess % 2) await instance.call('POST', INTROSPECTION, { token: `eak_guess${guess}`, body: { token: 'x' } });
      else await introspect('x', { clientId: `cli_${guess}`, secret: 'guess' });
    expect((await introspect('x', { clientId, secret: 'guess' })).status).toBe(429);
  });

  test('allow each client a number of calls a minute', async () => {
    const { instance, introspect, revoke, ada } = await createScene({ environment: FEW });
    const other = await instance.createApplication({ name: 'Other' });
    const shown = { clientId: other.clientId, secret: await newSecret(instance, other) };
    const remaining = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { status, headers } = await (turn % 2 ? introspect : revoke)('x');
      remaining.push([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]);
    }
    expect(remaining).toEqual([3, 2, 1, 0].map((left) => [200, '4', String(left)]));
    expect((await introspect(ada.token)).status).toBe(429);
    expect((await introspect(ada.token, shown)).status).toBe(200);
    instance.clock.advance(MINUTE);
    expect((await introspect(ada.token)).json.active).toBe(true);
  });

  test('a key’s own limits apply as everywhere', async () => {
    const { instance, application } = await createScene();
    const { token } = await instance.createKey(application.id, { rateLimits: { perMinute: 2, perDay: 3 } });
    const ask = async () => (await instance.call('POST', INTROSPECTION, { token, body: { token: 'x' } })).status;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    instance.clock.advance(MINUTE);
    expect([await ask(), await ask()]).toEqual([200, 429]);
    instance.clock.advance(DAY);
    expect(await ask()).toBe(200);
  });
});
