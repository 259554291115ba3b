/** How somebody becomes a member of an application: with grants. */
import type { Unit } from '../../db/database.ts';
import type { GrantIds } from '../../store/grants.ts';
import { insertMemberRow, type Member } from '../../store/members.ts';
import { grantInitially } from '../grants/holders.ts';

/** Makes the user a member with exactly these grants. */
export async function joinMember(
  unit: Unit,
  applicationId: string,
  userId: string,
  grants: GrantIds,
  username: string | null = null,
): Promise<Member> {
  const member = await insertMemberRow(unit, { applicationId, userId, username });
  await grantInitially(unit, member.id, grants);
  return member;
}
