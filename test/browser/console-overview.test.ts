/** The numbers of an application's overview in the console. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { type ConsolePage, DESK, openConsole } from './console-page.ts';

setDefaultTimeout(120_000);

const DAY = 24 * 60 * 60 * 1000;

let server: EphemeralServer;
let page: ConsolePage;
let app: string;
let clientId: string;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  const { json } = await api('POST', '/api/applications', { name: 'Shop' });
  ({ id: app, clientId } = json.data);
  await api('POST', `/api/applications/${app}/publish`);
});
afterEach(() => {
  expect(page.problems).toEqual([]);
  page.close();
});

const api = (method: string, path: string, body?: unknown) =>
  request(server, method, path, { token: server.workspaceKey, body });
const advance = (advanceMs: number) => request(server, 'POST', '/test/clock', { body: { advanceMs } });

const come = (name: string) => signIn(server, `${name}@example.com`, clientId);
/** Lets nobody new in. */
const closeGate = () => api('POST', `/api/applications/${app}/signin-gate`, { gate: 'closed' });
const refuse = (name: string) => come(name).catch(() => {});

async function ban(name: string): Promise<void> {
  const { json } = await api('GET', `/api/applications/${app}/users?q=${name}@`);
  await api('POST', `/api/applications/${app}/users/${json.data.items[0].userId}/ban`);
}

