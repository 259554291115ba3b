/** Every view of the console with data, and its dialogs. */
import type { Colleague } from '../demo/team.ts';
import type { Page } from '../support/browser.ts';
import { startMailServer } from '../support/smtp.ts';
import type { ConsoleScene } from './console-scene.ts';
import { press } from './scene.ts';

export interface ConsoleState {
  /** The name, as in `console/view`. */
  readonly name: string;
  /** Leaves the page at the state. */
  reach(page: Page, scene: ConsoleScene): Promise<void>;
}

type PathOf = (scene: ConsoleScene) => string | Promise<string>;

interface Way {
  readonly as?: Colleague;
  /** Runs before the page is opened. */
  readonly first?: (scene: ConsoleScene) => Promise<void>;
  /** Runs on the opened page. */
  readonly then?: (page: Page) => Promise<void>;
}

const view = (name: string, path: PathOf, { as = 'owner', first, then }: Way = {}): ConsoleState => ({
  name: `console/${name}`,
  async reach(page, scene) {
    await first?.(scene);
    await scene.open(page, await path(scene), as);
    await then?.(page);
  },
});

type ApplicationName = keyof ConsoleScene['demo']['house']['applications'];

const of =
  (application: ApplicationName, rest = 'overview'): PathOf =>
  ({ demo: { house } }) =>
    `/applications/${house.applications[application].id}/${rest}`;

const inWorkspace =
  (rest: string): PathOf =>
  ({ demo: { house } }) =>
    `/workspaces/${house.workspaces.harbour}/${rest}`;

/** Returns the path of a list's first matching record. */
const firstOf =
  (path: PathOf, list: PathOf, query = '', isWanted: (record: any) => boolean = () => true): PathOf =>
  async (scene) => {
    const { items } = await scene.read(`/api${await list(scene)}${query}`);
    const found = items.find(isWanted);
    if (!found) throw new Error(`nothing of ${await list(scene)} is wanted`);
    return `${await path(scene)}/${found.id}`;
  };

const opened = (selector: string, shown: string) => async (page: Page) => {
  await press(page, selector);
  await page.untilVisible(shown);
};

/** Opens the head's menu, and what an entry of it opens. */
const openedFromMenu = (entry: string, shown: string) => async (page: Page) => {
  await press(page, '.page-actions [aria-haspopup=menu]');
  await page.untilVisible('.menu:popover-open');
  await page.evaluate(`[...document.querySelectorAll('.menu:popover-open button')]
    .find((one) => one.innerText === ${JSON.stringify(entry)}).click()`);
  await page.untilVisible(shown);
};

const user: PathOf = async (scene) => `${await of('harbour', 'users')(scene)}/${scene.demo.regularId}`;

const key: PathOf = async (scene) => `${await of('harbour', 'keys')(scene)}/${scene.demo.house.keys.backend.id}`;

async function chooseEverybody(page: Page): Promise<void> {
  await press(page, '#users thead input');
  // The small demo fits one page.
  if (await page.isVisible('#choose-all')) await press(page, '#choose-all');
  await page.untilVisible('#grants-users:enabled');
}

const ofEverybody = (button: string, shown: string) => async (page: Page) => {
  await chooseEverybody(page);
  await opened(button, shown)(page);
};

async function decide(page: Page): Promise<void> {
  await press(page, '#allowlist tbody input');
  await opened('#selection .button', '#decide-dialog')(page);
}

async function listKeys(page: Page): Promise<void> {
  await page.evaluate(`void document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }))`);
  await page.untilVisible('#shortcuts');
}

const webhook = (which: 'healthy' | 'failing' | 'quarantined'): PathOf => {
  const at = of('harbour', 'webhooks');
  return async (scene) => `${await at(scene)}/${scene.demo.house.webhooks[which]}`;
};

const deliveriesOf = (which: 'healthy' | 'failing'): PathOf => {
  const at = webhook(which);
  return async (scene) => `${await at(scene)}/deliveries`;
};

