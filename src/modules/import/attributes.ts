/** Fills external ids and metadata from an import: present values and keys stay. */
import { displayName } from '../../core/display-name.ts';
import { filledMetadata, isTooLarge, storedMetadata } from '../../core/metadata.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import { findMemberWithUser, type Member, updateMember } from '../../store/members.ts';
import { emitProfileUpdate, type ProfileCategory } from '../users/publish.ts';
import type { CleanRow } from './rows.ts';

/** Values to set; absent ones stay. */
export type Attributes = Partial<Pick<Member, 'externalId' | 'metadata'>>;

/** @returns what a row changes of a member, or why it is skipped. */
export function wantedAttributes(
  { externalIds }: { readonly externalIds: ReadonlyMap<string, string> },
  member: Member | undefined,
  accountId: string | null,
  { externalId, metadata }: Pick<CleanRow, 'externalId' | 'metadata'>,
): Attributes | { readonly error: string } {
  const isIdWanted = externalId !== null && member?.externalId == null;
  const holder = isIdWanted ? externalIds.get(externalId) : undefined;
  if (holder !== undefined && holder !== accountId) return { error: `external_id_taken:${externalId}` };
  const present = member?.metadata ?? null;
  const after = filledMetadata(present, metadata);
  if (isTooLarge(after)) return { error: 'field_invalid:metadata' };
  const isFilled = Object.keys(after).length > Object.keys(present ?? {}).length;
  return { ...(isIdWanted && { externalId }), ...(isFilled && { metadata: storedMetadata(after) }) };
}

/** Sets the values and announces them to the application. @returns the member; null if there is nothing to set. */
export async function fillAttributes(unit: Unit, member: Member, attributes: Attributes): Promise<Member | null> {
  const categories: ProfileCategory[] = [
    ...(attributes.externalId === undefined ? [] : (['external_id'] as const)),
    ...(attributes.metadata === undefined ? [] : (['metadata'] as const)),
  ];
  if (categories.length === 0) return null;
  await updateMember(unit, member.id, attributes);
  const row = required(await findMemberWithUser(unit, member.applicationId, member.userId), 'member who was changed');
  await emitProfileUpdate(unit, row.member, { name: displayName(row.user), categories, changed: [] });
  return row.member;
}
