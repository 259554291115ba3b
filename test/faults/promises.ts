/** Promises that a server acknowledged under a mixed load, and how each is verified after a fault. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { eventually, request, type RunningServer, verifyCode } from '../support/binary.ts';
import type { Doomed, Scene } from './scene.ts';

/** One answer of 200, with the values needed to verify it later. */
export type Promised =
  | { readonly kind: 'code'; readonly email: string; readonly challengeId: string }
  | { readonly kind: 'used'; readonly challengeId: string; readonly code: string }
  | { readonly kind: 'session'; readonly token: string }
  /** A session that was signed out or whose holder was banned. */
  | { readonly kind: 'ended'; readonly token: string }
  | { readonly kind: 'key'; readonly token: string }
  /** The name is the number of the change. */
  | { readonly kind: 'named'; readonly applicationId: string; readonly turn: number }
  | { readonly kind: 'granted'; readonly userId: string; readonly changes: number }
  | { readonly kind: 'webhook'; readonly path: string }
  /** Ends a promise: from here on the webhook may be missing. */
  | { readonly kind: 'deleting webhook'; readonly path: string }
  | { readonly kind: 'deleted webhook'; readonly path: string }
  | { readonly kind: 'imported'; readonly emails: readonly string[] }
  | { readonly kind: 'archived'; readonly applicationId: string };

/** Longest wait for the background tasks of archived applications. */
const TRAIL_MS = 60_000;

