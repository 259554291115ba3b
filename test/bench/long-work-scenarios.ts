/** State changes with background tasks: the rows of each, the request, and the conditions afterwards. */
import type { Database } from 'bun:sqlite';
import { databaseCode, readDatabase } from '../support/binary.ts';
import { giveRole, insertDeliveries, insertInterests, insertMembers, insertSessions, type Person } from './rows.ts';
import type { BenchServer } from './server.ts';

/** The resources of a scenario. */
export interface Scene {
  readonly folder: string;
  readonly server: BenchServer;
  readonly applicationId: string;
  /** The application's path in the management API. */
  readonly path: string;
  /** A key with very high limits. */
  readonly key: string;
  readonly people: readonly Person[];
  /** Tokens of sessions to test. */
  readonly tokens: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly rows: number;
  /** Runs calls through the API before the rows are written. */
  prepare?(scene: Scene): Promise<void>;
  fill(sqlite: Database, applicationId: string): { people?: Person[]; tokens?: string[] };
  /** Prepares the request. @returns the request, whose time is measured. */
  ready(scene: Scene): Promise<() => Promise<unknown>>;
  /**
   * Runs right after the answer. Throws unless the change has taken effect, even if its background task still runs.
   */
  check?(scene: Scene): Promise<void>;
  /** Returns whether nothing is left to do besides background tasks. */
  isDone?(sqlite: Database): boolean;
  /** Throws unless the background task has completed its work. */
  verify?(sqlite: Database): void;
}

/** Accepts every request. */
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });

const count = (sqlite: Database, sql: string) => (sqlite.query(sql).get() as { count: number }).count;

function expectCount(sqlite: Database, expected: number, sql: string): void {
  const found = count(sqlite, sql);
  if (found !== expected) throw new Error(`${found} instead of ${expected}: ${sql}`);
}

