/** Every state of the account page: its parts for a person with data, and the dialogs over them. */
import { ACCOUNT_PARTS, type AccountPart } from '../../src/pages/account/parts.ts';
import { type Colour, stripedPng } from '../modules/images/pictures.ts';
import { outboxCode } from '../support/binary.ts';
import { choose } from '../browser/account-reader.ts';
import type { Page } from '../support/browser.ts';
import { LONG_NAME, press, type Scene, signInTwice, type State, withPasskeys } from './scene.ts';

/** Opens a part for a person with a filled account. @returns their address. */
async function open(
  page: Page,
  scene: Scene,
  part: AccountPart,
  { name, isNamed = false }: { name?: string; isNamed?: boolean } = {},
): Promise<string> {
  const email = scene.newEmail();
  const application = await scene.application('public', name);
  const { token } = await scene.person(email, application);
  const path = scene.address(`/account/${part}`, { clientId: application.clientId });
  const address = isNamed ? path : path.replace(scene.server.url, scene.ownUrl);
  await page.open(address);
  await page.untilVisible('#email-form');
  const headers = JSON.stringify({ authorization: `Bearer ${token}` });
  await page.evaluate(`fetch('/account/session', { method: 'PUT', headers: ${headers} }).then(({ ok }) => ok)`);
  await page.open('about:blank');
  await page.open(address);
  await page.untilVisible('main.account-part h1');
  await page.untilVisible('main:not(:has(.skeleton, [aria-busy=true]))');
  return email;
}

/** A state behind a press over a part, or in it. */
const behind = (name: string, part: AccountPart, selector: string, shown: string): State => ({
  name: `account/${name}`,
  async reach(page, scene) {
    await open(page, scene, part);
    await press(page, selector);
    await page.untilVisible(shown);
  },
});

const SKY: Colour = [214, 228, 236];
const SEA: Colour = [62, 108, 122];

async function givePicture(page: Page): Promise<void> {
  const picture = stripedPng(900, 600, (y) => (y < 380 ? SKY : SEA)).toString('base64');
  await page.evaluate(`(() => {
    const given = new DataTransfer();
    given.items.add(new File([Uint8Array.fromBase64('${picture}')], 'me.png', { type: 'image/png' }));
    const field = document.querySelector('#avatar-file');
    field.files = given.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
  await page.untilVisible('#crop-dialog');
}

/** Enters a code to the present address first, since the session is old. */
async function prove(page: Page, { server }: Scene, email: string): Promise<void> {
  await page.untilVisible('#proof #code:not([readonly])');
  await page.pressKeys(await outboxCode(server, email));
  await page.untilVisible('body:not(:has(#proof))');
}

export const ACCOUNT: readonly State[] = [
  {
    name: 'account/sign-in-first',
    async reach(page, scene) {
      const { clientId } = await scene.application();
      await page.open(scene.address('/account', { clientId }));
      await page.untilVisible('#email-form');
    },
  },
  ...ACCOUNT_PARTS.map((part) => ({
    name: `account/${part}`,
    reach: async (page: Page, scene: Scene) => void (await open(page, scene, part)),
  })),
  {
    name: 'account/menu',
    async reach(page, scene) {
      const { clientId } = await signInTwice(page, scene, await scene.application());
      await page.open(scene.address('/account/devices', { clientId }));
      await press(page, '#account-menu');
      await page.untilVisible('#account-menu-items');
    },
  },
  {
    name: 'account/long-name',
    reach: async (page, scene) => void (await open(page, scene, 'applications', { name: LONG_NAME })),
  },
  {
    name: 'account/crop',
    async reach(page, scene) {
      await open(page, scene, 'profile');
      await givePicture(page);
    },
  },
  {
    name: 'account/picture',
    async reach(page, scene) {
      await open(page, scene, 'profile');
      await givePicture(page);
      await press(page, '#crop-save');
      await page.untilVisible('#avatar-remove');
    },
  },
  behind('address', 'addresses', '#address-add', '#address-dialog'),
  {
    name: 'account/address-wrong',
    async reach(page, scene) {
      await open(page, scene, 'addresses');
      await press(page, '#address-add');
      await page.untilVisible('#address-dialog');
      await press(page, '#address-save');
      await page.untilVisible('#address-dialog [aria-invalid=true]');
    },
  },
  {
    name: 'account/address-us',
    async reach(page, scene) {
      await open(page, scene, 'addresses');
      await press(page, '#address-add');
      await page.untilVisible('#address-dialog');
      await choose(page, '#address-country', 'US');
      await page.untilVisible('#address-region');
    },
  },
  behind('company', 'addresses', '#entity-add', '#entity-dialog'),
  behind('remove-address', 'addresses', '#addresses .row-action .button:last-child', '#remove-address'),
  behind('proof', 'addresses', '#show-elsewhere', '#proof #code:not([readonly])'),
  behind('language', 'profile', '#language-add', '#language-dialog'),
  behind('drop-username', 'profile', '#username-drop', '#drop-dialog'),
  behind('new-email', 'sign-in', '#change-email', '#new-email-form'),
  {
    name: 'account/passkey',
    async reach(page, scene) {
      await withPasskeys(page);
      await open(page, scene, 'sign-in', { isNamed: true });
      await press(page, '#add-passkey');
      await page.untilVisible('#passkeys .row');
    },
  },
  behind('rename-device', 'devices', '#connected .row-action .button:first-child', '#rename'),
  behind('disconnect-device', 'devices', '#connected .row-action .button:last-child', '#disconnect-dialog'),
  behind('pause', 'applications', '[data-action=inactivate]', '#leaving-dialog'),
  {
    name: 'account/close',
    async reach(page, scene) {
      const email = await open(page, scene, 'data');
      await press(page, '#close-account');
      await page.untilVisible('#close-dialog, #proof');
      if (await page.isVisible('#proof')) await prove(page, scene, email);
      await page.untilVisible('#close-dialog');
    },
  },
  {
    name: 'account/close-code',
    async reach(page) {
      await page.fill('#close-typed', await page.text('#close-typed-hint'));
      await press(page, '#close-submit');
      await page.untilVisible('#close-dialog #code');
    },
  },
];
