/** Tells every application that a person is a member of what has changed about the person. */
import { and, eq, notInArray } from 'drizzle-orm';
import { displayName } from '../../core/display-name.ts';
import type { DomainEvent, EventData, EventType } from '../../core/event.ts';
import { applications } from '../../db/schema/applications.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { findUser } from './members.ts';

/** Who left an application, or was deleted there, is no business of it any more. */
const GONE = ['left', 'deleted'] as const;

type About<Type extends EventType> = Omit<EventData[Type], 'userId'>;

/**
 * Emits an event about a person once for each application; see {@link EventData} for what it carries.
 *
 * @param data what it says, or how that follows from the application it is said to.
 */
export function announce<Type extends EventType>(
  unit: Unit,
  userId: string,
  type: Type,
  data: About<Type> | ((application: { readonly slug: string }) => About<Type>),
): void {
  const memberships = unit.tx
    .select({ applicationId: applicationUsers.applicationId, slug: applications.slug })
    .from(applicationUsers)
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(and(eq(applicationUsers.userId, userId), notInArray(applicationUsers.status, [...GONE])))
    .orderBy(applicationUsers.id)
    .all();
  for (const { applicationId, slug } of memberships) {
    const about = typeof data === 'function' ? data({ slug }) : data;
    unit.emit({ type, applicationId, data: { userId, ...about } } as unknown as DomainEvent);
  }
}

export type ProfileCategory = 'identity' | 'languages' | 'region' | 'addresses' | 'legal_entities';

/** One event for one change of the profile. @param changed the fields of the identity that changed. */
export function announceProfile(
  unit: Unit,
  userId: string,
  categories: readonly ProfileCategory[],
  changed: readonly string[] = [],
): void {
  if (categories.length === 0) return;
  announce(unit, userId, 'user.profile_updated', {
    name: displayName(findUser(unit, userId)!),
    categories: [...categories],
    ...(categories.includes('identity') && { changed: [...changed] }),
  });
}
