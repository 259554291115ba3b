/** Who holds which grants: read, set and taken away, with the events that tell it. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { AppError, type FieldProblem } from '../../core/error.ts';
import type { DomainEvent } from '../../core/event.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Orm, Unit } from '../../db/unit-of-work.ts';
import { preparedOnce } from '../../db/prepared.ts';
import { ALL_KINDS, GRANT_KINDS, type GrantIds, type GrantKind, type Grants } from './kinds.ts';

/** The part of a membership that grants hang on. */
export interface Holder {
  /** Id of the membership (application_users). */
  readonly id: string;
  readonly applicationId: string;
  readonly userId: string;
}

const heldStatements = {
  roles: heldStatement('roles'),
  scopes: heldStatement('scopes'),
  memberships: heldStatement('memberships'),
};

function heldStatement(kind: GrantKind) {
  const { table, holders, grantId } = GRANT_KINDS[kind];
  return preparedOnce((orm) =>
    orm
      .select({ slug: table.slug })
      .from(holders)
      .innerJoin(table, eq(table.id, grantId))
      .where(eq(holders.applicationUserId, sql.placeholder('holder')))
      .orderBy(table.slug)
      .prepare(),
  );
}

/** The slugs a membership holds, sorted. */
function heldSlugs(orm: Orm, kind: GrantKind, applicationUserId: string): string[] {
  return heldStatements[kind](orm)
    .all({ holder: applicationUserId })
    .map(({ slug }) => slug);
}

export function heldGrants(orm: Orm, applicationUserId: string): Record<GrantKind, string[]> {
  return {
    roles: heldSlugs(orm, 'roles', applicationUserId),
    scopes: heldSlugs(orm, 'scopes', applicationUserId),
    memberships: heldSlugs(orm, 'memberships', applicationUserId),
  };
}

/** What a person is granted on joining an application. */
export function defaultGrants({ tx }: Unit, applicationId: string): GrantIds {
  const idsOf = (kind: GrantKind) => {
    const { table } = GRANT_KINDS[kind];
    return tx
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.applicationId, applicationId), eq(table.isDefault, true)))
      .all()
      .map(({ id }) => id);
  };
  return { roles: idsOf('roles'), scopes: idsOf('scopes'), memberships: idsOf('memberships') };
}

/** Ids by slug, of those among the slugs that exist in the application. */
export function grantIds(
  { tx }: Unit,
  kind: GrantKind,
  applicationId: string,
  slugs: readonly string[],
): Map<string, string> {
  if (slugs.length === 0) return new Map();
  const { table } = GRANT_KINDS[kind];
  const found = tx
    .select({ id: table.id, slug: table.slug })
    .from(table)
    .where(and(eq(table.applicationId, applicationId), inArray(table.slug, [...slugs])))
    .all();
  return new Map(found.map(({ id, slug }) => [slug, id]));
}

/**
 * @param path the field the slugs came in.
 * @throws {AppError} invalid_request naming the place of each slug that does not exist in the application.
 */
function knownIds(
  unit: Unit,
  kind: GrantKind,
  applicationId: string,
  slugs: readonly string[],
  path: string,
): Map<string, string> {
  const ids = grantIds(unit, kind, applicationId, slugs);
  const fields: FieldProblem[] = slugs.flatMap((slug, index) =>
    ids.has(slug) ? [] : [{ path: `${path}.${index}`, message: 'This slug does not exist in the application.' }],
  );
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
  return ids;
}

/** The ids behind slugs. @throws {AppError} invalid_request naming the place of each that does not exist. */
export function resolveGrants(unit: Unit, applicationId: string, grants: Grants): GrantIds {
  const idsOf = (kind: GrantKind) => [...knownIds(unit, kind, applicationId, grants[kind], kind).values()];
  return { roles: idsOf('roles'), scopes: idsOf('scopes'), memberships: idsOf('memberships') };
}

/** Gives a new membership its first grants, silently: joining is the event. */
export function grantInitially(unit: Unit, applicationUserId: string, grants: GrantIds): void {
  for (const kind of ALL_KINDS) for (const id of grants[kind]) link(unit, kind, applicationUserId, id);
}

/** Takes everything from the membership of a person who is gone, silently: that is the event. */
export function clearGrants({ tx }: Unit, applicationUserId: string): void {
  for (const kind of ALL_KINDS) {
    const { holders } = GRANT_KINDS[kind];
    tx.delete(holders).where(eq(holders.applicationUserId, applicationUserId)).run();
  }
}

/**
 * Replaces what a membership holds of one kind; additions and removals each emit their event, and nothing happens where
 * nothing changes.
 *
 * @throws {AppError} invalid_request for a slug that does not exist.
 */
export function replaceGrants(unit: Unit, kind: GrantKind, holder: Holder, slugs: readonly string[]): string[] {
  const wanted = knownIds(unit, kind, holder.applicationId, slugs, 'slugs');
  const before = heldSlugs(unit.tx, kind, holder.id);
  const removed = before.filter((slug) => !wanted.has(slug));
  const added = [...wanted.keys()].filter((slug) => !before.includes(slug)).sort();
  if (added.length === 0 && removed.length === 0) return before;
  const removedIds = grantIds(unit, kind, holder.applicationId, removed);
  for (const id of removedIds.values()) unlink(unit, kind, holder.id, id);
  for (const slug of added) link(unit, kind, holder.id, wanted.get(slug)!);
  touch(unit, kind, holder.id);
  const current = [...wanted.keys()].sort();
  announce(unit, kind, holder, { added, removed, current });
  unit.audit({
    kind: `${GRANT_KINDS[kind].audit}.assigned`,
    applicationId: holder.applicationId,
    userId: holder.userId,
    detail: { added, removed },
  });
  return current;
}

