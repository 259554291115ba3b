/** The account's profile, addresses and applications on the hosted page, checked against the API. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { BLUE, isNear, RED, stripedPng } from '../modules/images/pictures.ts';
import { type EphemeralServer, eventually, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { answering, asked, choose, createApplication, pixelOf } from './account-reader.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

const OWNER = 'owner@example.test';
const HOME = {
  kind: 'shipping',
  recipient: 'Ada Lovelace',
  line1: '12 St James’s Square',
  city: 'London',
  country: 'GB',
  label: 'Home',
};

let server: EphemeralServer;
let page: Page;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

beforeEach(async () => {
  page = await openBrowserPage();
  await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'cookies,local_storage' });
});
afterEach(async () => {
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !url.startsWith(server.url))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
  page.close();
});

const addressOf = (part: string, clientId = server.clientId) => `${server.url}/account/${part}?clientId=${clientId}`;

/** Opens a part of the account and signs in by code. */
async function openPart(part: string, email: string, clientId = server.clientId): Promise<void> {
  await page.open(addressOf(part, clientId));
  await page.untilVisible('#email-form');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(await outboxCode(server, email));
  await page.untilVisible('main.account-part');
}

/** Scrolls to an element, since the page is longer than the phone, and clicks it. */
async function click(selector: string): Promise<void> {
  await page.untilVisible(selector);
  await page.untilLoaded();
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
  await page.view.click(selector);
}

async function fill(selector: string, text: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
  await page.fill(selector, text);
}

const valueOf = (selector: string) => page.evaluate<string>(`document.querySelector('${selector}').value`);

