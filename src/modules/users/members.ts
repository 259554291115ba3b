/** How somebody becomes a member of an application: with grants. */
import type { Unit } from '../../db/database.ts';
import type { GrantIds } from '../../store/grants.ts';
import { insertMemberRow, type Member } from '../../store/members.ts';
import { insertReservation, NEVER, type NewReservation } from '../../store/reservations.ts';
import { grantInitially } from '../grants/holders.ts';

/** Makes the user, who comes now, a member with exactly these grants. */
export async function joinMember(unit: Unit, applicationId: string, userId: string, grants: GrantIds): Promise<Member> {
  const member = await insertMemberRow(unit, { applicationId, userId });
  await grantInitially(unit, member.id, grants);
  return member;
}

/** The same for somebody whom the workspace knows, and who has not come to this application yet. */
export async function enrolMember(
  unit: Unit,
  member: Pick<Member, 'applicationId' | 'userId' | 'username'>,
  grants: GrantIds,
): Promise<Member> {
  const enrolled = await insertMemberRow(unit, { ...member, lastSeenAt: NEVER });
  await grantInitially(unit, enrolled.id, grants);
  return enrolled;
}

/** The same for somebody whom the workspace has never seen: all of it waits for them. */
export async function reserveMember(unit: Unit, reservation: NewReservation, grants: GrantIds): Promise<Member> {
  const reserved = await insertReservation(unit, reservation);
  await grantInitially(unit, reserved.id, grants);
  return reserved;
}
