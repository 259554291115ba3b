/**
 * The console in headless Chromium over a tenant with 200,000 users and 1,000,000 audit records, against the compiled
 * binary. For each list and chart: the median time from navigation to painted, the slowest answer of the server, the
 * bytes and requests of a cold view; for long lists also the JavaScript heap after forty pages. Prints a table, then one
 * JSON line.
 * Usage: bun test/bench/console.ts [--members 200000] [--records 1000000] [--times 5] [--folder DIR] [--only WORD]
 *
 * `--folder` keeps the rows in this folder, and takes those that are there.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { emptyFolder, readDatabase } from '../support/binary.ts';
import { fillLargeTenant } from './large-tenant.ts';
import { type BenchServer, createApplication, createKey, fill, round, startServer } from './server.ts';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '200000' },
    records: { type: 'string', default: '1000000' },
    times: { type: 'string', default: '5' },
    folder: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const members = Number(values.members);
const auditRecords = Number(values.records);
const times = Number(values.times);
const ENV = { GATEHOUSE_LOG_LEVEL: 'warn' };
const OWNER = 'owner@example.com';

/** Pages that a reader loads of a long list. */
const PAGES = 40;
/** After this a view has failed. */
const PATIENCE_MS = 60_000;
const MIB = 1024 * 1024;

interface Tenant {
  readonly applicationId: string;
  readonly webhookId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** A user of the application. */
  readonly userId: string;
}

interface View {
  readonly name: string;
  /** Within `/console`. */
  readonly path: string;
  /** Matches once everything that the view is opened for is rendered. */
  readonly filled: string;
  /** True for a list of very many rows. */
  readonly isLong?: boolean;
}

const ROWS = ' tbody tr:not(.skeleton-row, .gap)';
const LIST = `.list-frame table:not([aria-busy])${ROWS}`;
const CHARTS = '.drawing canvas';

function viewsOf({ applicationId, webhookId, workspaceId, keyId, userId }: Tenant): View[] {
  const of = (path: string, filled: string, isLong = false): View => ({
    name: path,
    path: `/applications/${applicationId}/${path}`,
    filled,
    isLong,
  });
  const inWorkspace = (path: string, filled: string, isLong = false): View => ({
    name: `workspace ${path}`,
    path: `/workspaces/${workspaceId}/${path}`,
    filled,
    isLong,
  });
  const empty = `:is(${LIST}, .empty-state)`;
  return [
    of('overview', CHARTS),
    of('overview?days=365', CHARTS),
    of('users', LIST, true),
    of('users?sort=joined', LIST, true),
    of('users?status=paused', LIST),
    of('users?q=person199', empty),
    of('users?q=nobody-at-all', empty),
    of(`users/${userId}`, '.detail h2'),
    of('activity', LIST, true),
    of('activity?status=error', LIST),
    of('activity?country=FI', empty),
    of('activity?q=nobody-at-all', empty),
    of('gate', LIST, true),
    of('roles', LIST),
    of('keys', LIST),
    of(`keys/${keyId}`, CHARTS),
    of('webhooks', LIST),
    of(`webhooks/${webhookId}`, LIST, true),
    of(`webhooks/${webhookId}?show=performance`, CHARTS),
    inWorkspace('applications', LIST),
    inWorkspace('members', LIST),
    inWorkspace('activity', LIST, true),
    inWorkspace('outbox', LIST, true),
    inWorkspace('health', '#settings-table'),
  ];
}

/** Returns the tenant of a folder, whose rows it writes where there are none. */
async function tenantIn(folder: string): Promise<Tenant> {
  const note = join(folder, 'tenant.json');
  if (!existsSync(note)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const first = await startServer(folder, ENV);
    const { id: applicationId } = await createApplication(first, 'Large');
    const path = `/api/applications/${applicationId}`;
    const hook = { url: 'https://example.com/hook', events: ['*'] };
    const { id: webhookId } = await first.call('POST', `${path}/webhooks`, hook);
    await createKey(first, path, 'read');
    await first.stop();
    fill(folder, (sqlite) => fillLargeTenant(sqlite, { applicationId, webhookId, members, auditRecords }));
    writeFileSync(note, JSON.stringify({ applicationId, webhookId }));
  }
  const { applicationId, webhookId } = JSON.parse(readFileSync(note, 'utf8')) as Tenant;
  const idOf = (query: string): string =>
    readDatabase(folder, (sqlite) => sqlite.query<{ id: string }, [string]>(query).get(applicationId))?.id ?? '';
  return {
    applicationId,
    webhookId,
    workspaceId: idOf('SELECT workspace_id AS id FROM applications WHERE id = ?'),
    keyId: idOf('SELECT id FROM api_keys WHERE application_id = ? LIMIT 1'),
    userId: idOf('SELECT user_id AS id FROM application_users WHERE application_id = ? LIMIT 1'),
  };
}

