/** Members vouched for only by their workspace's provider. Only that workspace sees their profile, until the proof. */
import { displayName } from '../../core/display-name.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import { deleteAddressesOf } from '../../store/addresses.ts';
import type { Application } from '../../store/applications.ts';
import { defaultGrants, linkFirstGrants } from '../../store/grants.ts';
import { deleteImagesOf } from '../../store/images.ts';
import { deleteLanguagesOf, insertLanguages, listLanguages } from '../../store/languages.ts';
import { deleteLegalEntitiesOf } from '../../store/legal-entities.ts';
import { findMemberById, insertMemberRow, type Member } from '../../store/members.ts';
import { requireUser, updateUser, type User } from '../../store/people.ts';
import type { ReservedProfile } from '../../store/reservations.ts';
import {
  deleteUnprovedProfile,
  ensureUnprovedProfile,
  listUnprovedMembers,
  returnToReservations,
  takeReservation,
} from '../../store/unproved-profiles.ts';
import { publishOfProfile, publishProfile, publishProfileChange } from './publish.ts';
import { BLANK_PROFILE, differenceOf, filled, profileOf } from './fill-profile.ts';

/** Deletes of a profile's tables, dependants before the tables they refer to. */
export const PROFILE_TABLES = [deleteLegalEntitiesOf, deleteAddressesOf, deleteLanguagesOf, deleteImagesOf] as const;

export interface UnprovedMember {
  readonly member: Member;
  readonly isNewProfile: boolean;
}

/** A reservation stays one: its grants, username and imported profile apply, and still wait for the holder. */
export async function admitUnproved(
  unit: Unit,
  { id: applicationId, workspaceId }: Application,
  { user, member }: { readonly user: User; readonly member: Member | undefined },
): Promise<UnprovedMember> {
  const workspace = required(workspaceId, 'workspace of an application');
  const { profile, isNew } = await ensureUnprovedProfile(unit, user.id, workspace);
  if (!member) {
    const place = { applicationId, userId: user.id, reservedEmail: user.email, profileUserId: profile.id };
    const made = await insertMemberRow(unit, place);
    await linkFirstGrants(unit, made.id, await defaultGrants(unit, applicationId));
    return { member: made, isNewProfile: isNew };
  }
  await takeReservation(unit, { memberId: member.id, userId: user.id, profileId: profile.id });
  if (member.reservedProfile) await fillUnproved(unit, profile.id, member.reservedProfile);
  return { member: required(await findMemberById(unit, member.id), 'membership'), isNewProfile: isNew };
}

/** Fills blanks of an unproved profile from an import, and notifies the applications that see it. */
export async function fillUnproved(unit: Unit, profileId: string, offered: ReservedProfile): Promise<void> {
  const profile = await requireUser(unit, profileId);
  const before = profileOf(profile, await listLanguages(unit, profileId));
  const after = filled(before, offered);
  const { categories, changed } = differenceOf(before, after);
  const { languages, ...identity } = after;
  if (categories.includes('identity')) await updateUser(unit, profileId, identity);
  if (categories.includes('languages')) await insertLanguages(unit, profileId, languages);
  await publishProfile(unit, profileId, categories, changed);
}

/** Memberships become reservations again, and the applications that saw a profile are notified. */
export async function dropUnprovedProfiles(unit: Unit, userId: string): Promise<void> {
  const members = await listUnprovedMembers(unit, userId);
  const profileIds = new Set(members.flatMap(({ profileUserId }) => profileUserId ?? []));
  for (const profileId of profileIds) {
    const profile = await requireUser(unit, profileId);
    const before = profileOf(profile, await listLanguages(unit, profileId));
    await publishProfileChange(unit, profileId, ({ reservedProfile }) => {
      const after = reservedProfile ?? BLANK_PROFILE;
      return { name: displayName({ ...after, name: null }), ...differenceOf(before, after) };
    });
    const gone = { url: null, sizes: null, updatedAt: null };
    if (profile.avatarUpdatedAt !== null) await publishOfProfile(unit, profileId, 'user.avatar_changed', gone);
    if (profile.bannerUpdatedAt !== null) await publishOfProfile(unit, profileId, 'user.banner_changed', gone);
    await returnToReservations(unit, profileId);
    for (const wipe of PROFILE_TABLES) await wipe(unit, profileId);
    await deleteUnprovedProfile(unit, profileId);
  }
}