describe('the profile', () => {
  test('a saved name is shown after a reload and returned by the session endpoint', async () => {
    await openPart('profile', 'ada@example.com');
    await fill('#fullName', 'Ada King, Countess of Lovelace');
    await fill('#givenName', 'Ada');
    await page.view.press('Enter');
    await page.untilText('#toast', /^Saved\.$/);
    await page.view.reload();
    await page.untilVisible('#names-form');
    expect(await valueOf('#fullName')).toBe('Ada King, Countess of Lovelace');
    expect(await valueOf('#givenName')).toBe('Ada');
    const { token } = await signIn(server, 'ada@example.com', server.clientId);
    const { json } = await request(server, 'POST', '/api/v1/session', { token });
    expect(json).toMatchObject({ name: 'Ada King, Countess of Lovelace' });
  });

  test('a refused value is marked under its field, and a failed change is reverted', async () => {
    await openPart('profile', 'refused@example.com');
    await fill('#fullName', 'x'.repeat(101));
    await click('#names-save');
    await page.untilText('#fullName-error', /at most 100 characters/);
    await page.untilText('#toast', /Nothing was saved/);
    await fill('#fullName', 'Grace');
    await click('#names-save');
    await page.untilText('#toast', /^Saved\.$/);
    expect(await page.text('#fullName-error')).toBe('');

    await page.evaluate(`document.querySelector('nav a[href*="applications"]').click()`);
    await page.untilVisible('[data-action=inactivate]');
    await answering(page, '/api/account/inactivate', 500, { success: false, error: 'internal', requestId: 'req_1' });
    await click('[data-action=inactivate]');
    await click('#leaving-dialog-confirm');
    await page.untilText('#toast', /Something went wrong on our side.+req_1/);
    expect(await page.text('#applications .row')).toContain('Active');
  });

  test('a username is validated while it is typed, and reported as taken even if that happens before it is saved', async () => {
    const { token } = await signIn(server, 'holder@example.com', server.clientId);
    await request(server, 'PATCH', '/api/account/username', { token, body: { username: 'taken.name' } });
    await openPart('profile', 'wants@example.com');
    await fill('#username', 'Taken.Name');
    await page.untilText('#username-error', /Somebody has this username already/);
    await fill('#username', 'admin');
    await page.untilText('#username-error', /reserved/);
    await fill('#username', 'free.name');
    await page.untilText('#username-verdict', /^free\.name is free\.$/);
    expect(await page.text('#username-error')).toBe('');

    await request(server, 'PATCH', '/api/account/username', { token, body: { username: 'free.name' } });
    await click('#username-save');
    await page.untilText('#username-error', /Somebody has this username already/);
    expect(await page.isVisible('#username-drop')).toBe(false);

    await fill('#username', 'wants');
    await page.view.press('Enter');
    await page.untilText('#toast', /^Saved\.$/);
    expect((await asked(server, 'wants@example.com', '/api/account')).username).toBe('wants');
    await click('#username-drop');
    await page.untilText('#drop-dialog', /Give up wants\?/);
    await click('#drop-dialog-confirm');
    await page.untilText('#toast', /no username/);
    expect((await asked(server, 'wants@example.com', '/api/account')).username).toBeNull();
  });

  test('choosing a language changes the page, and time zone and region are saved', async () => {
    await openPart('profile', 'language@example.com');
    await choose(page, '#timezone', 'Europe/Vienna');
    await page.untilText('#timezone-hint', /It is .+ there now/);
    await choose(page, '#country', 'AT');
    await choose(page, '#currency', 'EUR');
    await choose(page, '#measurementSystem', 'metric');
    await click('#region-save');
    await page.untilText('#toast', /^Saved\.$/);
    await choose(page, '#locale', 'de');
    await leaving(page, () => click('#locale-save'));
    expect((await page.address()).searchParams.get('locale')).toBe('de');
    await page.untilVisible('#locale');
    expect(await valueOf('#locale')).toBe('de');
    expect(await valueOf('#timezone')).toBe('Europe/Vienna');
    expect(await valueOf('#currency')).toBe('EUR');
    const { identity, region } = await asked(server, 'language@example.com', '/api/account');
    expect(identity).toMatchObject({ locale: 'de', timezone: 'Europe/Vienna' });
    expect(region).toMatchObject({ country: 'AT', currency: 'EUR', measurementSystem: 'metric' });
  });

  test('languages are added, changed and removed', async () => {
    await openPart('profile', 'speaks@example.com');
    await click('#language-add');
    await page.untilVisible('#language-dialog');
    await click('#language-save');
    await page.untilText('#language-code-error', /required/);
    await choose(page, '#language-code', 'el');
    await choose(page, '#language-level', 'BASIC');
    await click('#language-save');
    await page.untilText('#toast', /^Greek was added\.$/);
    await choose(page, '#languages .row select', 'NATIVE');
    await page.untilText('#toast', /^Greek: Native$/);
    const { items } = await asked(server, 'speaks@example.com', '/api/account/profile/languages');
    expect(items).toEqual([{ code: 'el', level: 'NATIVE' }]);

    await click('#languages .row button');
    await page.untilText('#toast', /^Greek was removed\.$/);
    await page.untilVisible('#languages .empty');
  });
});