const admin = firstOf(
  inWorkspace('members'),
  () => '/workspace/members',
  '',
  ({ role }) => role === 'admin',
);

const HANDED_OVER = `email,given_name,family_name,username,role,shoe_size
sofia.marin@example.com,Sofía,Marín,sofia,editor,38
kenji.mori@example.com,健司,森,kenji,captain,42
not an address,Nobody,,,,
mara@harbour.example,Mara,Lindqvist,admin,user,
`;

async function giveFile(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const given = new DataTransfer();
    given.items.add(new File([${JSON.stringify(HANDED_OVER)}], 'people.csv', { type: 'text/csv' }));
    const field = document.querySelector('#import-file');
    field.files = given.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
  await page.untilVisible('#import-preview');
}

async function openPalette(page: Page): Promise<void> {
  await page.evaluate(`void dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))`);
  await page.untilVisible('#palette');
}

/** The link on the screen plays the visitor's part. */
async function askForTrialCode(page: Page): Promise<void> {
  await page.untilVisible('#sign-in-link');
  await page.evaluate(`(async () => {
    const link = new URL(document.querySelector('#sign-in-link').innerText);
    const { clientId, email } = Object.fromEntries(link.searchParams);
    const headers = { 'content-type': 'application/json' };
    await fetch('/api/v1/auth/otp/send', { method: 'POST', headers, body: JSON.stringify({ clientId, email }) });
  })()`);
  await page.untilVisible('#trial-code');
}

async function runRefusedCall(page: Page): Promise<void> {
  await press(page, '#create-first-key, #create-another-key');
  await page.untilVisible('#first-key-value');
  await press(page, '#session-token');
  await page.fill('#session-token', `est_${'A'.repeat(49)}`);
  await press(page, '#run-verify');
  await page.untilVisible('#verification-refusal');
}

async function createKey(page: Page): Promise<void> {
  await page.untilVisible('#key-form');
  await page.fill('#key-name', 'Warehouse');
  await press(page, '#key-form-submit');
  await page.untilVisible('#key-token');
}

async function chooseProduct(page: Page): Promise<void> {
  await press(page, '#openid-product-address');
  await page.fill('#openid-product-address', 'https://photos.harbour.example');
  await page.evaluate(`(() => {
    const list = document.querySelector('#openid-product');
    list.value = 'Immich';
    list.dispatchEvent(new Event('change', { bubbles: true }));
    document.querySelector('#openid-endpoints').open = true;
  })()`);
  await page.untilVisible('#openid-add-redirect-uris:enabled');
}

/** Shows an answer of the authorization endpoint to a trial that this tab has begun. */
const answered = (answer: Readonly<Record<string, string>>) => async (page: Page) => {
  await page.evaluate(`(() => {
    const issuer = location.origin;
    const redirectUri = issuer + '/console/openid-try';
    const trial = { applicationId: 'app_demo', clientId: 'cli_01kat1h5ppe3bv2d9g3wq5r1xm', isPublic: false, issuer,
      tokenEndpoint: issuer + '/oauth/token', redirectUri, state: 'state', verifier: 'v'.repeat(43) };
    sessionStorage.setItem('gatehouse.console.openid-trial', JSON.stringify(trial));
    const query = new URLSearchParams({ ...${JSON.stringify(answer)}, state: 'state', iss: issuer });
    location.replace(redirectUri + '?' + query);
  })()`);
  await page.untilVisible('#openid-answer .panel');
};

/** Returns the path of a user who was imported and has never signed in. */
const imported: PathOf = async (scene) => {
  const at = await of('harbour', 'users')(scene);
  const { items } = await scene.read(`/api${at}?status=imported`);
  return `${at}/${items[0].userId}`;
};

/** Deletes somebody, whom a ban of everybody then leaves out. */
async function deleteOne(scene: ConsoleScene): Promise<void> {
  const at = `/api${await of('beacon', 'users')(scene)}`;
  const { items } = await scene.read(at);
  await scene.change('POST', `${at}/${items[0].userId}/delete`);
}

