/** Trial links: who may create them, and that the sign-in page shows a token for nothing else. */
import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';

const LIFETIME_MS = 30 * MINUTE;

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication({ returnUrls: ['https://shop.example.com/in'] });
  const trial = (token?: string, id = application.id, body?: unknown) =>
    instance.call('POST', `/api/applications/${id}/sign-in-trial`, { token, body });
  const linkOf = async (id = application.id): Promise<URL> =>
    new URL((await trial(instance.workspaceKey, id)).json.data.url);
  return { instance, application, trial, linkOf };
}

/** Returns whether the page at an address would show the token. */
async function isTrial(instance: Instance, { pathname, searchParams }: URL, change: Record<string, string> = {}) {
  const query = new URLSearchParams({ ...Object.fromEntries(searchParams), ...change });
  const { status, text } = await instance.call('GET', `${pathname}?${query}`);
  expect(status).toBe(200);
  const [, data = ''] = /<script type="application\/json" id="page-data">(.*?)<\/script>/.exec(text) ?? [];
  return JSON.parse(data).props.isTrial as boolean;
}

describe('a trial link', () => {
  test('opens the sign-in page that shows the token, for half an hour', async () => {
    const { instance, application, trial } = await setUp();
    const { status, json } = await trial(instance.workspaceKey);
    expect([status, json.data.expiresAt]).toEqual([200, isoTime(START + LIFETIME_MS)]);
    const link = new URL(json.data.url);
    expect([link.pathname, link.searchParams.get('clientId')]).toEqual(['/sign-in', application.clientId]);
    expect(await isTrial(instance, link)).toBe(true);
    expect(await isTrial(instance, link, { email: 'ada@example.com', locale: 'de' })).toBe(true);
    instance.clock.advance(LIFETIME_MS - 1);
    expect(await isTrial(instance, link)).toBe(true);
    instance.clock.advance(1);
    expect(await isTrial(instance, link)).toBe(false);
  });

  test('shows no token when it was changed, or belongs to another application or server', async () => {
    const { instance, linkOf } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const [link, otherLink] = [await linkOf(), await linkOf(other.id)];
    const trial = link.searchParams.get('trial') ?? '';
    const [expiry = '', hash = ''] = trial.split('.');
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    const flipped = `${hash.startsWith('A') ? 'B' : 'A'}${hash.slice(1)}`;
    const elsewhere = await setUp();
    const foreign = (await elsewhere.linkOf()).searchParams.get('trial') ?? '';
    for (const forged of [
      '',
      '1',
      'true',
      expiry,
      `${expiry}.`,
      `${later}.${hash}`,
      `${expiry}.${flipped}`,
      `${trial}A`,
      otherLink.searchParams.get('trial') ?? '',
      foreign,
    ])
      expect([forged, await isTrial(instance, link, { trial: forged })]).toEqual([forged, false]);
    expect(
      await isTrial(instance, new URL(`${link.origin}/sign-in?clientId=${link.searchParams.get('clientId')}`)),
    ).toBe(false);
  });

  test('shows no token with a return address, which receives the token instead', async () => {
    const { instance, linkOf } = await setUp();
    expect(await isTrial(instance, await linkOf(), { returnTo: 'https://shop.example.com/in' })).toBe(false);
  });
});

describe('creating a trial link', () => {
  test('is allowed with full access, which could redirect the tokens anyway', async () => {
    const { instance, application, trial } = await setUp();
    const full = await instance.createKey(application.id, { access: 'full' });
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    for (const token of [full.token, admin.token]) expect((await trial(token)).status).toBe(200);
  });

  test('is refused to all other callers', async () => {
    const { instance, application, trial } = await setUp();
    const read = await instance.createKey(application.id, { access: 'read' });
    const member = await given.consoleMember(instance, 'member@example.com', 'member');
    const user = await instance.signIn(application.clientId, 'ada@example.com');
    const tenant = await given.tenant(instance);
    const answers = [
      await trial(),
      await trial(user.token),
      await trial(read.token),
      await trial(member.token),
      await trial(tenant.workspaceKey),
      await trial(instance.workspaceKey, tenant.application.id),
      await trial(instance.workspaceKey, 'app_unknown'),
      await trial(instance.workspaceKey, application.id, { minutes: 60 }),
    ];
    expect(answers.map(({ status, json }) => [status, json.error])).toEqual([
      [401, 'unauthenticated'],
      [403, 'forbidden'],
      [403, 'admin_scope_required'],
      [403, 'admin_scope_required'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
      [400, 'invalid_request'],
    ]);
  });
});
