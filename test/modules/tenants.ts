/** What tests of several tenants need: another workspace, a key under any condition, grants, a look at all tables. */
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { newId } from '@/core/id.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import type { Application } from '@/db/schema/applications.ts';
import type { Instance } from '../support/instance.ts';

export interface Tenant {
  readonly workspaceId: string;
  /** A full key of that workspace. */
  readonly workspaceKey: string;
  /** A live application of it. */
  readonly application: Application;
}

/** A second workspace beside the instance's own. */
export function createTenant({ db, services, clock }: Instance, name = 'Other'): Tenant {
  const workspaceId = newId('workspace', clock.now());
  const workspaceKey = mintSecret('apiKey', systemRandom);
  db.sqlite.prepare('INSERT INTO workspaces VALUES (?, ?, ?)').run(workspaceId, name, clock.now());
  db.write(SYSTEM_ACTOR, (unit) => services.apiKeys.adopt(unit, workspaceId, workspaceKey));
  const { id } = services.applications.create(SYSTEM_ACTOR, workspaceId, { name });
  services.applications.publish(SYSTEM_ACTOR, services.applications.find(id)!);
  services.applications.goLive(SYSTEM_ACTOR, services.applications.find(id)!);
  return { workspaceId, workspaceKey, application: services.applications.find(id)! };
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
export function revokeKey({ db, clock }: Instance, keyId: string): void {
  db.sqlite.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ?').run(clock.now(), keyId);
  db.sqlite
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
export function createGrant({ db, clock }: Instance, kind: GrantKind, applicationId: string, slug: string): string {
  const [table, , , idKind] = GRANT_TABLES[kind];
  const id = newId(idKind, clock.now());
  db.sqlite.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, NULL, 0, ?, ?)`).run(id, applicationId, slug, slug, 1, 1);
  return id;
}

/** Gives a member of an application a role, scope or group, which is made where it does not exist. */
export function grant(instance: Instance, kind: GrantKind, applicationId: string, userId: string, slug: string): void {
  const { sqlite } = instance.db;
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

/** Every row of every table but the traces of mere use, so that "nothing changed" can be proved. */
export function dumpTables({ db }: Instance): Record<string, unknown[]> {
  const names = db.sqlite
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string }[];
  return Object.fromEntries(
    names
      .filter(({ name }) => !USE_TABLES.includes(name))
      .map(({ name }) => [
        name,
        (db.sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[]).map((row) =>
          Object.fromEntries(Object.entries(row).filter(([column]) => !USE_COLUMNS.includes(column))),
        ),
      ]),
  );
}

/** Everything stored, as text a secret could be found in: blobs in hex and as they are. */
export function storedText({ db }: Instance): string {
  const names = db.sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  return names
    .flatMap(({ name }) => db.sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
    .flatMap((row) => Object.values(row))
    .map((value) =>
      value instanceof Uint8Array
        ? `${Buffer.from(value).toString('hex')} ${Buffer.from(value).toString('latin1')}`
        : value,
    )
    .join('\n');
}
