/** Announces changes of a person to every application they are a member of. */
import { displayName } from '../../core/display-name.ts';
import type { DomainEvent, EventData, EventType } from '../../core/event.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { type Member, type MembershipStatus } from '../../store/members.ts';
import {
  listMembershipsShowing,
  listMembershipsWithApplication,
  type MembershipWithApplication,
} from '../../store/memberships.ts';
import { requireUser } from '../../store/people.ts';

/** Applications get no events about members who left or were deleted there. */
const GONE: readonly MembershipStatus[] = ['left', 'deleted'];

type About<Type extends EventType> = Omit<EventData[Type], 'userId'>;

type Publication<Type extends EventType> =
  About<Type> | ((application: { readonly slug: string }, userId: string) => About<Type>);

/** Emits an event about a person once per application; see {@link EventData} for its data. */
export async function publishToMemberships<Type extends EventType>(
  unit: Unit,
  userId: string,
  type: Type,
  data: Publication<Type>,
): Promise<void> {
  await publishTo(unit, await listMembershipsWithApplication(unit, userId), type, data);
}

/** Emits an event about a profile once per application that sees it. */
export async function publishOfProfile<Type extends EventType>(
  unit: Unit,
  profileId: string,
  type: Type,
  data: Publication<Type>,
): Promise<void> {
  await publishTo(unit, await listMembershipsShowing(unit, profileId), type, data);
}

async function publishTo<Type extends EventType>(
  unit: Unit,
  memberships: readonly MembershipWithApplication[],
  type: Type,
  data: Publication<Type>,
): Promise<void> {
  for (const { member, application } of memberships) {
    if (GONE.includes(member.status)) continue;
    const { userId } = member;
    const about = typeof data === 'function' ? data(application, userId) : data;
    await emit(unit, { type, applicationId: application.id, data: { userId, ...about } } as unknown as DomainEvent);
  }
}

/** Parts of a profile by their names in events. */
export type ProfileCategory =
  'identity' | 'languages' | 'region' | 'addresses' | 'legal_entities' | 'external_id' | 'metadata';

interface ProfileChange {
  readonly categories: readonly ProfileCategory[];
  readonly changed: readonly string[];
}

/** Returns the data of `user.profile_updated`; an unknown name is empty. */
const profileUpdate = (name: string | null, { categories, changed }: ProfileChange) => ({
  name: name ?? '',
  categories: [...categories],
  ...(categories.includes('identity') && { changed: [...changed] }),
});

/** Announces a profile change to each application that sees the profile, unless nothing changes there. */
export async function publishProfileChange(
  unit: Unit,
  profileId: string,
  changeFor: (member: Member) => ProfileChange & { readonly name: string | null },
): Promise<void> {
  for (const { member } of await listMembershipsShowing(unit, profileId)) {
    const change = changeFor(member);
    if (GONE.includes(member.status) || change.categories.length === 0) continue;
    await emitProfileUpdate(unit, member, change);
  }
}

/** Announces a change to the application of one membership. */
export async function emitProfileUpdate(
  unit: Unit,
  { applicationId, userId, externalId }: Pick<Member, 'applicationId' | 'userId' | 'externalId'>,
  { name, ...change }: ProfileChange & { readonly name: string | null },
): Promise<void> {
  const data = { userId, ...profileUpdate(name, change), ...(externalId !== null && { externalId }) };
  await emit(unit, { type: 'user.profile_updated', applicationId, data });
}

/** Emits the events of one profile change. @param changed the changed fields of the identity. */
export async function publishProfile(
  unit: Unit,
  profileId: string,
  categories: readonly ProfileCategory[],
  changed: readonly string[] = [],
): Promise<void> {
  if (categories.length === 0) return;
  const name = displayName(await requireUser(unit, profileId));
  await publishProfileChange(unit, profileId, () => ({ name, categories, changed }));
}
