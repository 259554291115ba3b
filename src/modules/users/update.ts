/**
 * Changes a user's record by management: external id, metadata and username. The profile can be corrected until the
 * person first signs in: from then on it is their own, in every application.
 */
import { displayName } from '../../core/display-name.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { isTooLarge, MAX_METADATA_BYTES, mergePatch, storedMetadata } from '../../core/metadata.ts';
import { required } from '../../core/required.ts';
import { isClaimableUsername, normalizeUsername, USERNAME_RULES } from '../../core/username.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { IDENTITY_RULES } from '../../http/identity-input.ts';
import { cleanFields } from '../../http/text-fields.ts';
import { recordAudit } from '../../store/audit.ts';
import { changeExternalId, changeUsername } from '../../store/handles.ts';
import { findMemberWithUser, type Member, type MemberWithUser, updateMember } from '../../store/members.ts';
import type { ReservedProfile } from '../../store/reservations.ts';
import { hasSignedIn } from '../../store/unproved-profiles.ts';
import { BLANK_PROFILE, differenceOf } from './fill-profile.ts';
import type { UserPatch } from './model.ts';
import { emitProfileUpdate, type ProfileCategory } from './publish.ts';

/** Null for fields that stay. */
interface Corrected {
  readonly profile: ReservedProfile | null;
  readonly changed: readonly string[];
}

/**
 * Changes only the given fields. Without an effect it records and announces nothing.
 *
 * @throws {AppError} invalid_request; conflict for a username or external id of another user; invalid_state for the
 *   profile of a person who has signed in, for a key, and for a deleted account.
 */
export async function updateMemberRecord(
  unit: Unit,
  { member, user }: MemberWithUser,
  patch: UserPatch,
): Promise<MemberWithUser> {
  if (user.deletedAt !== null) throw new AppError('invalid_state', { hint: 'user_deleted_account' });
  if (user.kind === 'api_key' && (patch.username !== undefined || patch.profile !== undefined))
    throw new AppError('invalid_state', { hint: 'user_is_key' });
  const { applicationId, userId } = member;
  const { profile, changed } = corrected(member, patch.profile);
  const isRenamed = await rename(unit, member, patch.username);
  const categories: ProfileCategory[] = [
    ...(profile ? (['identity'] as const) : []),
    ...((await identify(unit, member, patch.externalId)) ? (['external_id'] as const) : []),
    ...((await annotate(unit, member, patch.metadata)) ? (['metadata'] as const) : []),
  ];
  if (profile) await updateMember(unit, member.id, { reservedProfile: profile });
  if (!isRenamed && categories.length === 0) return { member, user };
  const row = required(await findMemberWithUser(unit, applicationId, userId), 'member who was changed');
  if (categories.length > 0)
    await emitProfileUpdate(unit, row.member, { name: displayName(row.user), categories, changed });
  const email = user.kind === 'person' ? user.email : null;
  const fields = [...(isRenamed ? ['username'] : []), ...categories.filter((one) => one !== 'identity'), ...changed];
  await recordAudit(unit, { kind: 'user.updated', applicationId, userId, email, detail: { fields } });
  return row;
}

async function rename(unit: Unit, { id, applicationId, userId, username }: Member, wanted?: string | null) {
  if (wanted === undefined) return false;
  const name = wanted === null ? null : normalizeUsername(wanted);
  if (name !== null && !isClaimableUsername(name)) throw invalidField('username', USERNAME_RULES);
  if (name === username) return false;
  if (!(await changeUsername(unit, id, name))) throw new AppError('conflict', { hint: 'username_taken' });
  const data = { userId, username: name, previousUsername: username };
  await emit(unit, { type: 'user.username_changed', applicationId, data });
  return true;
}

async function identify(unit: Unit, { id, externalId }: Member, wanted?: string | null): Promise<boolean> {
  if (wanted === undefined || wanted === externalId) return false;
  if (!(await changeExternalId(unit, id, wanted))) throw new AppError('conflict', { hint: 'external_id_taken' });
  return true;
}

async function annotate(unit: Unit, { id, metadata }: Member, patch: UserPatch['metadata']): Promise<boolean> {
  if (patch === undefined) return false;
  const merged = patch === null ? {} : mergePatch(metadata, patch);
  if (isTooLarge(merged))
    throw invalidField('metadata', `Keep it to ${MAX_METADATA_BYTES} bytes of JSON, merged with what is there.`);
  if (JSON.stringify(merged) === JSON.stringify(metadata ?? {})) return false;
  await updateMember(unit, id, { metadata: storedMetadata(merged) });
  return true;
}

function corrected(member: Member, patch: UserPatch['profile']): Corrected {
  if (patch === undefined) return { profile: null, changed: [] };
  if (hasSignedIn(member)) throw new AppError('invalid_state', { hint: 'user_profile_own' });
  const before = member.reservedProfile ?? BLANK_PROFILE;
  const profile = { ...before, ...cleanFields(IDENTITY_RULES, patch, 'profile.') };
  const { changed } = differenceOf(before, profile);
  return { profile: changed.length > 0 ? profile : null, changed };
}
