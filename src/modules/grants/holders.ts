/** Grants of memberships: resolved, set and added, with their events. */
import { AppError, type FieldProblem } from '../../core/error.ts';
import type { DomainEvent } from '../../core/event.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  findGrantIds,
  type GrantIds,
  type GrantKind,
  type Grants,
  heldSlugs,
  type Holder,
  linkGrant,
  touchHolders,
  unlinkGrant,
} from '../../store/grants.ts';
import { GRANT_NAMES } from './kinds.ts';

/** Returns ids by slug. @param path field of the slugs. @throws {AppError} invalid_request naming each unknown slug */
export async function knownGrants(
  reader: Reader,
  kind: GrantKind,
  applicationId: string,
  slugs: readonly string[],
  path: string,
): Promise<Map<string, string>> {
  const ids = await findGrantIds(reader, kind, applicationId, slugs);
  const fields: FieldProblem[] = slugs.flatMap((slug, index) =>
    ids.has(slug) ? [] : [{ path: `${path}.${index}`, message: 'This slug does not exist in the application.' }],
  );
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
  return ids;
}

/** Returns the ids of slugs. @throws {AppError} invalid_request naming each unknown slug. */
export async function resolveGrants(reader: Reader, applicationId: string, grants: Grants): Promise<GrantIds> {
  const idsOf = async (kind: GrantKind) => [
    ...(await knownGrants(reader, kind, applicationId, grants[kind], kind)).values(),
  ];
  return { roles: await idsOf('roles'), scopes: await idsOf('scopes'), memberships: await idsOf('memberships') };
}

/**
 * Replaces grants of one kind. Additions and removals emit an event each; an unchanged set emits nothing.
 *
 * @param field of the body, named in a refusal. @throws {AppError} invalid_request for an unknown slug
 */
export async function replaceGrants(
  unit: Unit,
  kind: GrantKind,
  holder: Holder,
  slugs: readonly string[],
  field = 'slugs',
): Promise<string[]> {
  const wanted = await knownGrants(unit, kind, holder.applicationId, slugs, field);
  const before = await heldSlugs(unit, kind, holder.id);
  const removed = before.filter((slug) => !wanted.has(slug));
  const added = [...wanted.keys()].filter((slug) => !before.includes(slug)).sort();
  if (added.length === 0 && removed.length === 0) return before;
  const removedIds = await findGrantIds(unit, kind, holder.applicationId, removed);
  for (const id of removedIds.values()) await unlinkGrant(unit, kind, [holder.id], id);
  for (const [slug, id] of wanted) if (added.includes(slug)) await linkGrant(unit, kind, holder.id, id);
  await touchHolders(unit, kind, [holder.id]);
  const current = [...wanted.keys()].sort();
  await announceGrants(unit, kind, holder, { added, removed, current });
  await recordAudit(unit, {
    kind: `${GRANT_NAMES[kind].audit}.assigned`,
    applicationId: holder.applicationId,
    userId: holder.userId,
    detail: { added, removed },
  });
  return current;
}

/**
 * Adds existing grants and leaves the others alone; emits only if something was added.
 *
 * @param before slugs of this kind that the holder has. @returns the holder's slugs afterwards.
 */
export async function addGrants(
  unit: Unit,
  kind: GrantKind,
  holder: Holder,
  before: readonly string[],
  ids: ReadonlyMap<string, string>,
): Promise<string[]> {
  const added = [...ids.keys()].filter((slug) => !before.includes(slug)).sort();
  if (added.length === 0) return [...before];
  for (const [slug, id] of ids) if (added.includes(slug)) await linkGrant(unit, kind, holder.id, id);
  await touchHolders(unit, kind, [holder.id]);
  const current = [...before, ...added].sort();
  await announceGrants(unit, kind, holder, { added, removed: [], current });
  return current;
}

export interface GrantChange {
  readonly added: string[];
  readonly removed: string[];
  readonly current: string[];
}

/** Emits the events of a change, with the slugs after it. */
export async function announceGrants(unit: Unit, kind: GrantKind, holder: Holder, change: GrantChange): Promise<void> {
  for (const event of eventsOf(kind, holder, change)) await emit(unit, event);
}

function eventsOf(
  kind: GrantKind,
  { applicationId, userId }: Holder,
  { added, removed, current }: GrantChange,
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