/** Counts promises by kind. */
export function countByKind(promises: readonly Promised[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of promises) if (kind !== 'deleting webhook') counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Names broken promises, on a server that runs on the same folder again. */
export async function lossesOf(promises: readonly Promised[], scene: Scene, server: RunningServer): Promise<string[]> {
  const place = { scene, server, sqlite: openDatabase(server.folder) };
  const deleting = new Set(
    promises.flatMap((promised) => (promised.kind === 'deleting webhook' ? [promised.path] : [])),
  );
  const losses: string[] = [];
  for (const promised of promises) {
    if (promised.kind === 'webhook' && deleting.has(promised.path)) continue;
    const look = LOOK[promised.kind] as (promised: Promised, place: Place) => Promise<string | null>;
    const loss = await look(promised, place);
    if (loss !== null) losses.push(`${JSON.stringify(promised)}: ${loss}`);
  }
  place.sqlite.close();
  return losses;
}

/** A server and its data, in which promises are looked for. */
interface Place {
  readonly scene: Scene;
  readonly server: RunningServer;
  readonly sqlite: Database;
}

/** Returns why a promise is broken; null if it was kept. */
type Look<Kind> = (promised: Extract<Promised, { kind: Kind }>, place: Place) => Promise<string | null>;

const LOOK: { readonly [Kind in Promised['kind']]: Look<Kind> } = {
  async code({ email, challengeId }, { sqlite }) {
    const isMailed = count(sqlite, 'FROM mails WHERE recipient = ?', email) > 0;
    const isIssued = count(sqlite, 'FROM code_challenges WHERE id = ?', challengeId) > 0;
    return isMailed && isIssued ? null : 'the code was not sent';
  },
  async used({ challengeId, code }, { server }) {
    const again = await verifyCode(server, challengeId, code);
    return again.json.error === 'code_consumed' ? null : `the code was not used: ${again.text}`;
  },
  async session({ token }, { server }) {
    const session = await request(server, 'POST', '/api/v1/session', { token });
    return session.status === 200 ? null : `the session is not there: ${session.text}`;
  },
  async ended({ token }, { server }) {
    const session = await request(server, 'POST', '/api/v1/session', { token });
    return session.status === 401 || session.status === 403 ? null : `the session is open: ${session.text}`;
  },
  async key({ token }, { server }) {
    const list = await request(server, 'GET', '/api/applications', { token });
    return list.status === 200 ? null : `the key is not there: ${list.text}`;
  },
  async named({ applicationId, turn }, { sqlite }) {
    const row = sqlite.query('SELECT name FROM applications WHERE id = ?').get(applicationId) as {
      name: string;
    } | null;
    const audits = count(
      sqlite,
      "FROM audit_records WHERE application_id = ? AND kind = 'application.updated'",
      applicationId,
    );
    return Number(row?.name) >= turn && audits >= turn
      ? null
      : `the name is ${row?.name}, with ${audits} audit records`;
  },
  async granted({ userId, changes }, { scene, sqlite }) {
    const ofUser = "json_extract(e.data, '$.userId') = ? AND e.type LIKE 'user.role_%'";
    const events = count(sqlite, `FROM events e WHERE ${ofUser}`, userId);
    const deliveries = count(
      sqlite,
      `FROM deliveries d JOIN events e ON e.id = d.event_id WHERE ${ofUser} AND d.webhook_id = ?`,
      userId,
      scene.webhookId,
    );
    return events >= changes && deliveries === events ? null : `${events} events, ${deliveries} deliveries`;
  },
  webhook: async ({ path }, place) => ((await isThere(path, place)) ? null : 'the webhook is not there'),
  'deleting webhook': async () => null,
  'deleted webhook': async ({ path }, place) => ((await isThere(path, place)) ? 'the webhook is still there' : null),
  async imported({ emails }, { scene, sqlite }) {
    const members =
      'FROM application_users m JOIN users u ON u.id = m.user_id WHERE u.email = ? AND m.application_id = ?';
    const missing = emails.filter((email) => count(sqlite, members, email, scene.applicationId) === 0);
    return missing.length === 0 ? null : `${missing.length} are no members`;
  },
  /** Checks that no session works any more, and that each revoked row has its event. */
  async archived({ applicationId }, { scene, server, sqlite }) {
    const { tokens, sessions } = doomedOf(scene, applicationId);
    for (const token of tokens) {
      const session = await request(server, 'POST', '/api/v1/session', { token });
      if (session.status === 200) return `a session is open: ${session.text}`;
    }
    const trail = trailOf(sqlite, applicationId);
    const isSound = trail.reported === trail.events && trail.open === sessions - trail.events;
    return isSound ? null : `of ${sessions} sessions: ${JSON.stringify(trail)}`;
  },
};

function doomedOf(scene: Scene, applicationId: string): Doomed {
  return scene.doomed.find((doomed) => doomed.applicationId === applicationId)!;
}

/** Waits until every background task has ended, and names those without exactly one event per session. */
export async function trailLossesOf(
  promises: readonly Promised[],
  scene: Scene,
  server: RunningServer,
): Promise<string[]> {
  const sqlite = openDatabase(server.folder);
  await eventually('the end of the trails', () => isTrailEnded(sqlite), TRAIL_MS);
  const losses = promises.flatMap((promised) => {
    if (promised.kind !== 'archived') return [];
    const { events, reported, open } = trailOf(sqlite, promised.applicationId);
    const { sessions } = doomedOf(scene, promised.applicationId);
    const isComplete = events === sessions && reported === sessions && open === 0;
    return isComplete ? [] : [`of ${sessions} sessions ${events} events tell of ${reported}, and ${open} are open`];
  });
  sqlite.close();
  return losses;
}

async function isThere(path: string, { scene, server }: Place): Promise<boolean> {
  const { status, text } = await request(server, 'GET', path, { token: scene.token });
  if (status !== 200 && status !== 404) throw new Error(`${path} answers ${status}: ${text}`);
  return status === 200;
}

function count(sqlite: Database, rows: string, ...values: string[]): number {
  return (sqlite.query(`SELECT count(*) AS count ${rows}`).get(...values) as { count: number }).count;
}

function openDatabase(folder: string): Database {
  const sqlite = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  sqlite.run('PRAGMA busy_timeout = 5000');
  return sqlite;
}

/** Returns whether every background task has ended. */
export function isTrailEnded(sqlite: Database): boolean {
  return sqlite.query('SELECT 1 FROM long_works LIMIT 1').get() === null;
}

/** Counts the revocation events of an application, the distinct sessions in them, and the sessions not yet revoked. */
export function trailOf(sqlite: Database, applicationId: string) {
  return sqlite
    .query(
      `SELECT count(*) AS events, count(DISTINCT json_extract(data, '$.sessionId')) AS reported,
         (SELECT count(*) FROM sessions s JOIN application_users m ON m.id = s.application_user_id
          WHERE m.application_id = ?1 AND s.revoked_at IS NULL) AS open
       FROM events WHERE application_id = ?1 AND type = 'user.session_revoked'`,
    )
    .get(applicationId) as { events: number; reported: number; open: number };
}

/** Names damage of the database itself. */
export function faultsOf(sqlite: Database): unknown[] {
  const integrity = sqlite.query('PRAGMA integrity_check').all() as { integrity_check: string }[];
  return [
    ...integrity.filter(({ integrity_check }) => integrity_check !== 'ok'),
    ...sqlite.query('PRAGMA foreign_key_check').all(),
  ];
}