/** Waits until every member is indexed: a job enters rows that were written past the server. */
async function untilIndexed(folder: string): Promise<void> {
  const count = 'SELECT count(*) AS n FROM member_search WHERE handles IS NULL';
  while ((readDatabase(folder, (sqlite) => sqlite.query<{ n: number }, []>(count).get())?.n ?? 0) > 0)
    await Bun.sleep(500);
}

/** Signs the owner in to the console, with the code of the mail in the database. */
async function signInAsOwner(server: BenchServer, folder: string, page: Page): Promise<void> {
  const { challengeId } = await server.call('POST', '/api/v1/auth/otp/send', { email: OWNER });
  const newest = `SELECT code FROM mails WHERE recipient = '${OWNER}' AND code IS NOT NULL ORDER BY id DESC LIMIT 1`;
  const found = readDatabase(folder, (sqlite) => sqlite.query<{ code: string }, []>(newest).get());
  const { token } = await server.call('POST', '/api/v1/auth/otp/verify', { challengeId, code: found?.code });
  const cookie = { name: 'gatehouse', value: token, url: server.url, httpOnly: true };
  await page.view.cdp('Network.setCookie', cookie);
}

interface Sent {
  readonly startedAt: number;
  readonly path: string;
  answerMs: number;
}

/** Counts requests, their bytes on the wire and the time until the first byte of each answer of the API. */
function network(page: Page, server: BenchServer) {
  const sent = new Map<string, Sent>();
  let bytes = 0;
  const listen = (type: string, listener: (data: any) => void) =>
    page.view.addEventListener(type, (event: Event) => listener((event as MessageEvent).data));
  listen('Network.requestWillBeSent', ({ requestId, request, timestamp }) => {
    if (request.url.startsWith(server.url))
      sent.set(requestId, { startedAt: timestamp, path: new URL(request.url).pathname, answerMs: 0 });
  });
  listen('Network.responseReceived', ({ requestId, response }) => {
    const request = sent.get(requestId);
    // The browser's own time on the connection: without the wait for one, and without the page's own work.
    const { sendEnd, receiveHeadersEnd } = response.timing ?? {};
    if (request && receiveHeadersEnd !== undefined) request.answerMs = receiveHeadersEnd - sendEnd;
  });
  listen('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (sent.has(requestId)) bytes += encodedDataLength;
  });
  return {
    url: server.url,
    forget() {
      sent.clear();
      bytes = 0;
    },
    seen() {
      const all = [...sent.values()];
      const answers = all.filter(({ path }) => path.startsWith('/api/') && !path.endsWith('/stream'));
      const slowest = answers.toSorted((left, right) => right.answerMs - left.answerMs)[0];
      return { requests: all.length, bytes, slowestMs: slowest?.answerMs ?? 0, slowestPath: slowest?.path ?? '' };
    },
  };
}

type Wire = ReturnType<typeof network>;

/** Resolves with the time since navigation of the frame after the one that renders `filled`; runs before any script. */
const watchFor = (filled: string) => `(() => {
  window.painted = new Promise((done) => {
    const look = () => {
      const isFilled = document.querySelector(${JSON.stringify(filled)}) !== null &&
        document.querySelector('#main .skeleton, #main [aria-busy=true]') === null;
      if (!isFilled) return requestAnimationFrame(look);
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now());
        port2.postMessage(null);
      });
    };
    look();
  });
})()`;

interface Result {
  readonly name: string;
  readonly paintedMs: number;
  readonly worstMs: number;
  readonly slowestAnswerMs: number;
  readonly slowestPath: string;
  readonly kilobytes: number;
  readonly requests: number;
  /** Null for a list that is not long. */
  readonly heapMiB: number | null;
  readonly rows: number | null;
}

