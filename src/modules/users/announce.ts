/** Tells every application that a person is a member of what has changed about the person. */
import { and, eq, notInArray } from 'drizzle-orm';
import { displayName } from '../../core/display-name.ts';
import type { DomainEvent, EventData, EventType } from '../../core/event.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { findUser } from './members.ts';

/** Who left an application, or was deleted there, is no business of it any more. */
const GONE = ['left', 'deleted'] as const;

/** Emits an event about a person once for each application; see {@link EventData} for what it carries. */
export function announce<Type extends EventType>(
  unit: Unit,
  userId: string,
  type: Type,
  data: Omit<EventData[Type], 'userId'>,
): void {
  const memberships = unit.tx
    .select({ applicationId: applicationUsers.applicationId })
    .from(applicationUsers)
    .where(and(eq(applicationUsers.userId, userId), notInArray(applicationUsers.status, [...GONE])))
    .orderBy(applicationUsers.id)
    .all();
  for (const { applicationId } of memberships)
    unit.emit({ type, applicationId, data: { userId, ...data } } as unknown as DomainEvent);
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
