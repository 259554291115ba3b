/** Roles, scopes and groups in the console: created, renamed, described, counted and deleted. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { findings } from './axe.ts';
import { addMember, type ConsolePage, openConsole, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

const KINDS = [
  { kind: 'roles', collection: 'roles', held: 'roles', one: 'role', title: 'Roles' },
  { kind: 'scopes', collection: 'scopes', held: 'scopes', one: 'scope', title: 'Scopes' },
  { kind: 'groups', collection: 'memberships', held: 'memberships', one: 'group', title: 'Groups' },
] as const;

let server: EphemeralServer;
let page: ConsolePage;
let userId: string;

beforeAll(async () => {
  server = await startEphemeral();
  ({ userId } = await signIn(server, 'ada@example.test', server.clientId));
  await addMember(server, 'reader@example.test', 'member');
});
afterEach(() => page.close());
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

const at = (rest: string) => `/applications/${server.applicationId}/${rest}`;

async function call(method: string, path: string, body?: object): Promise<any> {
  const given = { token: server.workspaceKey, ...(body && { body }) };
  const { status, text, json } = await request(
    server,
    method,
    `/api/applications/${server.applicationId}/${path}`,
    given,
  );
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return json.data;
}

const grantNamed = async (collection: string, slug: string) =>
  (await call('GET', `${collection}?limit=100`)).items.find((grant: { slug: string }) => grant.slug === slug);

/** Returns the texts of the row with this slug. */
const cellsOf = (slug: string) =>
  page.evaluate<string[]>(`(() => {
    const rows = [...document.querySelectorAll('#grants tbody tr')];
    const row = rows.find((one) => [...one.querySelectorAll('code')].some((code) => code.innerText === ${JSON.stringify(slug)}));
    return row ? [...row.cells].map((cell) => cell.innerText.trim()) : [];
  })()`);

test.each(KINDS)('$kind: created, renamed and described without a new slug, and counted', async (words) => {
  const { kind, collection, held, one, title } = words;
  page = await openConsole(server);
  await page.go(at(kind));
  await page.untilText('#main h1', new RegExp(`^${title}$`));
  await page.press('#add-grant');
  await page.untilVisible('#grant-form');
  // The name comes first and suggests the slug.
  expect(await page.evaluate<string>(`document.querySelector('#grant-form input').id`)).toBe('grant-name');
  await page.enter('#grant-name', 'Night watch');
  expect(await page.evaluate<string>(`document.querySelector('#grant-slug').value`)).toBe('night-watch');
  await page.press('#grant-form-submit');
  await page.untilText('#grants', /Night watch/);
  const head = await page.evaluate<string[]>(
    `[...document.querySelectorAll('#grants thead th')].map((cell) => cell.innerText.trim())`,
  );
  expect(head.slice(0, 3)).toEqual(['Name', 'Slug', 'People']);
  expect((await cellsOf('night-watch')).slice(0, 3)).toEqual(['Night watch', 'night-watch', '0']);

  const { id } = await grantNamed(collection, 'night-watch');
  await call('PUT', `users/${userId}/${held}`, { [held]: ['night-watch'] });
  await page.go(at(`${kind}/${id}`));
  await page.untilText('.detail', /People\s+1/);
  await page.press('#change-grant');
  await page.untilVisible('#grant-form');
  // Backends compare the slug, so it stays.
  expect(await page.isVisible('#grant-slug')).toBe(false);
  await page.enter('#grant-name', 'Keepers of the night');
  await page.enter('#grant-description', 'Open the gates after ten.');
  await page.press('#grant-form-submit');
  await page.untilSaid(new RegExp(`The ${one} Keepers of the night is changed\\.`));
  await page.untilText('.detail h2', /^Keepers of the night$/);
  await page.untilText('.detail', /Description\s+Open the gates after ten\./);
  expect(await page.text('.detail')).toContain('night-watch');
  expect((await cellsOf('night-watch')).slice(0, 3)).toEqual(['Keepers of the night', 'night-watch', '1']);
  expect(await grantNamed(collection, 'night-watch')).toMatchObject({
    name: 'Keepers of the night',
    description: 'Open the gates after ten.',
  });
  expect((await call('GET', `users/${userId}`))[held]).toEqual(['night-watch']);
  expect(page.problems).toEqual([]);
});

test('a slug that is taken, or none, is refused in the form, and nothing is created', async () => {
  await call('POST', 'roles', { slug: 'pilot', name: 'Pilot' });
  page = await openConsole(server);
  await page.go(at('roles?new=1'));
  await page.press('#grant-form-submit');
  await page.untilText('#grant-form', /slug/i);
  await page.untilVisible('#grant-slug-error');
  await page.enter('#grant-name', 'Pilot');
  await page.press('#grant-form-submit');
  await page.untilText('#grant-form [role=alert]:not(:empty)', /slug/i);
  expect(await findings(page)).toEqual([]);
  await page.enter('#grant-slug', 'second-pilot');
  await page.press('#grant-form-submit');
  await page.untilText('#grants', /second-pilot/);
  expect(page.problems).toEqual([]);
});

test('the people of a role are one click away, and lose it with the role, whose slug is typed first', async () => {
  const { id } = await call('POST', 'roles', { slug: 'captain', name: 'Captain' });
  await call('PUT', `users/${userId}/roles`, { roles: ['captain'] });
  page = await openConsole(server);
  await page.go(at(`roles/${id}`));
  await page.pressNamed('Show who has it', '.detail');
  await page.untilAddress(/\/users\?role=captain$/);
  await page.untilText('#users', /ada@example\.test/);
  await page.evaluate('history.back()');
  await page.press('#delete-grant');
  await page.untilText('#delete-grant-dialog', /Everybody who has it loses it at once/);
  expect(await page.isVisible('#delete-grant-dialog-submit:disabled')).toBe(true);
  await page.enter('#delete-grant-dialog-name', 'captain');
  await page.press('#delete-grant-dialog-submit');
  await page.untilAddress(/\/roles$/);
  // The list is read again behind the deletion.
  await page.untilText('#main', /^(?![\s\S]*captain)/);
  expect((await call('GET', `users/${userId}`)).roles).toEqual([]);
  expect(page.problems).toEqual([]);
});

test('a role for everybody new says so in list and detail', async () => {
  const { id } = await call('POST', 'roles', { slug: 'guest', name: 'Guest' });
  page = await openConsole(server);
  await page.go(at(`roles/${id}`));
  await page.pressNamed('Give it to everybody new', '.detail');
  await page.untilText('.detail', /Given to\s+Everybody new/);
  expect((await grantNamed('roles', 'guest')).isDefault).toBe(true);
  await page.pressNamed('Stop giving it to everybody new', '.detail');
  await page.untilText('.detail', /Given to\s+By hand/);
  expect((await grantNamed('roles', 'guest')).isDefault).toBe(false);
  expect(page.problems).toEqual([]);
});

test('a read-only member reads names, slugs and counts, and changes nothing', async () => {
  const { id } = await call('POST', 'memberships', { slug: 'berlin', name: 'Berlin office' });
  page = await openConsole(server, { member: 'reader@example.test', size: PHONE });
  await page.go(at(`groups/${id}`));
  await page.untilText('.detail h2', /^Berlin office$/);
  await page.untilText('.detail', /People\s+0/);
  expect(await page.isVisible('#change-grant:enabled')).toBe(false);
  expect(await page.isVisible('#delete-grant:enabled')).toBe(false);
  expect(await page.sidewaysScroll()).toBe(0);
  expect(page.problems).toEqual([]);
});
