import { beforeEach, describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { AppError } from '@/core/error.ts';
import { textsFor } from '@/i18n/catalogue.ts';
import { devicePageRoute } from '@/pages/device/route.tsx';
import { type Application, findApplication } from '@/store/applications.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const BASE_URL = 'https://auth.example.com';

let instance: Instance;
let application: Application;

beforeEach(async () => {
  instance = await createInstance();
  application = await instance.createApplication({ name: 'Acme' });
});

/** Opens the page from a client address; the code BCDF-GHJK belongs to the application. */
async function open(query: string, ip = '203.0.113.7'): Promise<Response> {
  const route = devicePageRoute({
    findDeviceGrant: async (userCode) =>
      userCode === 'BCDFGHJK' ? (await findApplication(instance.db.reader, application.id))! : null,
    limiter: instance.services.limiter,
    limits: instance.config.limits,
    baseUrl: () => BASE_URL,
    providerFor: async () => ({ name: 'Google' }),
    wrongTriesPerCode: instance.config.limits.wrongTriesPerCode,
    isMailOff: async () => false,
    isDev: false,
  });
  const request = new Request(`${BASE_URL}/device${query}`);
  return route.handle({ context: { request, ip, headers: {} } } as never) as Promise<Response>;
}

async function refusalOf(query: string, ip?: string): Promise<string | null> {
  try {
    await open(query, ip);
    return null;
  } catch (error) {
    return (error as AppError).code;
  }
}

test('without a code the page asks for one, is not cached and sends no referrer', async () => {
  const answer = await instance.call('GET', '/device', { headers: { accept: 'text/html' } });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('id="user-code"');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect((await instance.call('GET', '/device?code=%20')).status).toBe(200);
});

test.each(['BCDF-GHJK', 'bcdfghjk', 'bcdf%20ghjk'])('a valid code (%s) leads to its application', async (code) => {
  const answer = await open(`?code=${code}&locale=de`);
  expect(answer.status).toBe(200);
  const page = await answer.text();
  expect(page).toContain(textsFor('de')('signin.title', { app: 'Acme' }));
  const data = JSON.parse(/id="page-data">(.*)<\/script>/.exec(page)![1]!);
  expect(data.props).toMatchObject({
    locale: 'de',
    userCode: 'BCDF-GHJK',
    application: { id: application.id, clientId: application.clientId, name: 'Acme' },
    methods: { isCodeAllowed: true, passkeyHost: 'auth.example.com' },
  });
});

test('the provider returns to the same page', async () => {
  const page = await (await open('?code=bcdfghjk&locale=de')).text();
  const [, link = ''] = /<a id="provider" href="([^"]+)"/.exec(page) ?? [];
  const start = new URL(link.replaceAll('&amp;', '&'));
  expect(start.origin + start.pathname).toBe(`${BASE_URL}/api/auth/google/start`);
  expect(start.searchParams.get('clientId')).toBe(application.clientId);
  expect(start.searchParams.get('returnTo')).toBe(`${BASE_URL}/device?code=BCDF-GHJK&locale=de`);
});

test.each(['CCDF-GHJK', 'nonsense', '%3Cscript%3E'])(
  'an invalid code (%s) is 404, with the form and a message',
  async (code) => {
    const answer = await open(`?code=${code}`);
    expect(answer.status).toBe(404);
    const page = await answer.text();
    expect(page).toContain('This code is not right or has expired.');
    expect(page).toContain('id="user-code"');
    expect(page).not.toContain('<script>');
  },
);

test('an archived application accepts no devices', async () => {
  await given.application(instance, application.id, { archivedAt: 1 });
  expect(await refusalOf('?code=bcdfghjk')).toBe('application_archived');
});

describe('wrong codes', () => {
  const guess = async (count: number, ip?: string) => {
    for (let tried = 0; tried < count; tried += 1) expect((await open('?code=CCDFGHJK', ip)).status).toBe(404);
  };

  test('one client address may enter ten wrong codes in 15 minutes; then right ones are refused too', async () => {
    await guess(10);
    expect(await refusalOf('?code=CCDFGHJL')).toBe('rate_limited');
    expect(await refusalOf('?code=BCDFGHJK')).toBe('rate_limited');
    expect(await refusalOf('?code=BCDFGHJK', '203.0.113.8')).toBeNull();
    expect(await refusalOf('')).toBeNull();
    instance.clock.advance(15 * MINUTE);
    expect(await refusalOf('?code=BCDFGHJK')).toBeNull();
  });

  test('concurrent wrong codes are limited to ten as well, and the right one after them is refused', async () => {
    const codes = [...Array.from({ length: 30 }, () => 'CCDFGHJK'), 'BCDFGHJK'];
    const refusals = await Promise.all(codes.map((code) => refusalOf(`?code=${code}`)));
    expect(refusals.map((refusal) => refusal ?? 'answered')).toEqual([
      ...Array.from({ length: 10 }, () => 'answered'),
      ...Array.from({ length: 21 }, () => 'rate_limited'),
    ]);
  });

  test('alone are counted: neither right codes nor malformed ones are', async () => {
    for (let tried = 0; tried < 20; tried += 1) {
      expect((await open('?code=BCDFGHJK')).status).toBe(200);
      expect((await open('?code=typo')).status).toBe(404);
    }
    await guess(10);
    expect(await refusalOf('?code=BCDFGHJK')).toBe('rate_limited');
  });
});