async function verdictOn(
  { server, key }: Scene,
  token: string,
): Promise<{ success: boolean; data?: { roles: string[] } }> {
  const response = await fetch(`${server.url}/api/v1/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return (await response.json()) as { success: boolean; data?: { roles: string[] } };
}

async function expectRefused(scene: Scene): Promise<void> {
  for (const token of [scene.tokens[0]!, scene.tokens.at(-1)!])
    if ((await verdictOn(scene, token)).success) throw new Error('a session that was ended is still verified');
}

async function expectRoles(scene: Scene, roles: readonly string[]): Promise<void> {
  for (const token of scene.tokens) {
    const { data } = await verdictOn(scene, token);
    if (data?.roles.toSorted().join() !== roles.join()) throw new Error(`roles ${data?.roles} instead of ${roles}`);
  }
}

/** Expects each session to have ended and been reported once. */
function expectEnded(sqlite: Database, sessions: number): void {
  expectCount(sqlite, sessions, 'SELECT count(*) AS count FROM sessions WHERE revoked_at IS NOT NULL');
  const reported = "FROM events WHERE type = 'user.session_revoked'";
  expectCount(sqlite, sessions, `SELECT count(*) AS count ${reported}`);
  expectCount(sqlite, sessions, `SELECT count(DISTINCT json_extract(data, '$.sessionId')) AS count ${reported}`);
}

async function rolePath({ server, path }: Scene): Promise<string> {
  const { items } = await server.call('GET', `${path}/roles`);
  return `${path}/roles/${items.find(({ slug }: { slug: string }) => slug === 'developer').id}`;
}

const noMailQueued = (sqlite: Database) =>
  sqlite.query("SELECT 1 FROM mails WHERE status = 'queued' LIMIT 1").get() === null;

/** Events to all holders of the role. */
const changedRoles = "SELECT count(*) AS count FROM events WHERE type IN ('user.role_added', 'user.role_removed')";

async function nobodyPending({ server, path }: Scene): Promise<void> {
  const { items } = await server.call('GET', `${path}/beta-interests?status=pending`);
  if (items.length > 0) throw new Error('somebody is still pending');
}

const subscribe = ({ server, path }: Scene) =>
  server.call('POST', `${path}/webhooks`, { url: receiver.url.href, events: ['user.paused'] }).then(() => {});

const webhookOf = (sqlite: Database) => (sqlite.query('SELECT id FROM webhooks').get() as { id: string }).id;

function importRow(batch: number, index: number) {
  return {
    email: `import${batch}-${index}@example.com`,
    roleSlugs: ['user', 'developer'],
    profile: { username: `import${batch}x${index}`, givenName: 'Ada', familyName: 'Lovelace', locale: 'en' },
  };
}

/** @param scale of all numbers of rows; 1 for the reported results. */
export function scenariosAt(scale: number): readonly Scenario[] {
  const scaled = (count: number) => Math.max(1, Math.round(count * scale));
  const archived = scaled(1_000_000);
  const holders = scaled(200_000);
  const banned = scaled(50_000);
  const waiting = scaled(100_000);
  const held = scaled(100_000);

  /** Members who all hold the role `developer`; the first and the last have a session. */
  const fillHolders = (sqlite: Database, applicationId: string) => {
    const people = insertMembers(sqlite, applicationId, holders);
    giveRole(sqlite, applicationId, 'developer', people);
    const tokens = insertSessions(sqlite, [people[0]!, people.at(-1)!], 2);
    return { people, tokens };
  };
  return [
    {
      name: 'archive, open sessions',
      rows: archived,
      fill(sqlite, applicationId) {
        const people = insertMembers(sqlite, applicationId, archived);
        return { people, tokens: insertSessions(sqlite, people, archived) };
      },
      async ready({ server, path, folder }) {
        const { challengeId } = await server.call('POST', `${path}/lifecycle/send`, { kind: 'archive' });
        const code = databaseCode(folder, 'owner@example.com');
        return () => server.call('POST', `${path}/lifecycle/confirm`, { challengeId, code });
      },
      check: expectRefused,
      verify: (sqlite) => expectEnded(sqlite, archived),
    },
    {
      name: 'forced rename, holders',
      rows: holders,
      fill: fillHolders,
      async ready(scene) {
        const role = await rolePath(scene);
        return () => scene.server.call('PATCH', `${role}?force=true`, { slug: 'maker' });
      },
      check: (scene) => expectRoles(scene, ['maker']),
      verify: (sqlite) => expectCount(sqlite, 2 * holders, changedRoles),
    },
    {
      name: 'forced delete, holders',
      rows: holders,
      fill: fillHolders,
      async ready(scene) {
        const role = await rolePath(scene);
        return () => scene.server.call('DELETE', `${role}?force=true`);
      },
      check: (scene) => expectRoles(scene, []),
      verify: (sqlite) => expectCount(sqlite, holders, changedRoles),
    },
    {
      name: 'policy, pending',
      rows: waiting,
      async prepare({ server, path }) {
        await server.call('POST', `${path}/signin-gate`, { gate: 'private_beta' });
      },
      fill(sqlite, applicationId) {
        insertInterests(sqlite, applicationId, 'pending', waiting);
        return {};
      },
      ready:
        async ({ server, path }) =>
        () =>
          server.call('POST', `${path}/beta-policy`, { policy: 'auto_accept', notify: true }),
      check: nobodyPending,
      isDone: noMailQueued,
      verify(sqlite) {
        expectCount(sqlite, waiting, "SELECT count(*) AS count FROM beta_interests WHERE status = 'approved'");
        expectCount(sqlite, waiting, 'SELECT count(DISTINCT recipient) AS count FROM mails');
      },
    },
    {
      name: 'gate to public, waiting',
      rows: waiting,
      async prepare({ server, path }) {
        await server.call('POST', `${path}/signin-gate`, { gate: 'private_beta' });
      },
      fill(sqlite, applicationId) {
        insertInterests(sqlite, applicationId, 'pending', waiting);
        return {};
      },
      ready:
        async ({ server, path }) =>
        () =>
          server.call('POST', `${path}/signin-gate`, { gate: 'public' }),
      check: nobodyPending,
      isDone: noMailQueued,
      verify(sqlite) {
        expectCount(sqlite, waiting, 'SELECT count(*) AS count FROM beta_interests WHERE notified_at IS NOT NULL');
        expectCount(sqlite, waiting, 'SELECT count(*) AS count FROM mails');
        expectCount(sqlite, waiting, 'SELECT count(DISTINCT recipient) AS count FROM mails');
      },
    },
    {
      name: 'release, held events',
      rows: held,
      prepare: subscribe,
      fill(sqlite, applicationId) {
        insertDeliveries(sqlite, applicationId, [webhookOf(sqlite)], { count: held, status: 'pending' });
        sqlite.run(
          "UPDATE webhooks SET status = 'quarantined', quarantined_at = created_at, quarantine_reason = 'test'",
        );
        return {};
      },
      async ready({ folder, server, path }) {
        const id = readDatabase(folder, webhookOf);
        return () => server.call('POST', `${path}/webhooks/${id}/release`);
      },
      isDone: (sqlite) =>
        sqlite
          .query("SELECT 1 FROM deliveries WHERE webhook_id = ? AND status = 'pending' LIMIT 1")
          .get(webhookOf(sqlite)) === null,
    },
    {
      name: 'delete a webhook, deliveries',
      rows: holders,
      prepare: subscribe,
      fill(sqlite, applicationId) {
        insertDeliveries(sqlite, applicationId, [webhookOf(sqlite)], { count: holders, status: 'delivered' });
        return {};
      },
      async ready({ folder, server, path }) {
        const id = readDatabase(folder, webhookOf);
        return () => server.call('DELETE', `${path}/webhooks/${id}`);
      },
      async check({ server, path }) {
        const { items } = await server.call('GET', `${path}/webhooks`);
        if (items.length > 0) throw new Error('the webhook is still there');
      },
      isDone: (sqlite) => sqlite.query('SELECT 1 FROM deliveries LIMIT 1').get() === null,
    },
    {
      name: 'ban, sessions of one person',
      rows: banned,
      fill(sqlite, applicationId) {
        const people = insertMembers(sqlite, applicationId, 1);
        return { people, tokens: insertSessions(sqlite, people, banned) };
      },
      ready:
        async ({ server, path, people }) =>
        () =>
          server.call('POST', `${path}/users/${people[0]!.userId}/ban`),
      check: expectRefused,
      verify: (sqlite) => expectEnded(sqlite, banned),
    },
    {
      name: 'ten imports at once, users',
      rows: 5000,
      fill(sqlite, applicationId) {
        insertMembers(sqlite, applicationId, holders);
        return {};
      },
      async ready({ server, path }) {
        const batches = Array.from({ length: 10 }, (_, batch) =>
          Array.from({ length: 500 }, (_, index) => importRow(batch, index)),
        );
        return () => Promise.all(batches.map((users) => server.call('POST', `${path}/users/bulk`, { users })));
      },
      verify: (sqlite) => expectCount(sqlite, 5000, "SELECT count(*) AS count FROM users WHERE email LIKE 'import%'"),
    },
  ];
}
