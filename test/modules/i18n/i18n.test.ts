import { describe, expect, test } from 'bun:test';
import { LOCALES } from '@/core/locale.ts';
import { CATALOGUES, SERVICES } from '@/i18n/catalogues.ts';
import { createInstance } from '../../support/instance.ts';

const instance = await createInstance();
const get = (address: string, headers: Record<string, string> = {}) =>
  instance.call('GET', `/api/v1/i18n/${address}`, { headers });

describe('the messages of a service', () => {
  test.each(LOCALES)('are public in %s, or in English if there is no such catalogue', async (locale) => {
    for (const service of SERVICES) {
      const { status, json, headers } = await get(`${service}/${locale}.json`);
      expect([status, json]).toEqual([200, (CATALOGUES[locale] ?? CATALOGUES.en)[service]]);
      expect(headers.get('content-language')).toBe(CATALOGUES[locale] ? locale : 'en');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('cache-control')).toBe('public, max-age=3600');
    }
  });

  test('are ICU messages by flat keys', async () => {
    const { json } = await get('email/en.json');
    expect(json.codeExpiry).toStartWith('{minutes, plural, one {');
    expect(Object.values(json).every((message) => typeof message === 'string')).toBe(true);
  });

  test('are revalidated by ETag', async () => {
    const { headers, text } = await get('signin/en.json');
    const etag = headers.get('etag')!;
    expect(etag).toMatch(/^"en-\w+"$/);
    for (const known of [etag, `W/${etag}`]) {
      const again = await get('signin/en.json', { 'if-none-match': known });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
      expect(again.headers.get('cache-control')).toBe('public, max-age=3600');
    }
    const other = await get('device/en.json', { 'if-none-match': etag });
    expect([other.status, other.headers.get('etag') === etag]).toEqual([200, false]);
    expect((await get('signin/en.json', { 'if-none-match': '"another"' })).text).toBe(text);
  });

  test('may be read by pages of any origin', async () => {
    const { headers } = await get('account/de.json', { origin: 'https://shop.example.com' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each([
    'nothing/en.json',
    'signin/xx.json',
    'signin/pt.json',
    'signin/EN.json',
    'signin/en',
    'signin/en.yaml',
    'signin/en.json.json',
    'constructor/en.json',
    '__proto__/en.json',
    'signin/__proto__.json',
    'signin/.json',
  ])('%s is not found', async (address) => {
    const { status, json } = await get(address);
    expect([status, json.error]).toEqual([404, 'not_found']);
  });

  test('are described with every service and every language', async () => {
    const { json } = await instance.call('GET', '/openapi.json');
    expect(json.paths['/api/v1/i18n/{service}/{locale}.json'].get.operationId).toBe('getCatalogue');
    expect(json.components.parameters.Service.schema.enum).toEqual(SERVICES);
    expect(json.components.parameters.Locale.schema.enum).toEqual([...LOCALES]);
  });
});
