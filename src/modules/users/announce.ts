/** Tells every application that a person is a member of what has changed about the person. */
import { displayName } from '../../core/display-name.ts';
import type { DomainEvent, EventData, EventType } from '../../core/event.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import {
  listMembershipsShowing,
  listMembershipsWithApplication,
  type Member,
  type MembershipStatus,
  type MembershipWithApplication,
} from '../../store/members.ts';
import { requireUser } from '../../store/people.ts';

/** Who left an application, or was deleted there, is no business of it any more. */
const GONE: readonly MembershipStatus[] = ['left', 'deleted'];

type About<Type extends EventType> = Omit<EventData[Type], 'userId'>;

/** The data of an event, or a function of the application and the user id there. */
type Telling<Type extends EventType> =
  About<Type> | ((application: { readonly slug: string }, userId: string) => About<Type>);

/** Emits an event about a person once for each application of theirs; see {@link EventData} for what it carries. */
export async function announce<Type extends EventType>(
  unit: Unit,
  userId: string,
  type: Type,
  data: Telling<Type>,
): Promise<void> {
  await announceTo(unit, await listMembershipsWithApplication(unit, userId), type, data);
}

/** Emits an event about a profile once for each application that sees it. */
export async function announceOfProfile<Type extends EventType>(
  unit: Unit,
  profileId: string,
  type: Type,
  data: Telling<Type>,
): Promise<void> {
  await announceTo(unit, await listMembershipsShowing(unit, profileId), type, data);
}

async function announceTo<Type extends EventType>(
  unit: Unit,
  memberships: readonly MembershipWithApplication[],
  type: Type,
  data: Telling<Type>,
): Promise<void> {
  for (const { member, application } of memberships) {
    if (GONE.includes(member.status)) continue;
    const { userId } = member;
    const about = typeof data === 'function' ? data(application, userId) : data;
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

/** Tells each application that sees a profile what changes there; applications that see nothing change are not told. */
export async function announceProfileChange(
  unit: Unit,
  profileId: string,
  changeFor: (member: Member) => ProfileChange & { readonly name: string | null },
): Promise<void> {
  for (const { member, application } of await listMembershipsShowing(unit, profileId)) {
    const change = changeFor(member);
    if (GONE.includes(member.status) || change.categories.length === 0) continue;
    const data = { userId: member.userId, ...profileUpdate(change.name, change) };
    await emit(unit, { type: 'user.profile_updated', applicationId: application.id, data });
  }
}

/** Emits one event for one change of a profile. @param changed the fields of the identity that changed. */
export async function announceProfile(
  unit: Unit,
  profileId: string,
  categories: readonly ProfileCategory[],
  changed: readonly string[] = [],
): Promise<void> {
  if (categories.length === 0) return;
  const name = displayName(await requireUser(unit, profileId));
  await announceOfProfile(unit, profileId, 'user.profile_updated', profileUpdate(name, { categories, changed }));
}
