/** Access to the metrics: with the token, or from this machine if no proxy is configured. */
import { describe, expect, test } from 'bun:test';
import { createInstance, type Instance } from '../../support/instance.ts';
import { readExposition } from '../../support/exposition.ts';
import { TOKEN, watched } from './scene.ts';

/** A server on all addresses accepts every Host, so only the guard protects the metrics. */
const bare = (environment: Record<string, string> = {}) =>
  createInstance({ isKeyAsMade: true, environment: { GATEHOUSE_HOST: '0.0.0.0', ...environment } });

const [guarded, open, named, numbered, proxied] = await Promise.all([
  watched({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } }),
  bare(),
  bare({ GATEHOUSE_BASE_URL: 'https://auth.example.com' }),
  bare({ GATEHOUSE_BASE_URL: 'http://127.0.0.1:9000' }),
  bare({ GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1' }),
]);

describe('with a token', () => {
  const AUTHORIZATIONS: [shown: string, status: number, authorization: string | null][] = [
    ['the token', 200, `Bearer ${TOKEN}`],
    ['the token, the scheme in another case', 200, `bearer ${TOKEN}`],
    ['nothing', 401, null],
    ['another token', 401, 'Bearer scrape-me-if-you-cam'],
    ['its beginning', 401, `Bearer ${TOKEN.slice(0, -1)}`],
    ['more than it', 401, `Bearer ${TOKEN}x`],
    ['the token by another scheme', 401, `Basic ${TOKEN}`],
    ['the token without a scheme', 401, TOKEN],
    ['an empty one', 401, 'Bearer '],
  ];
  test.each(AUTHORIZATIONS)('an instance with a token answers %s with %d', async (_, status, authorization) => {
    const headers = { ...(authorization !== null && { authorization }), 'x-forwarded-for': '198.51.100.1' };
    const answer = await guarded.call('GET', '/metrics', { headers });
    expect(answer.status).toBe(status);
    if (status === 401) {
      expect(answer.json.error).toBe('unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.text).not.toContain('gatehouse_');
    }
  });

  test('a loopback request needs the token as well, and no workspace key replaces it', async () => {
    guarded.peer = '127.0.0.1';
    const headers = { host: 'localhost:8080' };
    expect((await guarded.call('GET', '/metrics', { headers })).status).toBe(401);
    expect((await guarded.call('GET', '/metrics', { headers, token: guarded.workspaceKey })).status).toBe(401);
  });
});

describe('without a token', () => {
  const CALLS: [call: string, status: number, peer: string, headers: Record<string, string>][] = [
    ['this machine by name', 200, '127.0.0.1', { host: 'localhost:8080' }],
    ['this machine by address', 200, '127.0.0.1', { host: '127.0.0.1:8080' }],
    ['this machine by IPv6', 200, '::1', { host: '[::1]:8080' }],
    ['this machine by IPv4 in IPv6', 200, '::ffff:127.0.0.1', { host: 'localhost' }],
    ['another machine', 404, '203.0.113.7', { host: 'localhost' }],
    ['another machine of the same network', 404, '10.0.0.2', { host: 'localhost' }],
    ['a call without a Host', 404, '127.0.0.1', {}],
    ['a proxy that passes the Host on', 404, '127.0.0.1', { host: '203.0.113.1:8080' }],
    ['a proxy that says for whom', 404, '127.0.0.1', { host: 'localhost', 'x-forwarded-for': '203.0.113.7' }],
    ['one that says it of this machine', 404, '127.0.0.1', { host: 'localhost', 'x-forwarded-for': '127.0.0.1' }],
    ['one that says nothing of whom', 404, '127.0.0.1', { host: 'localhost', 'x-forwarded-for': '' }],
    ['one that says the scheme alone', 404, '127.0.0.1', { host: 'localhost', 'x-forwarded-proto': 'https' }],
    ['one that speaks RFC 7239', 404, '127.0.0.1', { host: 'localhost', forwarded: 'for=203.0.113.7' }],
    ['one that says its own name', 404, '127.0.0.1', { host: 'localhost', via: '1.1 proxy' }],
    ['one of the simple kind', 404, '127.0.0.1', { host: 'localhost', 'x-real-ip': '203.0.113.7' }],
    ['a tunnel', 404, '127.0.0.1', { host: 'localhost', 'cf-connecting-ip': '203.0.113.7' }],
    ['a key shown instead', 404, '203.0.113.7', { host: 'localhost', authorization: `Bearer ${TOKEN}` }],
  ];
  test.each(CALLS)('an instance without a token answers %s with %d', async (_, status, peer, headers) => {
    open.peer = peer;
    const answer = await open.call('GET', '/metrics', { headers });
    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.json.error).toBe('not_found');
  });

  const fromHere = async (instance: Instance, headers: Record<string, string> = {}) => {
    instance.peer = '127.0.0.1';
    return (await instance.call('GET', '/metrics', { headers: { host: 'localhost', ...headers } })).status;
  };

  test('a server with a public name is closed, since its proxy may send no forwarding header', async () => {
    expect(await fromHere(named)).toBe(404);
    expect(await fromHere(numbered)).toBe(200);
  });

  test('a trusted proxy cannot claim a loopback address either', async () => {
    expect(await fromHere(proxied, { 'x-forwarded-for': '127.0.0.1' })).toBe(404);
  });
});

describe('the format', () => {
  const NEWEST =
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';
  const ACCEPTED: [accept: string, format: 'prometheus' | 'openmetrics'][] = [
    ['', 'prometheus'],
    ['*/*', 'prometheus'],
    ['text/plain', 'prometheus'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'prometheus'],
    ['application/openmetrics-text', 'openmetrics'],
    [NEWEST, 'openmetrics'],
    ['application/openmetrics-text;version=0.0.1,text/plain;q=0.5', 'prometheus'],
    ['application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.5', 'prometheus'],
    ['application/openmetrics-text;q=0', 'prometheus'],
    ['application/openmetrics-text;q=nonsense', 'prometheus'],
  ];
  test('follows the Accept header and parses', async () => {
    for (const [accept, format] of ACCEPTED) {
      const { headers, text } = await guarded.call('GET', '/metrics', { token: TOKEN, headers: { accept } });
      const type =
        format === 'openmetrics' ? 'application/openmetrics-text; version=1.0.0' : 'text/plain; version=0.0.4';
      expect([accept, headers.get('content-type')]).toEqual([accept, `${type}; charset=utf-8`]);
      expect(readExposition(text, format).value('gatehouse_database_writable')).toBe(1);
    }
  });

  test('is described by HEAD with its length; the API description omits the route', async () => {
    const head = await guarded.call('HEAD', '/metrics', { token: TOKEN });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await guarded.call('GET', '/openapi.json?part=all')).text).not.toContain('"/metrics"');
  });
});