/** Adds grants that exist, leaving the others alone; emits only when something was added. */
export function addGrants(unit: Unit, kind: GrantKind, holder: Holder, ids: ReadonlyMap<string, string>): void {
  if (ids.size === 0) return;
  const before = heldSlugs(unit.tx, kind, holder.id);
  const added = [...ids.keys()].filter((slug) => !before.includes(slug)).sort();
  if (added.length === 0) return;
  for (const slug of added) link(unit, kind, holder.id, ids.get(slug)!);
  touch(unit, kind, holder.id);
  announce(unit, kind, holder, { added, removed: [], current: [...before, ...added].sort() });
}

/** Takes one grant away from some of those who hold it. @returns from how many; fewer than `limit` when none is left. */
export function withdrawFromSome(
  unit: Unit,
  kind: GrantKind,
  grant: { id: string; slug: string },
  limit: number,
): number {
  const held = holdersOf(unit, kind, grant.id, limit);
  for (const holder of held) {
    unlink(unit, kind, holder.id, grant.id);
    touch(unit, kind, holder.id);
    announce(unit, kind, holder, { added: [], removed: [grant.slug], current: heldSlugs(unit.tx, kind, holder.id) });
  }
  return held.length;
}

/** Tells of a grant that goes by another slug now, to whoever compares slugs: the old one is gone, the new one there. */
export function announceRename(unit: Unit, kind: GrantKind, id: string, slugs: { from: string; to: string }): void {
  for (const holder of holdersOf(unit, kind, id)) {
    touch(unit, kind, holder.id);
    announce(unit, kind, holder, {
      added: [slugs.to],
      removed: [slugs.from],
      current: heldSlugs(unit.tx, kind, holder.id),
    });
  }
}

/** @param limit how many at most; all when left out. */
function holdersOf({ tx }: Unit, kind: GrantKind, id: string, limit = -1): Holder[] {
  const { holders, grantId } = GRANT_KINDS[kind];
  return tx
    .select({ id: applicationUsers.id, applicationId: applicationUsers.applicationId, userId: applicationUsers.userId })
    .from(holders)
    .innerJoin(applicationUsers, eq(applicationUsers.id, holders.applicationUserId))
    .where(eq(grantId, id))
    .limit(limit)
    .all();
}

export function isHeld({ tx }: Unit, kind: GrantKind, id: string): boolean {
  const { holders, grantId } = GRANT_KINDS[kind];
  return (
    tx
      .select({ one: sql`1` })
      .from(holders)
      .where(eq(grantId, id))
      .limit(1)
      .get() !== undefined
  );
}

const linkStatements: { [Kind in GrantKind]: (orm: Orm) => { run(values: Record<string, string>): unknown } } = {
  roles: linkStatement('roles'),
  scopes: linkStatement('scopes'),
  memberships: linkStatement('memberships'),
};

function linkStatement(kind: GrantKind) {
  const { holders, grantColumn } = GRANT_KINDS[kind];
  return preparedOnce((orm) =>
    orm
      .insert(holders)
      .values({ applicationUserId: sql.placeholder('holder'), [grantColumn]: sql.placeholder('grant') } as never)
      .prepare(),
  );
}

function link({ tx }: Unit, kind: GrantKind, applicationUserId: string, id: string): void {
  linkStatements[kind](tx).run({ holder: applicationUserId, grant: id });
}

function unlink({ tx }: Unit, kind: GrantKind, applicationUserId: string, id: string): void {
  const { holders, grantId } = GRANT_KINDS[kind];
  tx.delete(holders)
    .where(and(eq(holders.applicationUserId, applicationUserId), eq(grantId, id)))
    .run();
}

function touch({ tx, now }: Unit, kind: GrantKind, applicationUserId: string): void {
  tx.update(applicationUsers)
    .set({ [GRANT_KINDS[kind].updatedAt]: now, updatedAt: now })
    .where(eq(applicationUsers.id, applicationUserId))
    .run();
}

interface Change {
  readonly added: string[];
  readonly removed: string[];
  readonly current: string[];
}

function announce(unit: Unit, kind: GrantKind, holder: Holder, change: Change): void {
  for (const event of eventsOf(kind, holder, change)) unit.emit(event);
}

function eventsOf(
  kind: GrantKind,
  { applicationId, userId }: Holder,
  { added, removed, current }: Change,
): DomainEvent[] {
  switch (kind) {
    case 'roles':
      return [
        ...when(added, { type: 'user.role_added', applicationId, data: { userId, roles: added, current } } as const),
        ...when(removed, {
          type: 'user.role_removed',
          applicationId,
          data: { userId, roles: removed, current },
        } as const),
      ];
    case 'scopes':
      return [
        ...when(added, { type: 'user.scope_added', applicationId, data: { userId, scopes: added, current } } as const),
        ...when(removed, {
          type: 'user.scope_removed',
          applicationId,
          data: { userId, scopes: removed, current },
        } as const),
      ];
    case 'memberships':
      return [
        { type: 'user.membership_changed', applicationId, data: { userId, memberships: current, added, removed } },
      ];
  }
}

function when(slugs: readonly string[], event: DomainEvent): DomainEvent[] {
  return slugs.length > 0 ? [event] : [];
}
