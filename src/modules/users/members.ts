/** Memberships of applications: a user joins with grants. The one place where users and memberships come into being. */
import { and, eq, sql } from 'drizzle-orm';
import { newId } from '../../core/id.ts';
import { preparedOnce } from '../../db/prepared.ts';
import { applicationUsers, emailAliases, type MembershipStatus, users } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { grantInitially } from '../grants/holders.ts';
import type { GrantIds } from '../grants/kinds.ts';

export type User = typeof users.$inferSelect;
export type ApplicationUser = typeof applicationUsers.$inferSelect;

/** The parts of a profile that can be known when a person is made. */
export type InitialProfile = Pick<User, 'givenName' | 'familyName' | 'fullName' | 'locale' | 'timezone'>;

const { placeholder } = sql;

const userByEmail = preparedOnce((orm) =>
  orm
    .select()
    .from(users)
    .where(eq(users.email, placeholder('email')))
    .prepare(),
);

const userById = preparedOnce((orm) =>
  orm
    .select()
    .from(users)
    .where(eq(users.id, placeholder('id')))
    .prepare(),
);

const aliasByEmail = preparedOnce((orm) =>
  orm
    .select({ userId: emailAliases.userId })
    .from(emailAliases)
    .where(eq(emailAliases.email, placeholder('email')))
    .prepare(),
);

const memberByUser = preparedOnce((orm) =>
  orm
    .select()
    .from(applicationUsers)
    .where(
      and(
        eq(applicationUsers.applicationId, placeholder('applicationId')),
        eq(applicationUsers.userId, placeholder('userId')),
      ),
    )
    .prepare(),
);

const userInsert = preparedOnce((orm) =>
  orm
    .insert(users)
    .values({
      id: placeholder('id'),
      kind: placeholder('kind'),
      email: placeholder('email'),
      emailVerifiedAt: placeholder('emailVerifiedAt'),
      name: placeholder('name'),
      givenName: placeholder('givenName'),
      familyName: placeholder('familyName'),
      fullName: placeholder('fullName'),
      locale: placeholder('locale'),
      timezone: placeholder('timezone'),
      createdAt: placeholder('now'),
      updatedAt: placeholder('now'),
    })
    .returning()
    .prepare(),
);

const memberInsert = preparedOnce((orm) =>
  orm
    .insert(applicationUsers)
    .values({
      id: placeholder('id'),
      applicationId: placeholder('applicationId'),
      userId: placeholder('userId'),
      status: 'active',
      username: placeholder('username'),
      lastSeenAt: placeholder('now'),
      rolesUpdatedAt: placeholder('now'),
      scopesUpdatedAt: placeholder('now'),
      membershipsUpdatedAt: placeholder('now'),
      createdAt: placeholder('now'),
      updatedAt: placeholder('now'),
    })
    .returning()
    .prepare(),
);

const NO_PROFILE: InitialProfile = { givenName: null, familyName: null, fullName: null, locale: null, timezone: null };

export function findUser({ tx }: Unit, id: string): User | undefined {
  return userById(tx).get({ id });
}

export function findUserByEmail({ tx }: Unit, email: string): User | undefined {
  return userByEmail(tx).get({ email });
}

/** @param isEmailProven whether the person has shown that they hold the address. */
export function insertPerson(unit: Unit, email: string, isEmailProven: boolean, profile = NO_PROFILE): User {
  const emailVerifiedAt = isEmailProven ? unit.now : null;
  return insertUser(unit, { kind: 'person', email, emailVerifiedAt, name: null, ...profile });
}

/** The synthetic principal of an API key; its address can neither receive mail nor collide with a person's. */
export function insertKeyPrincipal(unit: Unit, keyId: string, name: string): User {
  const email = `${keyId}@api-key.invalid`;
  return insertUser(unit, { kind: 'api_key', email, emailVerifiedAt: null, name, ...NO_PROFILE });
}

function insertUser(
  { tx, now }: Unit,
  fields: Pick<User, 'kind' | 'email' | 'emailVerifiedAt' | 'name'> & InitialProfile,
): User {
  const [user] = userInsert(tx).all({ id: newId('user', now), now, ...fields });
  return user!;
}

/** Whose address this was once; such an address never founds another account. */
export function findAliasHolder({ tx }: Unit, email: string): string | undefined {
  return aliasByEmail(tx).get({ email })?.userId;
}

export function findMember({ tx }: Unit, applicationId: string, userId: string): ApplicationUser | undefined {
  return memberByUser(tx).get({ applicationId, userId });
}

/** Changes the state of a membership. What follows from it, and who is told, is the caller's affair. */
export function setStatus(
  { tx, now }: Unit,
  memberId: string,
  status: MembershipStatus,
  statusReason: string | null = null,
): void {
  tx.update(applicationUsers)
    .set({ status, statusReason, updatedAt: now })
    .where(eq(applicationUsers.id, memberId))
    .run();
}

/** Makes the user a member with exactly these grants. */
export function insertMember(
  unit: Unit,
  applicationId: string,
  userId: string,
  grants: GrantIds,
  username: string | null = null,
): ApplicationUser {
  const { tx, now } = unit;
  const [member] = memberInsert(tx).all({ id: newId('applicationUser', now), applicationId, userId, username, now });
  grantInitially(unit, member!.id, grants);
  return member!;
}
