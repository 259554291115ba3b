import { describe, expect, test } from 'bun:test';
import { compressor, jsonResponse } from '@/http/compression.ts';
import type { RequestContext } from '@/http/request-context.ts';

const LONG = { text: 'gatehouse '.repeat(500) };

function contextOf(acceptEncoding?: string): RequestContext {
  const headers: Record<string, string> = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
  return { request: new Request('http://localhost/', { headers }), headers: {} } as unknown as RequestContext;
}

async function decoded(response: Response): Promise<string> {
  const bytes = await response.bytes();
  return response.headers.get('content-encoding') === 'gzip'
    ? new TextDecoder().decode(Bun.gunzipSync(bytes))
    : new TextDecoder().decode(bytes);
}

describe('a JSON response', () => {
  test.each(['gzip', 'gzip, deflate, br', 'br;q=1.0, GZIP;q=0.8', 'deflate,gzip;q=0.001'])(
    'of more than 1 KiB is compressed for a client that accepts gzip: %s',
    async (accepted) => {
      const response = await jsonResponse(contextOf(accepted), LONG);
      expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([
        'gzip',
        'Accept-Encoding',
      ]);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(JSON.parse(await decoded(response))).toEqual(LONG);
    },
  );

  test.each([undefined, '', 'br', 'identity', 'gzip;q=0', 'gzip; q=0.0, br', 'xgzipx'])(
    'is not compressed for other clients: %s',
    async (accepted) => {
      const response = await jsonResponse(contextOf(accepted), LONG);
      expect(response.headers.get('content-encoding')).toBeNull();
      expect(await response.json()).toEqual(LONG);
    },
  );

  test('that is short is not compressed, so that verification stays cheap', async () => {
    const response = await jsonResponse(contextOf('gzip'), { ok: true });
    expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([null, null]);
  });

  test('that is very long is compressed completely', async () => {
    const value = Array.from({ length: 20_000 }, (_, index) => `usr_${index}`);
    const response = await jsonResponse(contextOf('gzip'), value);
    expect(JSON.parse(await decoded(response))).toEqual(value);
  });
});

describe('a response made by a handler', () => {
  const compress = compressor();
  const request = contextOf('gzip').request;
  const page = (headers: Record<string, string> = {}) =>
    new Response('<p>gatehouse</p>'.repeat(200), {
      status: 404,
      headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
    });

  test('keeps its status, headers and text when it is compressed', async () => {
    const response = await compress(request, page({ 'X-Frame-Options': 'DENY' }));
    expect([
      response.status,
      response.headers.get('content-encoding'),
      response.headers.get('x-frame-options'),
    ]).toEqual([404, 'gzip', 'DENY']);
    expect(await decoded(response)).toBe('<p>gatehouse</p>'.repeat(200));
  });

  test('gets a weak ETag when it is compressed, since its bytes differ', async () => {
    for (const _ of ['made', 'kept']) {
      const response = await compress(request, page({ ETag: '"abc"' }));
      expect(response.headers.get('etag')).toBe('W/"abc"');
      expect(await decoded(response)).toBe('<p>gatehouse</p>'.repeat(200));
    }
  });

  test.each([
    ['a picture', { 'Content-Type': 'image/webp' }],
    ['a stream of events, whose client waits for each', { 'Content-Type': 'text/event-stream' }],
    ['what is coded already', { 'Content-Encoding': 'br' }],
  ])('is not compressed when it is %s', async (_, headers) => {
    const response = page(headers);
    expect(await compress(request, response)).toBe(response);
  });

  test('without a body is not compressed', async () => {
    const response = new Response(null, { status: 304, headers: { 'Content-Type': 'text/html' } });
    expect(await compress(request, response)).toBe(response);
  });
});