async function enterWrongCode(name: string): Promise<void> {
  const email = `${name}@example.com`;
  const { json } = await request(server, 'POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  const { challengeId } = json.data;
  const right = (await request(server, 'GET', `/test/outbox?to=${email}`)).json.data.items[0].code;
  const code = right === '000000' ? '111111' : '000000';
  await request(server, 'POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });
}

async function openOverview(rest = ''): Promise<void> {
  page = await openConsole(server);
  await page.go(`/applications/${app}/overview${rest}`);
  await reachNumbers();
}

/** The numbers follow the first steps, and load once they are reached. */
async function reachNumbers(): Promise<void> {
  await page.untilVisible('#first-steps');
  await page.evaluate("document.querySelector('.unloaded').scrollIntoView()");
  await page.untilVisible('#numbers');
}

interface ShownTile {
  readonly value: string;
  /** The change and what it is against; null without one. */
  readonly change: string | null;
  readonly tone: string | null;
}

const tiles = () =>
  page.evaluate<Record<string, ShownTile>>(
    `Object.fromEntries([...document.querySelectorAll('#numbers .stat')].map((tile) => {
      const change = tile.querySelector('.delta');
      return [tile.querySelector('dt').innerText, {
        value: tile.querySelector('.stat-value').innerText,
        change: change && change.textContent,
        tone: change && change.dataset.tone,
      }];
    }))`,
  );

describe('the numbers', () => {
  test('have a sign-in that came just before they were opened, and one that comes while they are open', async () => {
    await come('ada');
    await openOverview();
    await page.untilText('#numbers', /^Sign-ins\s+1\s/);
    await come('bea');
    await page.untilText('#numbers', /^Sign-ins\s+2\s[^]*Sessions used, 7 days\s+2$/);
  });

  test('are of rolling periods, compared with the same time before, and red only where an increase is bad', async () => {
    for (const name of ['ada', 'bob', 'cleo']) await come(name);
    await closeGate();
    await refuse('yan');
    await advance(7 * DAY);
    for (const name of ['ada', 'bob']) await come(name);
    for (const name of ['yan', 'zoe']) await refuse(name);
    await openOverview('?days=7');
    // The server counts in memory for some seconds.
    await page.untilText('#numbers', /^Sign-ins\s+2\s[^]*Refused\s+2\s[^]*Sessions used, 7 days\s+2\s/);
    const fewer = { value: '2', change: '−33 % against 3 in the 7 days before', tone: 'calm' };
    const alone = { change: null, tone: null };
    expect(await tiles()).toEqual({
      'Sign-ins': fewer,
      'New users': { value: '0', change: '−100 % against 3 in the 7 days before', tone: 'calm' },
      Refused: { value: '2', change: '+100 % against 1 in the 7 days before', tone: 'bad' },
      'Users in total': { value: '3', ...alone },
      'Active today': { value: '2', ...alone },
      'Active, 7 days': fewer,
      'Active, 30 days': { value: '3', ...alone },
      'Sessions used, 7 days': fewer,
    });
    const red = await page.evaluate<string[]>(`(() => {
      const bad = getComputedStyle(document.querySelector('.delta[data-tone=bad]')).color;
      return [...document.querySelectorAll('#numbers *')]
        .filter((one) => one.checkVisibility() && getComputedStyle(one).color === bad)
        .map((one) => one.closest('.stat').querySelector('dt').innerText);
    })()`);
    expect([...new Set(red)]).toEqual(['Refused']);
    await page.choose('#range', '30');
    await page.untilText('#numbers', /^Sign-ins\s+5\s/);
    expect((await tiles())['Sign-ins']).toEqual({ value: '5', ...alone });
  });

  test('fill their grid without a hole at every width', async () => {
    await openOverview();
    for (const [width, columns] of [
      [390, 2],
      [1024, 4],
      [1440, 4],
    ]) {
      const size = { width, height: DESK.height, deviceScaleFactor: 1, mobile: false };
      await page.view.cdp('Emulation.setDeviceMetricsOverride', size);
      await eventually(`the grid at ${width}`, async () => {
        const inRows = await page.evaluate<number[]>(
          `Object.values(Object.groupBy(document.querySelectorAll('#numbers .stat'), (tile) => tile.offsetTop))
            .map((row) => row.length)`,
        );
        return inRows.length === 8 / columns! && inRows.every((count) => count === columns);
      });
      expect(await page.sidewaysScroll()).toBe(0);
    }
  });
});

test('a chart draws the step to today dashed, and its table says that today is not over', async () => {
  await come('ada');
  await openOverview();
  await page.untilVisible('#sign-ins canvas');
  await page.evaluate(`void (() => {
    globalThis.dashes = [];
    const { setLineDash } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.setLineDash = function (dash) {
      globalThis.dashes.push(dash.length);
      setLineDash.call(this, dash);
    };
  })()`);
  await page.choose('#range', '7');
  await eventually('complete days and today are drawn', () =>
    page.evaluate<boolean>('dashes.includes(0) && dashes.includes(2)'),
  );
  await page.pressNamed('Show as table', '#sign-ins');
  const rows = (await page.untilText('#sign-ins tbody', /so far/)).split('\n');
  expect(rows.filter((row) => row.includes('so far'))).toEqual([rows.at(-1)!]);
});

test('a reason of refusals leads to the records that were refused for it', async () => {
  await come('ada');
  await enterWrongCode('bob');
  await closeGate();
  await refuse('zoe');
  await ban('ada');
  await refuse('ada');
  await openOverview();
  await page.pressNamed('The application accepts nobody new', '#main');
  await page.untilAddress(/\/activity\?status=error&family=signin\.refused&reason=\w+&from=\d{4}-/);
  expect(await page.untilText('#activity', /zoe@example\.com/)).not.toMatch(/wrong sign-in code|ada@/);
  await page.pressNamed('Remove the filter: Refused: the application accepts nobody new', '#main');
  await page.untilText('#activity', /ada@example\.com[^]*zoe@example\.com/);
  await page.evaluate('history.go(-2)');
  await reachNumbers();
  await page.pressNamed('The code was wrong', '#main');
  await page.untilAddress(/family=signin\.code_refused/);
  expect(await page.untilText('#activity', /Entered a wrong sign-in code/)).not.toContain('zoe@');
  await page.pressNamed('Filter (3)', '.filter-bar');
  expect(await page.evaluate<string>('document.querySelector("#family").selectedOptions[0].text')).toBe(
    'Wrong sign-in code',
  );
  await page.choose('#family', '');
  await page.untilText('#activity', /zoe@example\.com/);
});