async function banEverybody(page: Page): Promise<void> {
  await chooseEverybody(page);
  await opened('#ban-users', '#user-action')(page);
  await opened('#user-action-submit', '#outcome')(page);
}

async function setProvider(scene: ConsoleScene): Promise<void> {
  await scene.change('PUT', `/api${await of('staff', 'identity-provider')(scene)}`, {
    name: 'Harbour ID',
    issuer: 'https://id.harbour.example',
    clientId: 'harbour-staff',
    clientSecret: 'harbour-staff-secret-of-the-demo',
  });
}

const createSecret = async (scene: ConsoleScene) =>
  scene.change('POST', `/api${await of('staff', 'rotate-secret')(scene)}`);

const mailServer = ({ demo: { house } }: ConsoleScene) =>
  `/api/workspace/mail/server?workspaceId=${house.workspaces.harbour}`;

/** Sets a mail server, which answers only the mail that tests it. */
async function setMailServer(scene: ConsoleScene): Promise<void> {
  const mails = await startMailServer();
  try {
    await scene.change('PUT', mailServer(scene), {
      host: '127.0.0.1',
      port: mails.port,
      tls: 'optional',
      from: 'Harbour <no-reply@harbour.example>',
    });
  } finally {
    await mails.close();
  }
}

const removeMailServer = (scene: ConsoleScene) => scene.change('DELETE', mailServer(scene));

const SETTINGS = ['general', 'branding', 'mails', 'sign-in', 'account', 'urls', 'openid', 'stage', 'lifecycle'];

