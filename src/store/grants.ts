/** Grants: roles, scopes and membership groups, and their holders. Nobody holds a removed grant. */
import { and, asc, count, eq, getTableName, gt, inArray, isNull, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { onlyOne } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { longRead, orm, ormFor, pipelinedChange, prepared, query } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import {
  applicationUserGroups,
  applicationUserRoles,
  applicationUserScopes,
  applicationUsers,
  membershipGroups,
  roles,
  scopes,
} from './schema/users.ts';

const { placeholder } = sql;

const TABLES = {
  roles: {
    table: roles,
    holders: applicationUserRoles,
    grantId: applicationUserRoles.roleId,
    holdersName: 'application_user_roles',
    grantColumn: 'role_id',
    touched: 'rolesUpdatedAt',
    idKind: 'role',
  },
  scopes: {
    table: scopes,
    holders: applicationUserScopes,
    grantId: applicationUserScopes.scopeId,
    holdersName: 'application_user_scopes',
    grantColumn: 'scope_id',
    touched: 'scopesUpdatedAt',
    idKind: 'scope',
  },
  memberships: {
    table: membershipGroups,
    holders: applicationUserGroups,
    grantId: applicationUserGroups.groupId,
    holdersName: 'application_user_groups',
    grantColumn: 'group_id',
    touched: 'membershipsUpdatedAt',
    idKind: 'membershipGroup',
  },
} as const;

export type GrantKind = keyof typeof TABLES;

export const ALL_KINDS = Object.keys(TABLES) as GrantKind[];

export type Grants = { readonly [Kind in GrantKind]: readonly string[] };

/** Ids by kind of grants that exist in the application. */
export type GrantIds = { readonly [Kind in GrantKind]: readonly string[] };

/** Slugs that a membership holds, sorted. */
export type HeldGrants = Record<GrantKind, string[]>;

export const NO_GRANTS: GrantIds = { roles: [], scopes: [], memberships: [] };

export type Grant = typeof roles.$inferSelect;

/** The columns of a membership that grants refer to. */
export interface Holder {
  readonly id: string;
  readonly applicationId: string;
  readonly userId: string;
}

function eachKind<Thing>(make: (kind: GrantKind) => Thing): Record<GrantKind, Thing> {
  return { roles: make('roles'), scopes: make('scopes'), memberships: make('memberships') };
}

async function forEachKind<Thing>(make: (kind: GrantKind) => Promise<Thing>): Promise<Record<GrantKind, Thing>> {
  const [roles, scopes, memberships] = await Promise.all([make('roles'), make('scopes'), make('memberships')]);
  return { roles, scopes, memberships };
}

const heldStatements = eachKind((kind) => {
  const { table, holders, grantId } = TABLES[kind];
  return prepared((db) =>
    db
      .select({ slug: table.slug })
      .from(holders)
      .innerJoin(table, eq(table.id, grantId))
      .where(and(eq(holders.applicationUserId, placeholder('memberId')), isNull(table.removedAt)))
      .orderBy(asc(table.slug))
      .prepare(),
  );
});

/** Returns the slugs of one kind that a membership holds, sorted. */
export async function heldSlugs(reader: Reader, kind: GrantKind, memberId: string): Promise<string[]> {
  const rows = await heldStatements[kind](reader, { memberId });
  return rows.map(({ slug }) => slug);
}

export function heldGrants(reader: Reader, memberId: string): Promise<HeldGrants> {
  return forEachKind((kind) => heldSlugs(reader, kind, memberId));
}

/** Returns the slugs of one kind that each membership holds, sorted, in one statement. */
export async function heldSlugsOf(
  reader: Reader,
  kind: GrantKind,
  memberIds: readonly string[],
): Promise<Map<string, string[]>> {
  const held = new Map(memberIds.map((id) => [id, [] as string[]]));
  if (memberIds.length === 0) return held;
  const { table, holders, grantId } = TABLES[kind];
  const rows = await orm(reader)
    .select({ memberId: holders.applicationUserId, slug: table.slug })
    .from(holders)
    .innerJoin(table, eq(table.id, grantId))
    .where(and(inArray(holders.applicationUserId, [...memberIds]), isNull(table.removedAt)));
  for (const { memberId, slug } of rows) held.get(memberId)?.push(slug);
  for (const slugs of held.values()) slugs.sort();
  return held;
}

/** Returns the grants of each membership, in one statement per kind. */
export async function heldGrantsOf(reader: Reader, memberIds: readonly string[]): Promise<Map<string, HeldGrants>> {
  const byKind = await forEachKind((kind) => heldSlugsOf(reader, kind, memberIds));
  return new Map(memberIds.map((id) => [id, eachKind((kind) => byKind[kind].get(id) ?? [])]));
}

const listDefaults = query.rows<{ kind: GrantKind; id: string }, string>(
  ALL_KINDS.map(
    (kind) => `SELECT '${kind}' AS kind, id FROM ${getTableName(TABLES[kind].table)}
     WHERE application_id = :applicationId AND is_default = 1 AND removed_at IS NULL`,
  ).join(' UNION ALL '),
);

/** Returns the grants that a person gets on joining an application. */
export async function defaultGrants(reader: Reader, applicationId: string): Promise<GrantIds> {
  const defaults = await listDefaults(reader, applicationId);
  return eachKind((kind) => defaults.filter((grant) => grant.kind === kind).map(({ id }) => id));
}

/** Returns the slugs of each application's default roles, sorted, in one statement. */
export async function listDefaultRoles(
  reader: Reader,
  applicationIds: readonly string[],
): Promise<Map<string, string[]>> {
  const slugs = new Map(applicationIds.map((id) => [id, [] as string[]]));
  if (applicationIds.length === 0) return slugs;
  const rows = await orm(reader)
    .select({ applicationId: roles.applicationId, slug: roles.slug })
    .from(roles)
    .where(and(inArray(roles.applicationId, [...applicationIds]), eq(roles.isDefault, true), isNull(roles.removedAt)))
    .orderBy(asc(roles.slug));
  for (const { applicationId, slug } of rows) slugs.get(applicationId)?.push(slug);
  return slugs;
}

export async function listGrants(reader: Reader, kind: GrantKind, applicationId: string): Promise<Grant[]> {
  const { table } = TABLES[kind];
  return orm(reader)
    .select()
    .from(table)
    .where(and(eq(table.applicationId, applicationId), isNull(table.removedAt)))
    .orderBy(asc(table.slug));
}

/** Returns a page of one kind, by slug. @param after the previous page's last slug; '' for the first page. */
export async function pageOfGrants(
  reader: Reader,
  kind: GrantKind,
  applicationId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Grant[]> {
  const { table } = TABLES[kind];
  return orm(reader)
    .select()
    .from(table)
    .where(and(eq(table.applicationId, applicationId), gt(table.slug, after), isNull(table.removedAt)))
    .orderBy(asc(table.slug))
    .limit(limit);
}

/** Returns the number of grants of one kind, without removed ones. */
export async function countGrants(reader: Reader, kind: GrantKind, applicationId: string): Promise<number> {
  const { table } = TABLES[kind];
  const rows = await orm(reader)
    .select({ number: count() })
    .from(table)
    .where(and(eq(table.applicationId, applicationId), isNull(table.removedAt)));
  return onlyOne(rows).number;
}

/** Returns a grant; undefined if it was removed or is another application's. */
export async function findGrant(
  reader: Reader,
  kind: GrantKind,
  applicationId: string,
  id: string,
): Promise<Grant | undefined> {
  const { table } = TABLES[kind];
  const [row] = await orm(reader)
    .select()
    .from(table)
    .where(and(eq(table.applicationId, applicationId), eq(table.id, id), isNull(table.removedAt)))
    .limit(1);
  return row;
}

/** Returns the ids of those slugs that exist in the application, by slug. */
export async function findGrantIds(
  reader: Reader,
  kind: GrantKind,
  applicationId: string,
  slugs: readonly string[],
): Promise<Map<string, string>> {
  if (slugs.length === 0) return new Map();
  const { table } = TABLES[kind];
  const found = await orm(reader)
    .select({ id: table.id, slug: table.slug })
    .from(table)
    .where(and(eq(table.applicationId, applicationId), inArray(table.slug, [...slugs]), isNull(table.removedAt)));
  return new Map(found.map(({ id, slug }) => [slug, id]));
}

export type NewGrant = Pick<Grant, 'applicationId' | 'slug' | 'name' | 'description' | 'isDefault'>;

/** Inserts a grant. Its slug must be free within its kind. */
export function insertGrant(unit: Unit, kind: GrantKind, grant: NewGrant): Promise<Grant> {
  const { table, idKind } = TABLES[kind];
  const id = newId(idKind, unit.now);
  return insertOne(unit, table, { id, ...grant, createdAt: unit.now, updatedAt: unit.now });
}

export function updateGrant(
  unit: Unit,
  kind: GrantKind,
  id: string,
  columns: Partial<Pick<Grant, 'slug' | 'name' | 'description' | 'isDefault'>>,
): Promise<Grant> {
  return updateOne(unit, TABLES[kind].table, id, { ...columns, updatedAt: unit.now });
}

/** Removes a grant from all holders and frees its slug. Row and links stay until every holder is notified. */
export async function markGrantRemoved(unit: Unit, kind: GrantKind, id: string): Promise<void> {
  const { table } = TABLES[kind];
  await ormFor(unit, [id])
    .update(table)
    // Cannot collide: slugs contain no tilde.
    .set({ slug: `~${id}`, isDefault: false, removedAt: unit.now, updatedAt: unit.now })
    .where(eq(table.id, id));
}

/** Deletes the row of a grant that no membership links to any more. */
export async function deleteGrant(unit: Unit, kind: GrantKind, id: string): Promise<void> {
  const { table } = TABLES[kind];
  await ormFor(unit, [id]).delete(table).where(eq(table.id, id));
}

const heldBySome = eachKind((kind) => {
  const { holdersName, grantColumn } = TABLES[kind];
  return query.exists<string>(`SELECT application_user_id FROM ${holdersName} WHERE ${grantColumn} = :id LIMIT 1`);
});

/** Returns whether any membership links to the grant, in any state. */
export function isGrantHeld(reader: Reader, kind: GrantKind, id: string): Promise<boolean> {
  return heldBySome[kind](reader, id);
}

const countedHolders = eachKind((kind) => {
  const { holdersName, grantColumn } = TABLES[kind];
  return longRead.count<{ id: string; after: string }>(
    `SELECT count(*) FROM ${holdersName} WHERE ${grantColumn} = :id AND application_user_id > :after`,
  );
});

/** Returns how many memberships link to a grant, from an index. @param after counts only those after this id. */
export function countHolders(reader: Reader, kind: GrantKind, id: string, after = ''): Promise<number> {
  return countedHolders[kind](reader, { id, after });
}

const holdersOfEach = eachKind((kind) => {
  const { holdersName, grantColumn } = TABLES[kind];
  return longRead.rows<{ id: string; holders: number }, { ids: readonly string[] }>(
    ({ idList }) => `SELECT ${grantColumn} AS id, count(*) AS holders FROM ${holdersName}
     WHERE ${grantColumn} IN ${idList(':ids')} GROUP BY ${grantColumn}`,
  );
});

const keysHoldingEach = eachKind((kind) => {
  const { holdersName, grantColumn } = TABLES[kind];
  return longRead.rows<{ id: string; holders: number }, { applicationId: string; ids: readonly string[] }>(
    ({ idList, joinInOrder }) => `SELECT h.${grantColumn} AS id, count(DISTINCT h.application_user_id) AS holders
     FROM api_keys k ${joinInOrder} ${holdersName} h ON h.application_user_id = k.application_user_id
     WHERE k.application_id = :applicationId AND k.source <> 'device' AND h.${grantColumn} IN ${idList(':ids')}
     GROUP BY h.${grantColumn}`,
  );
});

/** Returns how many people hold each grant of an application, in any status; not the principals of keys. Two statements from indexes. */
export async function countPeople(
  reader: Reader,
  kind: GrantKind,
  { applicationId, ids }: { readonly applicationId: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  const people = new Map(ids.map((id) => [id, 0]));
  if (ids.length === 0) return people;
  for (const { id, holders } of await holdersOfEach[kind](reader, { ids })) people.set(id, Number(holders));
  for (const { id, holders } of await keysHoldingEach[kind](reader, { applicationId, ids }))
    people.set(id, (people.get(id) ?? 0) - Number(holders));
  return people;
}

/** Returns a page of holders of a grant, even a removed one, by id. @param after the previous page's last id or ''. */
export async function listHolders(
  reader: Reader,
  kind: GrantKind,
  id: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Holder[]> {
  const { holders, grantId } = TABLES[kind];
  return orm(reader)
    .select({ id: applicationUsers.id, applicationId: applicationUsers.applicationId, userId: applicationUsers.userId })
    .from(holders)
    .innerJoin(applicationUsers, eq(applicationUsers.id, holders.applicationUserId))
    .where(and(eq(grantId, id), gt(holders.applicationUserId, after)))
    .orderBy(asc(holders.applicationUserId))
    .limit(limit);
}

const linkSql = (kind: GrantKind) => {
  const { holdersName, grantColumn } = TABLES[kind];
  return `INSERT INTO ${holdersName} (application_user_id, ${grantColumn}) VALUES (:memberId, :id)`;
};

interface Link {
  readonly memberId: string;
  readonly id: string;
}

const linkStatements = eachKind((kind) => pipelinedChange<Link>(linkSql(kind), { rowId: 'memberId' }));
const firstLinkStatements = eachKind((kind) => pipelinedChange<Link>(linkSql(kind), 'nothing cached'));

/** Gives a membership a grant that it does not hold yet. */
export async function linkGrant(unit: Unit, kind: GrantKind, memberId: string, id: string): Promise<void> {
  await linkStatements[kind](unit, { memberId, id });
}

/**
 * Gives grants to a membership that this change has created. No cached row is of it, and thousands of new ids would push
 * the changed ones out of the query caches.
 */
export async function linkFirstGrants(unit: Unit, memberId: string, grants: GrantIds): Promise<void> {
  for (const kind of ALL_KINDS) for (const id of grants[kind]) await firstLinkStatements[kind](unit, { memberId, id });
}

export async function unlinkGrant(
  unit: Unit,
  kind: GrantKind,
  memberIds: readonly string[],
  id: string,
): Promise<void> {
  if (memberIds.length === 0) return;
  const { holders, grantId } = TABLES[kind];
  await ormFor(unit, memberIds)
    .delete(holders)
    .where(and(inArray(holders.applicationUserId, [...memberIds]), eq(grantId, id)));
}

export async function clearGrants(unit: Unit, memberIds: readonly string[]): Promise<void> {
  if (memberIds.length === 0) return;
  for (const kind of ALL_KINDS) {
    const { holders } = TABLES[kind];
    await ormFor(unit, memberIds)
      .delete(holders)
      .where(inArray(holders.applicationUserId, [...memberIds]));
  }
}

/** Updates when these memberships' grants of one kind last changed. */
export async function touchHolders(unit: Unit, kind: GrantKind, memberIds: readonly string[]): Promise<void> {
  if (memberIds.length === 0) return;
  await ormFor(unit, memberIds)
    .update(applicationUsers)
    .set({ [TABLES[kind].touched]: unit.now, updatedAt: unit.now })
    .where(inArray(applicationUsers.id, [...memberIds]));
}
