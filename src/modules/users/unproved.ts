/**
 * Members whose address is not proved: their workspace's own identity provider has vouched for them. They keep a profile of
 * their own in that workspace, which nobody else sees, until the holder of the address comes.
 */
import { displayName } from '../../core/display-name.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import { deleteAddressesOf } from '../../store/addresses.ts';
import type { Application } from '../../store/applications.ts';
import { defaultGrants } from '../../store/grants.ts';
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
import { grantInitially } from '../grants/holders.ts';
import { announceOfProfile, announceProfileChange } from './announce.ts';
import { BLANK_PROFILE, differenceOf, filled, profileOf } from './blanks.ts';

/** Tables of a profile, dependants before the tables they refer to. */
export const PROFILE_TABLES = [deleteLegalEntitiesOf, deleteAddressesOf, deleteLanguagesOf, deleteImagesOf] as const;

/** An unproved member, and whether their profile in the workspace was made just now. */
export interface UnprovedMember {
  readonly member: Member;
  readonly isNewProfile: boolean;
}

/**
 * Lets a person in by the word of the workspace's provider. A reservation stays one: its grants, username and imported
 * profile count, and wait for the holder as well.
 *
 * @param member the place they have in the application already.
 */
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
    await grantInitially(unit, made.id, await defaultGrants(unit, applicationId));
    return { member: made, isNewProfile: isNew };
  }
  await takeReservation(unit, member.id, user.id, profile.id);
  if (member.reservedProfile) await fillUnproved(unit, profile.id, member.reservedProfile);
  return { member: required(await findMemberById(unit, member.id), 'membership'), isNewProfile: isNew };
}

/** Fills what is blank in an unproved profile with an imported one, and tells the applications that see it. */
export async function fillUnproved(unit: Unit, profileId: string, offered: ReservedProfile): Promise<void> {
  const profile = await requireUser(unit, profileId);
  const before = profileOf(profile, await listLanguages(unit, profileId));
  const after = filled(before, offered);
  const difference = differenceOf(before, after);
  const { languages, ...identity } = after;
  if (difference.categories.includes('identity')) await updateUser(unit, profileId, identity);
  if (difference.categories.includes('languages')) await insertLanguages(unit, profileId, languages);
  const name = displayName({ ...identity, name: null });
  await announceProfileChange(unit, profileId, () => ({ name, ...difference }));
}

/**
 * Drops every unproved profile of a person, with its pictures, addresses and entities. Their memberships are reservations
 * again; the applications that saw a profile are told what is gone.
 */
export async function dropUnprovedProfiles(unit: Unit, userId: string): Promise<void> {
  const members = await listUnprovedMembers(unit, userId);
  const profileIds = new Set(members.flatMap(({ profileUserId }) => profileUserId ?? []));
  for (const profileId of profileIds) {
    const profile = await requireUser(unit, profileId);
    const before = profileOf(profile, await listLanguages(unit, profileId));
    await announceProfileChange(unit, profileId, ({ reservedProfile }) => {
      const after = reservedProfile ?? BLANK_PROFILE;
      return { name: displayName({ ...after, name: null }), ...differenceOf(before, after) };
    });
    const gone = { url: null, sizes: null, updatedAt: null };
    if (profile.avatarUpdatedAt !== null) await announceOfProfile(unit, profileId, 'user.avatar_changed', gone);
    if (profile.bannerUpdatedAt !== null) await announceOfProfile(unit, profileId, 'user.banner_changed', gone);
    await returnToReservations(unit, profileId);
    for (const wipe of PROFILE_TABLES) await wipe(unit, profileId);
    await deleteUnprovedProfile(unit, profileId);
  }
}
