import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';

const PATH = '/openapi.yaml';
const JSON_PATH = '/openapi.json';

describe('the description of the API', () => {
  test('is public and names the served operations', async () => {
    const { status, headers, text } = await (await createInstance()).call('GET', PATH);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8']);
    expect(text).toStartWith('openapi: ');
    for (const path of [PATH, '/api/v1/session', '/healthz']) expect(text).toContain(path);
  });

  test.each([PATH, JSON_PATH])('%s is revalidated by ETag', async (path) => {
    const instance = await createInstance();
    const { headers, text } = await instance.call('GET', path);
    const etag = headers.get('etag')!;
    expect(etag).toMatch(/^"\w+"$/);
    for (const known of [etag, `W/${etag}`]) {
      const again = await instance.call('GET', path, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    const other = await instance.call('GET', path, { headers: { 'if-none-match': '"another"' } });
    expect([other.status, other.text]).toEqual([200, text]);
  });

  test('names no address, so it fits every server; only the cookie’s name differs', async () => {
    const environment = { GATEHOUSE_BASE_URL: 'https://id.example.com' };
    const [here, there] = [await createInstance(), await createInstance({ environment })];
    const [plain, secure] = [await here.call('GET', PATH), await there.call('GET', PATH)];
    expect([plain.text, secure.text].filter((text) => /id\.example\.com|localhost/.test(text))).toEqual([]);
    expect(secure.text.replace('"__Host-gatehouse"', 'gatehouse')).toBe(plain.text);
    expect(plain.headers.get('etag')).not.toBe(secure.headers.get('etag'));
  });
});
