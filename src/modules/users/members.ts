/** Memberships of applications: a user joins with grants. The one place where a membership row comes into being. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { AppError, type FieldProblem } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import {
  applicationUserGroups,
  applicationUserRoles,
  applicationUsers,
  applicationUserScopes,
  membershipGroups,
  roles,
  scopes,
  users,
} from '../../db/schema/users.ts';
import type { Orm, Unit } from '../../db/unit-of-work.ts';

export type User = typeof users.$inferSelect;
export type ApplicationUser = typeof applicationUsers.$inferSelect;

/** Slugs to grant. */
export interface Grants {
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly memberships: readonly string[];
}

const GRANT_TABLES = { roles, scopes, memberships: membershipGroups } as const;

export function findUserByEmail({ tx }: Unit, email: string): User | undefined {
  return tx.select().from(users).where(eq(users.email, email)).get();
}

/** @param isEmailProven whether the person has shown that they hold the address. */
export function insertPerson(unit: Unit, email: string, isEmailProven: boolean): User {
  return insertUser(unit, { kind: 'person', email, emailVerifiedAt: isEmailProven ? unit.now : null, name: null });
}

/** The synthetic principal of an API key; its address can neither receive mail nor collide with a person's. */
export function insertKeyPrincipal(unit: Unit, keyId: string, name: string): User {
  return insertUser(unit, { kind: 'api_key', email: `${keyId}@api-key.invalid`, emailVerifiedAt: null, name });
}

function insertUser(unit: Unit, fields: Pick<User, 'kind' | 'email' | 'emailVerifiedAt' | 'name'>): User {
  const [user] = unit.tx
    .insert(users)
    .values({ id: newId('user', unit.now), ...fields, createdAt: unit.now, updatedAt: unit.now })
    .returning()
    .all();
  return user!;
}

export function findMember({ tx }: Unit, applicationId: string, userId: string): ApplicationUser | undefined {
  return tx
    .select()
    .from(applicationUsers)
    .where(and(eq(applicationUsers.applicationId, applicationId), eq(applicationUsers.userId, userId)))
    .get();
}

/** Makes the user a member with exactly these grants. */
export function insertMember(unit: Unit, applicationId: string, userId: string, grants: Grants): ApplicationUser {
  const [member] = unit.tx
    .insert(applicationUsers)
    .values({
      id: newId('applicationUser', unit.now),
      applicationId,
      userId,
      status: 'active',
      lastSeenAt: unit.now,
      rolesUpdatedAt: unit.now,
      scopesUpdatedAt: unit.now,
      membershipsUpdatedAt: unit.now,
      createdAt: unit.now,
      updatedAt: unit.now,
    })
    .returning()
    .all();
  const applicationUserId = member!.id;
  for (const roleId of idsOf(unit, 'roles', applicationId, grants.roles))
    unit.tx.insert(applicationUserRoles).values({ applicationUserId, roleId }).run();
  for (const scopeId of idsOf(unit, 'scopes', applicationId, grants.scopes))
    unit.tx.insert(applicationUserScopes).values({ applicationUserId, scopeId }).run();
  for (const groupId of idsOf(unit, 'memberships', applicationId, grants.memberships))
    unit.tx.insert(applicationUserGroups).values({ applicationUserId, groupId }).run();
  return member!;
}

/** What a person is granted on joining an application. */
export function defaultGrants({ tx }: Unit, applicationId: string): Grants {
  const slugsOf = (kind: keyof Grants) => {
    const table = GRANT_TABLES[kind];
    return tx
      .select({ slug: table.slug })
      .from(table)
      .where(and(eq(table.applicationId, applicationId), eq(table.isDefault, true)))
      .all()
      .map(({ slug }) => slug);
  };
  return { roles: slugsOf('roles'), scopes: slugsOf('scopes'), memberships: slugsOf('memberships') };
}

/**
 * The ids behind slugs of one application.
 *
 * @throws {AppError} invalid_request naming each slug's place that does not exist there.
 */
function idsOf({ tx }: Unit, kind: keyof Grants, applicationId: string, slugs: readonly string[]): string[] {
  if (slugs.length === 0) return [];
  const table = GRANT_TABLES[kind];
  const found = tx
    .select({ id: table.id, slug: table.slug })
    .from(table)
    .where(and(eq(table.applicationId, applicationId), inArray(table.slug, [...slugs])))
    .all();
  const idBySlug = new Map(found.map(({ id, slug }) => [slug, id]));
  const problems: FieldProblem[] = slugs.flatMap((slug, index) =>
    idBySlug.has(slug) ? [] : [{ path: `${kind}.${index}`, message: 'This slug does not exist in the application.' }],
  );
  if (problems.length > 0) throw new AppError('invalid_request', { fields: problems });
  return [...idBySlug.values()];
}

/** The slugs a membership holds, sorted. */
export function grantsOf(orm: Orm, applicationUserId: string): { [Kind in keyof Grants]: string[] } {
  const held = orm
    .select({
      roles: sql<string>`(SELECT json_group_array(r.slug ORDER BY r.slug) FROM application_user_roles h
        JOIN roles r ON r.id = h.role_id WHERE h.application_user_id = ${applicationUserId})`,
      scopes: sql<string>`(SELECT json_group_array(s.slug ORDER BY s.slug) FROM application_user_scopes h
        JOIN scopes s ON s.id = h.scope_id WHERE h.application_user_id = ${applicationUserId})`,
      memberships: sql<string>`(SELECT json_group_array(g.slug ORDER BY g.slug) FROM application_user_groups h
        JOIN membership_groups g ON g.id = h.group_id WHERE h.application_user_id = ${applicationUserId})`,
    })
    .from(sql`(SELECT 1)`)
    .get()!;
  return { roles: JSON.parse(held.roles), scopes: JSON.parse(held.scopes), memberships: JSON.parse(held.memberships) };
}