describe('a picture', () => {
  const PICTURE = stripedPng(900, 300, (y) => (y < 150 ? RED : BLUE));

  /** Chooses a file in a field, or drops it on the row. */
  const give = (bytes: Buffer | string, type: string, how: 'choose' | 'drop') =>
    page.evaluate(`(() => {
      const bytes = Uint8Array.fromBase64(${JSON.stringify(Buffer.from(bytes).toString('base64'))});
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], 'me', { type: ${JSON.stringify(type)} }));
      if (${how === 'drop'}) {
        document.querySelector('#avatar').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      } else {
        const field = document.querySelector('#avatar-file');
        field.files = dataTransfer.files;
        field.dispatchEvent(new Event('change', { bubbles: true }));
      }
    })()`);

  test('is cropped with the keyboard alone, uploaded, shown and removed', async () => {
    await openPart('profile', 'picture@example.com');
    await give(PICTURE, 'image/png', 'choose');
    await page.untilVisible('#crop-dialog');
    // Doubled in size and moved to the lower edge, only the lower half remains.
    await page.evaluate(`document.querySelector('.crop').focus()`);
    for (let press = 0; press < 8; press++) await page.pressKeys('+');
    for (let press = 0; press < 30; press++) await page.view.press('ArrowDown');
    expect(Number(await valueOf('#crop-zoom'))).toBeGreaterThan(2);
    await page.evaluate(`document.querySelector('#crop-save').focus()`);
    await page.view.press('Enter');
    await page.untilText('#toast', /picture was saved/);
    const { avatarUrl } = await asked(server, 'picture@example.com', '/api/account');
    expect(await page.evaluate<string>(`document.querySelector('.avatar img').src`)).toBe(avatarUrl);
    for (const y of [0.1, 0.9]) expect(isNear(await pixelOf(page, avatarUrl, 0.5, y), BLUE)).toBe(true);

    await click('#avatar-remove');
    await click('#remove-picture-confirm');
    await page.untilText('#toast', /picture was removed/);
    expect(await page.isVisible('.avatar img')).toBe(false);
    expect((await asked(server, 'picture@example.com', '/api/account')).avatarUrl).toBeNull();
  });

  test('is dropped on the page, moved by dragging and zoomed with the slider', async () => {
    await openPart('profile', 'drops@example.com');
    await give(PICTURE, 'image/png', 'drop');
    await page.untilVisible('#crop-dialog');
    await page.evaluate(`(() => {
      const zoom = document.querySelector('#crop-zoom');
      zoom.value = 3;
      zoom.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    const { x, y } = await page.evaluate<{ x: number; y: number }>(
      `(() => { const box = document.querySelector('.crop').getBoundingClientRect(); return { x: box.x + 100, y: box.y + 20 }; })()`,
    );
    const mouse = (type: string, dy: number) =>
      page.view.cdp('Input.dispatchMouseEvent', { type, x, y: y + dy, button: 'left', buttons: 1, clickCount: 1 });
    await mouse('mousePressed', 0);
    for (const dy of [40, 120, 250]) await mouse('mouseMoved', dy);
    await mouse('mouseReleased', 250);
    await click('#crop-save');
    await page.untilText('#toast', /picture was saved/);
    const { avatarUrl } = await asked(server, 'drops@example.com', '/api/account');
    for (const share of [0.1, 0.9]) expect(isNear(await pixelOf(page, avatarUrl, 0.5, share), RED)).toBe(true);
  });

  test('is refused by the page or the server, with the reason, if it is not an image', async () => {
    await openPart('profile', 'no-picture@example.com');
    await give('no picture at all', 'image/png', 'choose');
    await page.untilText('#avatar-file-error', /cannot be used as a picture/);
    await give(PICTURE, 'image/png', 'choose');
    await page.untilVisible('#crop-dialog');
    expect(await page.text('#avatar-file-error')).toBe('');
    await answering(page, '/api/account/self/images', 413, { success: false, error: 'payload_too_large' });
    await click('#crop-save');
    await page.untilText('#crop-error', /at most 10 MB/);
    await page.view.press('Escape');
    await eventually('the dialog is gone', async () => !(await page.isVisible('#crop-dialog')));
  });
});

describe('addresses', () => {
  test('are added with missing fields marked, changed, and removed after a confirmation', async () => {
    await openPart('addresses', 'lives@example.com');
    await click('#address-add');
    await page.untilVisible('#address-dialog');
    await click('#address-save');
    await page.untilText('#address-recipient-error', /required/);
    await fill('#address-recipient', 'Ada Lovelace');
    await fill('#address-line1', '12 St James’s Square');
    await fill('#address-city', 'London');
    await choose(page, '#address-country', 'GB');
    await fill('#address-phone', 'none');
    await click('#address-save');
    await page.untilText('#address-postalCode-error', /required/);
    await fill('#address-postalCode', 'SW1Y 4JH');
    await click('#address-save');
    await page.untilText('#address-phone-error', /telephone number/);
    await fill('#address-phone', '+44 20 7946 0018');
    await click('#address-save');
    await page.untilText('#toast', /address was added/);
    await page.untilText(
      '#addresses .row',
      /Deliveries.+Default[^]+12 St James’s Square, London SW1Y 4JH\s· United Kingdom/,
    );

    await click('#entity-add');
    await page.untilVisible('#entity-dialog');
    await fill('#entity-legalName', 'Engines Ltd');
    await choose(page, '#entity-country', 'GB');
    const { items } = await asked(server, 'lives@example.com', '/api/account/profile/addresses');
    await choose(page, '#entity-address', items[0].id);
    await click('#entity-save');
    await page.untilText('#entities .row', /Engines Ltd/);

    await click('#addresses .row-actions button:first-child');
    await page.untilVisible('#address-dialog');
    await fill('#address-label', 'Office');
    await page.view.press('Enter');
    await page.untilText('#addresses .row', /^Office/);

    await click('#addresses .row-actions button:last-child');
    await click('#remove-address-confirm');
    await page.untilText('#toast', /address was removed/);
    await page.untilVisible('#addresses .empty');
    const entities = await asked(server, 'lives@example.com', '/api/account/profile/entities');
    expect(entities.items).toMatchObject([{ legalName: 'Engines Ltd', addressId: null }]);
  });

  test('are added with the keyboard alone', async () => {
    await openPart('addresses', 'keys@example.com');
    await page.untilVisible('#addresses .empty');
    await page.evaluate(`document.querySelector('#address-add').focus()`);
    await page.view.press('Enter');
    await page.untilFocused('address-kind');
    for (const [field, text] of [
      ['country', 'Austri'],
      ['recipient', 'Ada'],
      ['company', ''],
      ['line1', 'Ring 1'],
      ['line2', ''],
      ['postalCode', '1010'],
      ['city', 'Wien'],
      ['phone', '+43 1'],
    ] as const) {
      await page.view.press('Tab');
      await page.untilFocused(`address-${field}`);
      await page.pressKeys(text);
    }
    await page.view.press('Enter');
    await page.untilText('#addresses .row', /Ada[^]+Ring 1, 1010 Wien\s· Austria\s· \+43 1/);
    await eventually('the dialog is gone', async () => !(await page.isVisible('#address-dialog')));
  });

  test.each([
    ['AT', ['line1', 'line2', 'postalCode', 'city'], 'Postal code', null],
    ['US', ['line1', 'line2', 'city', 'region', 'postalCode'], 'ZIP code', 'State'],
    ['JP', ['postalCode', 'region', 'city', 'line1', 'line2'], 'Postal code', 'Prefecture'],
    ['HK', ['line1', 'line2', 'city', 'region'], null, 'State or region (optional)'],
    ['PE', ['line1', 'line2', 'postalCode', 'city', 'region'], 'Postal code (optional)', 'State or region (optional)'],
  ])('are asked for as they are written in %s', async (country, order, code, region) => {
    await openPart('addresses', 'places@example.com');
    await click('#address-add');
    await page.untilVisible('#address-dialog');
    await choose(page, '#address-country', country);
    const shown = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('#address-dialog input')].map(({ id }) => id.replace('address-', ''))
          .filter((id) => ['line1', 'line2', 'postalCode', 'city', 'region'].includes(id))`,
      );
    expect(await shown()).toEqual(order);
    const label = (name: string) => page.text(`label[for="address-${name}"]`).catch(() => '');
    expect([(await label('postalCode')) || null, (await label('region')) || null]).toEqual([code, region]);
    expect(await page.sidewaysScroll()).toBe(0);
  });

  test('keep a region that was typed before a country without regions was chosen', async () => {
    await openPart('addresses', 'moves@example.com');
    await click('#address-add');
    await page.untilVisible('#address-dialog');
    await choose(page, '#address-country', 'US');
    await fill('#address-region', 'Ohio');
    await choose(page, '#address-country', 'AT');
    expect(await page.evaluate<string>(`document.querySelector('#address-region').value`)).toBe('Ohio');
  });

  /** Waits for the codes of two sign-ins and then of proofs. */
  const codesAre = (count: number) =>
    eventually(`${count} codes`, async () => {
      const { json } = await request(server, 'GET', `/test/outbox?to=${encodeURIComponent(OWNER)}`);
      return json.data.items.filter(({ code }: { code: string | null }) => code !== null).length === count;
    });

  test('from other applications are shown and changed after a proof by mail', async () => {
    const { token } = await signIn(server, OWNER);
    const { json } = await request(server, 'POST', '/api/account/profile/addresses', { token, body: HOME });
    await openPart('addresses', OWNER);
    await page.untilVisible('#addresses .empty');
    await click('#show-elsewhere');
    await page.untilVisible('#proof');
    await codesAre(3);
    await page.view.press('Escape');
    await eventually('the question is gone', async () => !(await page.isVisible('#proof')));
    expect(await page.isVisible('#addresses .row')).toBe(false);

    await request(server, 'POST', '/test/clock', { body: { advanceMs: 120_000 } });
    await click('#show-elsewhere');
    await page.untilText('#proof', new RegExp(OWNER));
    await page.untilFocused('code');
    await codesAre(4);
    await eventually('the code can be typed', () => page.evaluate(`!document.getElementById('code').readOnly`));
    await page.pressKeys(await outboxCode(server, OWNER));
    await page.untilText('#addresses .row', /^Home/);
    await click('#addresses .row-actions button:last-child');
    await click('#remove-address-confirm');
    await page.untilText('#toast', /address was removed/);
    const left = await request(server, 'GET', '/api/account/profile/addresses', { token });
    expect(left.json.data.items.map(({ id }: { id: string }) => id)).not.toContain(json.data.id);
  });
});

