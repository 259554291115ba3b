/** Tells every application that a person is a member of what has changed about the person. */
import { displayName } from '../../core/display-name.ts';
import type { DomainEvent, EventData, EventType } from '../../core/event.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { listMembershipsWithApplication, type Member, type MembershipStatus } from '../../store/members.ts';
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

/** What of a profile has changed. */
interface ProfileChange {
  readonly categories: readonly ProfileCategory[];
  /** The fields of the identity among it. */
  readonly changed: readonly string[];
}

/** What `user.profile_updated` says; the name is empty where it is not known. */
export const profileUpdate = (name: string | null, { categories, changed }: ProfileChange) => ({
  name: name ?? '',
  categories: [...categories],
  ...(categories.includes('identity') && { changed: [...changed] }),
});

/** Tells each application what it sees change, by its membership; those that see nothing change are not told. */
export async function announceProfileChange(
  unit: Unit,
  userId: string,
  name: string | null,
  changeFor: (member: Member) => ProfileChange,
): Promise<void> {
  for (const { member, application } of await listMembershipsWithApplication(unit, userId)) {
    const change = changeFor(member);
    if (GONE.includes(member.status) || change.categories.length === 0) continue;
    const data = { userId, ...profileUpdate(name, change) };
    await emit(unit, { type: 'user.profile_updated', applicationId: application.id, data });
  }
}

/** One event for one change of the profile. @param changed the fields of the identity that changed. */
export async function announceProfile(
  unit: Unit,
  userId: string,
  categories: readonly ProfileCategory[],
  changed: readonly string[] = [],
): Promise<void> {
  if (categories.length === 0) return;
  const user = await requireUser(unit, userId);
  await announce(unit, userId, 'user.profile_updated', profileUpdate(displayName(user), { categories, changed }));
}