export const CONSOLE: readonly ConsoleState[] = [
  view('overview', of('harbour')),
  view('overview-new', of('atlas')),
  view('overview-archived', of('pier')),
  view('users', of('harbour', 'users')),
  view('users-banned', of('harbour', 'users?status=banned')),
  view('users-all', of('harbour', 'users'), { then: chooseEverybody }),
  view('users-all-ban', of('harbour', 'users'), { then: ofEverybody('#ban-users', '#user-action') }),
  view('users-all-access', of('harbour', 'users'), { then: ofEverybody('#grants-users', '#user-grants') }),
  view('users-empty', of('atlas', 'users')),
  view('user', user),
  view('user-ban', user, {
    then: opened('#ban-user', '#user-action'),
  }),
  view('user-access', user, { then: opened('#edit-access', '#access-form') }),
  view('user-sessions-end', user, { then: opened('#end-sessions', '#end-sessions-dialog') }),
  view('user-filters', user, { then: opened('.filter-button', '.filters:not([hidden])') }),
  view('user-add', of('harbour', 'users'), { then: opened('#open-add-user', '#add-user') }),
  view('user-edit', user, {
    then: opened('#open-edit-user', '#edit-user'),
  }),
  view('user-forget', imported, { then: opened('#forget-user', '#user-forgetting') }),
  view('users-left-out', of('beacon', 'users'), { first: deleteOne, then: banEverybody }),
  view('import', of('harbour', 'import')),
  view('import-preview', of('harbour', 'import'), { then: giveFile }),
  view('export', of('harbour', 'import/export')),
  view('activity', of('harbour', 'activity')),
  view('activity-reason', of('harbour', 'activity?status=error&family=signin.refused&reason=membership_blocked')),
  view('activity-record', firstOf(of('harbour', 'activity'), of('harbour', 'activity/list'))),
  view('activity-export', of('harbour', 'activity'), { then: opened('#export', '#export-dialog') }),
  view('gate', of('staff', 'gate')),
  view('gate-public', of('harbour', 'gate')),
  view('gate-change', of('staff', 'gate'), { then: opened('#gate-choice input:not(:checked)', '#change-gate') }),
  view('gate-confirm', of('staff', 'gate'), {
    async then(page) {
      await press(page, '#gate-choice input:not(:checked)');
      await opened('#change-gate', '#gate-dialog')(page);
    },
  }),
  view('policy-confirm', of('staff', 'gate'), {
    async then(page) {
      await press(page, '#policy-choice input:not(:checked)');
      await opened('#change-policy', '#policy-dialog')(page);
    },
  }),
  view('allowlist-add', of('staff', 'gate'), { then: opened('#add-addresses', '#add-dialog') }),
  view('allowlist-decide', of('staff', 'gate'), { then: decide }),
  view('roles', of('harbour', 'roles')),
  view('role-new', of('harbour', 'roles?new=1'), { then: (page) => page.untilVisible('#grant-form') }),
  view('role', async (scene) => `${await of('harbour', 'roles')(scene)}/${scene.demo.house.roleId}`),
  view('role-change', async (scene) => `${await of('harbour', 'roles')(scene)}/${scene.demo.house.roleId}`, {
    then: (page) => press(page, '#change-grant'),
  }),
  view('role-removal', async (scene) => `${await of('harbour', 'roles')(scene)}/${scene.demo.house.roleId}`, {
    then: opened('#delete-grant', '#delete-grant-dialog'),
  }),
  view('scopes', of('harbour', 'scopes')),
  view('groups', of('harbour', 'groups')),
  view('keys', of('harbour', 'keys')),
  view('keys-empty', of('atlas', 'keys')),
  view('key', key),
  view(
    'key-in-grace',
    firstOf(
      of('harbour', 'keys'),
      of('harbour', 'api-keys'),
      '',
      ({ gracePeriodEndsAt }) => gracePeriodEndsAt !== null,
    ),
  ),
  view('key-new', of('harbour', 'keys?new=1'), { then: (page) => page.untilVisible('#key-form') }),
  view('key-rotation', key, {
    then: opened('#rotate-key', '#key-rotation'),
  }),
  view('key-change', key, { then: opened('#change-key', '#key-change') }),
  view('key-revocation', key, { then: opened('#revoke-key', '#key-revocation') }),
  view('key-created', of('atlas', 'keys?new=1'), { then: createKey }),
  view('webhooks', of('harbour', 'webhooks')),
  view('webhooks-empty', of('atlas', 'webhooks')),
  view('webhook-new', of('harbour', 'webhooks?new=1'), { then: (page) => page.untilVisible('#webhook-form') }),
  view('deliveries', webhook('healthy')),
  view('deliveries-failing', webhook('failing')),
  view('webhook-edit', webhook('healthy'), { then: opened('#edit-webhook', '#webhook-form') }),
  view('webhook-replay', webhook('failing'), { then: openedFromMenu('Send failed events again', '#replay-dialog') }),
  view('webhook-disabling', webhook('healthy'), { then: openedFromMenu('Disable', '#webhook-disabling') }),
  view('webhook-secret', webhook('healthy'), { then: openedFromMenu('Rotate signing secret', '#secret-rotation') }),
  view('webhook-deletion', webhook('healthy'), { then: openedFromMenu('Delete', '#webhook-deletion') }),
  view('webhook-release', webhook('quarantined'), { then: opened('#release-webhook', '#release-dialog') }),
  view('webhook-performance', async (scene) => `${await webhook('failing')(scene)}?show=performance`),
  view('webhook-events', async (scene) => `${await webhook('healthy')(scene)}?show=events`),
  view('quarantine', webhook('quarantined')),
  view('delivery', firstOf(webhook('healthy'), deliveriesOf('healthy'))),
  view('delivery-retried', firstOf(webhook('failing'), deliveriesOf('failing'), '?status=pending')),
  ...SETTINGS.map((part) => view(`settings-${part}`, of('harbour', `settings/${part}`))),
  view('openid-new', of('atlas', 'settings/openid')),
  view('openid-product', of('harbour', 'settings/openid'), { then: chooseProduct }),
  view('openid-try', of('harbour', 'settings/openid'), { then: answered({ code: `eac_${'4Tq9'.repeat(12)}` }) }),
  view('openid-refused', of('harbour', 'settings/openid'), {
    then: answered({ error: 'access_denied', error_description: 'The person went back.' }),
  }),
  view('provider-form', of('harbour', 'settings/sign-in'), { then: opened('#set-provider', '#provider-form') }),
  view('provider-removal', of('staff', 'settings/sign-in'), {
    first: setProvider,
    then: opened('#remove-provider', '#remove-provider-dialog'),
  }),
  view('client-secret-rotation', of('staff', 'settings/general'), {
    first: createSecret,
    then: opened('#rotate-secret', '#rotate-secret-dialog'),
  }),
  view('stage-change', of('atlas', 'settings/stage'), { then: opened('#next-stage', '#stage-dialog') }),
  view('archive', of('harbour', 'settings/lifecycle'), { then: opened('#archive', '#lifecycle-dialog') }),
  view('settings-archived', of('pier', 'settings/lifecycle')),
  view('applications', inWorkspace('applications')),
  view('application-new', inWorkspace('applications?new=1'), { then: (page) => page.untilVisible('dialog[open]') }),
  view('workspace-rename', inWorkspace('applications'), { then: opened('#rename-workspace', '#workspace-form') }),
  view('workspace-new', inWorkspace('applications'), { then: opened('#create-workspace', '#workspace-form') }),
  view('members', inWorkspace('members')),
  view('member-invite', inWorkspace('members'), { then: opened('#invite-member', '#invite-form') }),
  view('member', admin),
  view('member-role', admin, { then: opened('#change-role', '#role-form') }),
  view('member-removal', admin, { then: opened('#remove-member', '#remove-dialog') }),
  view('workspace-keys', inWorkspace('keys')),
  view('workspace-activity', inWorkspace('activity')),
  view('outbox', inWorkspace('outbox')),
  view(
    'mail',
    firstOf(inWorkspace('outbox'), () => '/workspace/outbox'),
  ),
  view('backups', inWorkspace('backups')),
  view('health', inWorkspace('health')),
  view('mail-server', inWorkspace('health'), { then: opened('#set-mail-server', '#mail-server') }),
  view('palette', of('harbour'), { then: openPalette }),
  view('shortcuts', of('harbour', 'users'), { then: listKeys }),
  view('switcher', of('harbour'), { then: opened('#open-switcher', '#switcher:popover-open') }),
  view('key-menu', of('harbour', 'keys'), { then: opened('td [aria-haspopup=menu]', '.menu:popover-open') }),
  view('read-only', of('harbour', 'users'), { as: 'member' }),
  view('read-only-gate', of('staff', 'gate'), { as: 'member' }),
  view('nothing-here', of('harbour', 'nothing')),
  view('mail-server-removal', inWorkspace('health'), {
    first: setMailServer,
    then: opened('#remove-mail-server-button', '#remove-mail-server'),
  }),
  // Last, since they leave a key and a sign-in in the draft.
  view('first-steps-code', of('atlas'), { first: removeMailServer, then: askForTrialCode }),
  view('first-steps-refused', of('atlas'), { then: runRefusedCall }),
];

/** Drawn, but composed of parts of another view. */
export const LIKE_ANOTHER: ReadonlySet<string> = new Set(
  [
    'overview-archived',
    'users-banned',
    'users-empty',
    'user-ban',
    'export',
    'gate-public',
    'gate-change',
    'scopes',
    'groups',
    'keys-empty',
    'key',
    'key-new',
    'key-rotation',
    'webhooks-empty',
    'webhook-new',
    'webhook-deletion',
    'workspace-new',
    'policy-confirm',
    'users-all-ban',
    'deliveries',
    'deliveries-failing',
    'delivery',
    'settings-stage',
    'openid-new',
    'openid-refused',
    'provider-form',
    'archive',
    'settings-archived',
    'application-new',
    'member',
    'workspace-keys',
    'workspace-activity',
    'read-only-gate',
    'nothing-here',
  ].map((name) => `console/${name}`),
);