async function within<Value>(what: string, work: Promise<Value>): Promise<Value> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} was not done within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function measure(page: Page, wire: Wire, view: View): Promise<Result> {
  const { identifier } = await page.view.cdp<{ identifier: string }>('Page.addScriptToEvaluateOnNewDocument', {
    source: watchFor(view.filled),
  });
  const open = async (): Promise<number> => {
    await page.open('about:blank');
    wire.forget();
    await page.open(`${wire.url}/console${view.path}`);
    return within(view.name, page.evaluate<number>('window.painted'));
  };
  try {
    // The first one warms the server's statements up; its answers do not count.
    await open();
    const cold: number[] = [];
    let slowestAnswerMs = 0;
    let slowestPath = '';
    let seen = wire.seen();
    for (let turn = 0; turn < times; turn += 1) {
      cold.push(await open());
      await Bun.sleep(300);
      seen = wire.seen();
      if (seen.slowestMs > slowestAnswerMs) ({ slowestMs: slowestAnswerMs, slowestPath } = seen);
    }
    cold.sort((left, right) => left - right);
    const loaded = view.isLong ? await loadPages(page) : null;
    return {
      name: view.name.replaceAll(/\b[a-z]+_[0-9a-z]{20,}/g, '…'),
      paintedMs: round(cold[cold.length >> 1] ?? 0),
      worstMs: round(cold.at(-1) ?? 0),
      slowestAnswerMs: round(slowestAnswerMs, 1),
      slowestPath: slowestPath.replaceAll(/\b[a-z]+_[0-9a-z]{20,}/g, '…'),
      kilobytes: round(seen.bytes / 1024, 1),
      requests: seen.requests,
      heapMiB: loaded && round(loaded.heap / MIB, 1),
      rows: loaded && loaded.rows,
    };
  } finally {
    await page.view.cdp('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  }
}

/** Presses "Show more" forty times, unless the list ends before, and returns the heap without garbage. */
async function loadPages(page: Page): Promise<{ heap: number; rows: number }> {
  const rows = await within(
    `${PAGES} pages`,
    page.evaluate<number>(`(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const table = () => document.querySelector('.list-frame table');
      const highest = () => Math.max(0, ...[...table().querySelectorAll('tr')].map((row) => row.ariaRowIndex ?? row.rowIndex));
      for (let pressed = 0; pressed < ${PAGES}; pressed += 1) {
        const before = document.documentElement.scrollHeight;
        const more = document.querySelector('.more');
        if (more === null) break;
        more.scrollIntoView();
        more.click();
        while (document.querySelector('.more') !== null && document.documentElement.scrollHeight === before) await frame();
      }
      await frame();
      return Number(table().querySelector('tbody tr:last-child')?.ariaRowIndex ?? highest()) - 1;
    })()`),
  );
  await page.view.cdp('HeapProfiler.collectGarbage');
  const { usedSize } = await page.view.cdp<{ usedSize: number }>('Runtime.getHeapUsage');
  return { heap: usedSize, rows };
}

const scratch = values.folder === undefined ? emptyFolder() : null;
const folder = scratch?.path ?? values.folder ?? '';
const tenant = await tenantIn(folder);
const server = await startServer(folder, ENV);
const results: Result[] = [];
try {
  await untilIndexed(folder);
  const page = await openBrowserPage({ width: 1440, height: 900 });
  await page.view.cdp('Network.setCacheDisabled', { cacheDisabled: true });
  await signInAsOwner(server, folder, page);
  const wire = network(page, server);
  console.log('view                                     painted   worst  slowest answer     KB  requests  heap (rows)');
  for (const view of viewsOf(tenant).filter(({ name }) => name.includes(values.only))) {
    const result = await measure(page, wire, view);
    results.push(result);
    const { name, paintedMs, worstMs, slowestAnswerMs, kilobytes, requests, heapMiB, rows } = result;
    const heap = heapMiB === null ? '' : `${heapMiB.toFixed(1)} MiB (${rows})`;
    console.log(
      `${name.padEnd(40)}${`${paintedMs} ms`.padStart(8)}${`${worstMs} ms`.padStart(8)}${`${slowestAnswerMs} ms`.padStart(16)}` +
        `${kilobytes.toFixed(1).padStart(7)}${String(requests).padStart(10)}  ${heap}`,
    );
  }
  page.close();
} finally {
  closeBrowser();
  server.kill();
  scratch?.remove();
}
console.log(JSON.stringify({ benchmark: 'console', members, auditRecords, times, views: results }));
process.exit(0);
