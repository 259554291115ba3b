/** What tests of several tenants need: another workspace, a key under any condition, grants, a look at all tables. */
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { newId } from '@/core/id.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { type Application, findApplication } from '@/store/applications.ts';
import type { Instance } from '../support/instance.ts';

export interface Tenant {
  readonly workspaceId: string;
  /** A full key of that workspace. */
  readonly workspaceKey: string;
  /** A live application of it. */
  readonly application: Application;
}

/** A second workspace beside the instance's own. */
export async function createTenant(instance: Instance, name = 'Other'): Promise<Tenant> {
  const { db, sqlite, services, clock } = instance;
  const { applications, apiKeys } = services;
  const workspaceId = newId('workspace', clock.now());
  const workspaceKey = mintSecret('apiKey', systemRandom);
  sqlite.prepare('INSERT INTO workspaces VALUES (?, ?, ?)').run(workspaceId, name, clock.now());
  await db.write(SYSTEM_ACTOR, async (unit) => apiKeys.adopt(unit, workspaceId, workspaceKey));
  const { id } = await applications.create(SYSTEM_ACTOR, workspaceId, { name });
  await applications.publish(SYSTEM_ACTOR, (await findApplication(db.reader, id))!);
  await applications.goLive(SYSTEM_ACTOR, (await findApplication(db.reader, id))!);
  return { workspaceId, workspaceKey, application: (await findApplication(db.reader, id))! };
}

/** A key of the instance's workspace, made over the API; a subset of applications when one is given. */
export async function createWorkspaceKey(instance: Instance, input: Record<string, unknown> = {}) {
  const { json } = await instance.call('POST', '/api/workspace/api-keys', {
    token: instance.workspaceKey,
    body: { name: 'ops', access: 'full', rateLimits: { perMinute: 10_000, perDay: 1_000_000 }, ...input },
  });
  return json.data as { id: string; token: string; userId: string };
}

/** What revoking a key leaves behind, until there is an endpoint for it: the key marked, its membership banned. */
export function revokeKey({ sqlite, clock }: Instance, keyId: string): void {
  sqlite.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ?').run(clock.now(), keyId);
  sqlite
    .prepare(
      `UPDATE application_users SET status = 'banned' WHERE id = (SELECT application_user_id FROM api_keys WHERE id = ?)`,
    )
    .run(keyId);
}

const GRANT_TABLES = {
  roles: ['roles', 'application_user_roles', 'role_id', 'role'],
  scopes: ['scopes', 'application_user_scopes', 'scope_id', 'scope'],
  memberships: ['membership_groups', 'application_user_groups', 'group_id', 'membershipGroup'],
} as const;

export type GrantKind = keyof typeof GRANT_TABLES;

/** Makes a role, scope or group of an application. */
export function createGrant({ sqlite, clock }: Instance, kind: GrantKind, applicationId: string, slug: string): string {
  const [table, , , idKind] = GRANT_TABLES[kind];
  const id = newId(idKind, clock.now());
  sqlite
    .prepare(
      `INSERT INTO ${table} (id, application_id, slug, name, is_default, created_at, updated_at)
       VALUES (?, ?, ?, ?, 0, 1, 1)`,
    )
    .run(id, applicationId, slug, slug);
  return id;
}

/** Gives a member of an application a role, scope or group, which is made where it does not exist. */
export function grant(instance: Instance, kind: GrantKind, applicationId: string, userId: string, slug: string): void {
  const { sqlite } = instance;
  const [table, holders, column] = GRANT_TABLES[kind];
  const existing = sqlite
    .prepare(`SELECT id FROM ${table} WHERE application_id = ? AND slug = ?`)
    .get(applicationId, slug) as { id: string } | null;
  sqlite
    .prepare(
      `INSERT INTO ${holders} (application_user_id, ${column})
       SELECT id, ? FROM application_users WHERE application_id = ? AND user_id = ?`,
    )
    .run(existing?.id ?? createGrant(instance, kind, applicationId, slug), applicationId, userId);
}

/** Written off the request's path, by a flush: they say when something was used, not what it is. */
const USE_COLUMNS = ['last_seen_at', 'last_used_at'];
const USE_TABLES = ['rate_counters'];

/** Mails leave beside the test; what counts is which there are. */
const SENDING_COLUMNS = ['status', 'attempts', 'next_attempt_at', 'leased_until', 'last_error', 'sent_at'];
const CARRIED_COLUMNS = ['text', 'html', 'code'];

const isTraceOf = (table: string, column: string): boolean =>
  USE_COLUMNS.includes(column) ||
  (table === 'mails' && (SENDING_COLUMNS.includes(column) || CARRIED_COLUMNS.includes(column)));

/** Every row of every table but the traces of mere use and of sending, so that "nothing changed" can be proved. */
export function dumpTables({ sqlite }: Instance): Record<string, unknown[]> {
  const names = sqlite
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string }[];
  return Object.fromEntries(
    names
      .filter(({ name }) => !USE_TABLES.includes(name))
      .map(({ name }) => [
        name,
        (sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[]).map((row) =>
          Object.fromEntries(Object.entries(row).filter(([column]) => !isTraceOf(name, column))),
        ),
      ]),
  );
}

/** Everything stored, as text a secret could be found in: blobs in hex and as they are. */
export function storedText({ sqlite }: Instance): string {
  const names = sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  return names
    .flatMap(({ name }) => sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
    .flatMap((row) => Object.values(row))
    .map((value) =>
      value instanceof Uint8Array
        ? `${Buffer.from(value).toString('hex')} ${Buffer.from(value).toString('latin1')}`
        : value,
    )
    .join('\n');
}
