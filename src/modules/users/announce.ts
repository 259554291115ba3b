/** Tells every application that a person is a member of what has changed about the person. */
import { displayName } from '../../core/display-name.ts';
import type { DomainEvent, EventData, EventType } from '../../core/event.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { listMembershipsWithApplication, type MembershipStatus } from '../../store/members.ts';
import { requireUser } from '../../store/people.ts';

/** Who left an application, or was deleted there, is no business of it any more. */
const GONE: readonly MembershipStatus[] = ['left', 'deleted'];

type About<Type extends EventType> = Omit<EventData[Type], 'userId'>;

/**
 * Emits an event about a person once for each application; see {@link EventData} for what it carries.
 *
 * @param data what it says, or how that follows from the application it is said to.
 */
export async function announce<Type extends EventType>(
  unit: Unit,
  userId: string,
  type: Type,
  data: About<Type> | ((application: { readonly slug: string }) => About<Type>),
): Promise<void> {
  for (const { member, application } of await listMembershipsWithApplication(unit, userId)) {
    if (GONE.includes(member.status)) continue;
    const about = typeof data === 'function' ? data(application) : data;
    await emit(unit, { type, applicationId: application.id, data: { userId, ...about } } as unknown as DomainEvent);
  }
}

/** The parts of a profile, as events name them. */
export type ProfileCategory = 'identity' | 'languages' | 'region' | 'addresses' | 'legal_entities';

/** One event for one change of the profile. @param changed the fields of the identity that changed. */
export async function announceProfile(
  unit: Unit,
  userId: string,
  categories: readonly ProfileCategory[],
  changed: readonly string[] = [],
): Promise<void> {
  if (categories.length === 0) return;
  const user = await requireUser(unit, userId);
  await announce(unit, userId, 'user.profile_updated', {
    name: displayName(user),
    categories: [...categories],
    ...(categories.includes('identity') && { changed: [...changed] }),
  });
}
