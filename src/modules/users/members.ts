import type { Unit } from '../../db/database.ts';
import { type GrantIds, linkFirstGrants } from '../../store/grants.ts';
import { insertMemberRow, type Member } from '../../store/members.ts';
import { insertReservation, NEVER, type NewReservation } from '../../store/reservations.ts';

/** Makes a user who signs in now a member with exactly these grants. */
export async function joinMember(unit: Unit, applicationId: string, userId: string, grants: GrantIds): Promise<Member> {
  const member = await insertMemberRow(unit, { applicationId, userId });
  await linkFirstGrants(unit, member.id, grants);
  return member;
}

/** Makes a person the workspace knows a member who has not signed in to this application yet. */
export async function enrolMember(
  unit: Unit,
  member: Pick<Member, 'applicationId' | 'userId' | 'username'> & Partial<Pick<Member, 'externalId' | 'metadata'>>,
  grants: GrantIds,
): Promise<Member> {
  const enrolled = await insertMemberRow(unit, { ...member, lastSeenAt: NEVER });
  await linkFirstGrants(unit, enrolled.id, grants);
  return enrolled;
}

/** Reserves a membership for a person the workspace has never seen. */
export async function reserveMember(unit: Unit, reservation: NewReservation, grants: GrantIds): Promise<Member> {
  const reserved = await insertReservation(unit, reservation);
  await linkFirstGrants(unit, reserved.id, grants);
  return reserved;
}