describe('applications', () => {
  test('are paused and resumed; leaving the current one signs out, and signing in rejoins it', async () => {
    const forum = await createApplication(server, 'Forum');
    await signIn(server, 'member@example.com', forum.clientId);
    await openPart('applications', 'member@example.com');
    const row = (n: number) => `#applications .row:nth-child(${n})`;
    await page.untilText(row(1), /^Forum/);
    await click(`${row(1)} [data-action=inactivate]`);
    await page.untilText('#leaving-dialog', /You are signed out of Forum everywhere\. What you have there stays/);
    await click('#leaving-dialog-confirm');
    await page.untilText('#toast', /^Forum is paused\.$/);
    await page.untilText(row(1), /Paused by you/);
    await click(`${row(1)} [data-action=reactivate]`);
    await page.untilText('#toast', /^You can use Forum again\.$/);

    expect(await page.text(row(2))).toContain('You are here');
    await click(`${row(2)} [data-action=leave]`);
    await page.untilText('#leaving-dialog', /on this page too/);
    await click('#leaving-dialog-confirm');
    await page.untilVisible('#email-form');
    const { memberships } = await asked(server, 'member@example.com', '/api/account', forum.clientId);
    expect(memberships.map(({ status }: { status: string }) => status).sort()).toEqual(['active', 'left']);
    await page.view.reload();
    await page.untilVisible('#email-form');
  });

  test('are separate: the cookie of one opens no account page of another', async () => {
    const shop = await createApplication(server, 'Shop');
    await openPart('profile', 'two-places@example.com');
    await page.untilVisible('#names-form');
    await page.open(addressOf('profile', shop.clientId));
    await page.untilVisible('#accounts');
    expect(await page.isVisible('#names-form')).toBe(false);
    const status = await page.evaluate<number>(
      `fetch('/api/account', { headers: { 'gatehouse-client': ${JSON.stringify(shop.clientId)} } }).then(({ status }) => status)`,
    );
    expect(status).toBe(401);
    await page.open(addressOf('profile'));
    await page.untilVisible('#names-form');
  });
});
