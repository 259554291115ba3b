import { describe, expect, test } from 'bun:test';
import { AppError, ERROR_CATALOGUE } from '@/core/error.ts';
import { mintSecret } from '@/core/secret.ts';
import { systemRandom } from '@/core/random.ts';
import { errorMapper, type Style } from '@/http/errors.ts';
import { contextFactory } from '@/http/request-context.ts';
import { createLog } from '@/log.ts';
import { loadConfig } from '@/config.ts';
import { createInstance } from '../support/instance.ts';
import { appOver, rawCall } from './app-over.ts';

function mapper() {
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void logLines.push(line) });
  const create = contextFactory(loadConfig({}), { clock: { now: () => 0 }, log, peerAddress: () => null });
  const respond = errorMapper({ log, renderPage: ({ message }, { requestId }) => `<p>${message} ${requestId}</p>` });
  return async (error: unknown, style: Style) => {
    const context = create(new Request('http://localhost/'));
    const response = respond(error, context, style);
    const text = await response.text();
    return { response, text, logLines, requestId: context.requestId };
  };
}

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('an error response', () => {
  const refusal = new AppError('invalid_request', { fields: [{ path: 'name', message: 'Give a name.' }] });

  test.each([
    ['envelope', { success: false, error: 'invalid_request' }],
    ['flat', { success: false, error: 'invalid_request' }],
    ['session', { ok: false, error: 'invalid_request' }],
    ['verify', { success: false, error: 'invalid_request' }],
  ] as const)('has exactly the %s shape', async (style, shape) => {
    const { response, text, requestId, logLines } = await mapper()(refusal, style);
    expect(response.status).toBe(400);
    expect(JSON.parse(text)).toEqual({
      ...shape,
      message: ERROR_CATALOGUE.invalid_request.message,
      requestId,
      fields: [{ path: 'name', message: 'Give a name.' }],
    });
    expect(logLines).toEqual([]);
  });

  test('for people is a page without scripts', async () => {
    const { response, text } = await mapper()(new AppError('not_found'), 'page');
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain(ERROR_CATALOGUE.not_found.message);
  });

  test('never contains its cause, and has "fields" only when there are some', async () => {
    const { text } = await mapper()(new AppError('conflict', { cause: new Error('inner detail') }), 'envelope');
    expect(text).not.toContain('inner detail');
    expect(JSON.parse(text)).not.toHaveProperty('fields');
  });

  test('has Retry-After for a wait, and asks for a bearer token with a 401', async () => {
    const limited = await mapper()(new AppError('rate_limited', { retryAfterSeconds: 17 }), 'verify');
    expect([limited.response.status, limited.response.headers.get('retry-after')]).toEqual([429, '17']);
    const stranger = await mapper()(new AppError('unauthenticated'), 'envelope');
    expect(stranger.response.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('an internal error', () => {
  const token = mintSecret('apiKey', systemRandom);
  const fault = new TypeError(`cannot read ${token}`, {
    cause: new Error('mail to ada@example.com failed', { cause: 'est_0123456789abcdef was refused' }),
  });

  test.each(['envelope', 'flat', 'session', 'verify', 'page'] as const)(
    'is reported as internal without details, in the %s shape',
    async (style) => {
      const { response, text, requestId } = await mapper()(fault, style);
      expect(response.status).toBe(500);
      expect(text).toContain(requestId);
      for (const internal of ['cannot read', 'TypeError', 'ada@example.com', 'eak_', 'errors.test.ts'])
        expect(text).not.toContain(internal);
      if (style !== 'page') expect(Object.values(JSON.parse(text))).toContain('internal');
    },
  );

  test('is logged once with request id, stack and causes, and without secrets', async () => {
    const { logLines, requestId } = await mapper()(fault, 'envelope');
    expect(logLines).toHaveLength(1);
    expect(JSON.parse(logLines[0]!)).toMatchObject({
      level: 'error',
      requestId,
      err: {
        type: 'TypeError',
        message: 'cannot read eak_[redacted]',
        stack: expect.stringContaining('errors.test.ts'),
        cause: { message: 'mail to [redacted] failed', cause: 'est_[redacted] was refused' },
      },
    });
    expect(logLines[0]).not.toContain(token.slice(4));
    expect(logLines[0]).not.toContain('ada@example.com');
  });

  test.each([[undefined], [null], ['a text'], [{ code: 'not_found', status: 404 }], [new Error('')]])(
    'is the response to any thrown value except an AppError: %p',
    async (thrown) => {
      const { response, text } = await mapper()(thrown, 'envelope');
      expect([response.status, JSON.parse(text).error]).toEqual([500, 'internal']);
    },
  );

  test('is answered even when it is its own cause', async () => {
    const circular = new Error('round');
    circular.cause = circular;
    const { response, logLines } = await mapper()(circular, 'envelope');
    expect([response.status, logLines.length]).toEqual([500, 1]);
  });

  test('in a handler is internal to the caller, and logged with its cause', async () => {
    const instance = await createInstance();
    const { app, log } = appOver(instance);
    // SQL damages the database.
    instance.sqlite.run('DROP TABLE setup_links');
    const token = mintSecret('setup', systemRandom);
    const response = await app.fetch(
      new Request('http://localhost/api/setup', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token, email: 'ada@example.com' }),
      }),
    );
    const json = (await response.json()) as Record<string, unknown>;
    expect([response.status, json['error'], json['message']]).toEqual([
      500,
      'internal',
      ERROR_CATALOGUE.internal.message,
    ]);
    expect(JSON.stringify(json)).not.toContain('setup_links');
    const failures = log.filter(({ level }) => level === 'error');
    expect(failures).toHaveLength(1);
    expect(JSON.stringify(failures[0])).toMatch(/no such table|does not exist/);
    expect(JSON.stringify(log)).not.toContain(token.slice(4));
    expect(JSON.stringify(log)).not.toContain('ada@example.com');
  });
});

describe('an unknown path', () => {
  test.each([
    ['/nothing'],
    ['/api'],
    ['/api/applications/a/b/c/d'],
    ['/test/outbox'],
    ['/API/APPLICATIONS'],
    ['/%E0%A4%A'],
  ])('is a 404 in JSON, with and without a credential: %s', async (path) => {
    const instance = await createInstance();
    for (const token of [undefined, instance.workspaceKey]) {
      const answer = await instance.call('GET', path, { token, headers: { accept: '*/*' } });
      expect([answer.status, answer.json]).toEqual([
        404,
        {
          success: false,
          error: 'not_found',
          message: ERROR_CATALOGUE.not_found.message,
          requestId: answer.headers.get('x-request-id'),
        },
      ]);
    }
  });

  test('is a page for a browser, and JSON for its scripts', async () => {
    const instance = await createInstance();
    const page = await instance.call('GET', '/nothing<script>', { headers: BROWSER });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toStartWith('<!doctype html>');
    expect(page.text).toContain(page.headers.get('x-request-id')!);
    expect(page.text).not.toContain('nothing<script>');
    const posted = await instance.call('POST', '/nothing', { headers: BROWSER, body: {} });
    expect([posted.status, posted.json.error]).toEqual([404, 'not_found']);
  });
});

describe('an unsupported method', async () => {
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
  const { app } = await createInstance();
  const paths = Map.groupBy(app.operations, ({ path }) => path);

  test.each([...paths.keys()].map((path) => [path]))('is a 405 with the supported methods: %s', async (path) => {
    // Another operation may match the same path: /users/bulk is also the user with the id "bulk".
    const called = path.replace(/:\w+/g, 'x');
    const fits = (pattern: string) =>
      pattern.split('/').length === called.split('/').length &&
      pattern.split('/').every((part, index) => part.startsWith(':') || part === called.split('/')[index]);
    const methods = [...paths]
      .filter(([other]) => fits(other))
      .flatMap(([, group]) => group.map(({ method }) => method));
    const allowed = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].toSorted();
    const instance = await createInstance();
    // A CORS preflight is answered for every method.
    const { headers: preflight } = await rawCall(instance, 'OPTIONS', called);
    const taken = preflight.has('access-control-allow-origin') ? [...allowed, 'OPTIONS'] : allowed;
    for (const method of METHODS.filter((candidate) => !taken.includes(candidate))) {
      const { status, headers, text } = await rawCall(instance, method, called);
      expect([method, status, headers.get('allow')]).toEqual([method, 405, allowed.join(', ')]);
      if (method !== 'HEAD') expect(JSON.parse(text).error).toBe('method_not_allowed');
    }
  });
});
