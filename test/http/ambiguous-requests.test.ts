/** Requests that two parsers could read differently are refused: two Host headers, a byte order mark before JSON. */
import { expect, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';
import { rawCall } from './app-over.ts';

test('two Host headers, which arrive as one list, get a 400', async () => {
  const instance = await createInstance({ environment: { GATEHOUSE_HOST: '0.0.0.0' } });
  const { status, json } = await instance.call('GET', '/healthz', { headers: { host: 'localhost, evil.example' } });
  expect([status, json.error, json.message]).toEqual([
    400,
    'invalid_request',
    'Send exactly one Host header, with one name.',
  ]);
});

test('a byte order mark before JSON gets a 400, with and without a declared length', async () => {
  const instance = await createInstance();
  const { clientId } = await instance.createApplication();
  const bytes = Buffer.from(`\ufeff${JSON.stringify({ email: 'ada@example.com', clientId })}`);
  for (const headers of [{}, { 'content-length': String(bytes.length) }] as Record<string, string>[]) {
    const answer = await instance.app.fetch(
      new Request('http://localhost/api/v1/auth/otp/send', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: bytes,
      }),
    );
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([400, 'invalid_request']);
  }
});

test('HEAD declares the length of the GET body for every kind of response', async () => {
  const instance = await createInstance();
  for (const path of ['/healthz', '/sign-in', '/openapi.yaml', '/nothing-here', '/api/applications']) {
    const get = await rawCall(instance, 'GET', path);
    const head = await rawCall(instance, 'HEAD', path);
    expect([path, head.status, head.text, head.headers.get('content-length')]).toEqual([
      path,
      get.status,
      '',
      String(Buffer.byteLength(get.text)),
    ]);
  }
});
