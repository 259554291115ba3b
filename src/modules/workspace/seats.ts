/** Seats: a person's membership of a workspace comes with one of the console, through which they use it. */
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { defaultGrants } from '../../store/grants.ts';
import { findMember, setMemberStatus } from '../../store/members.ts';
import { findAliasHolder, findUserByEmail, insertPerson } from '../../store/people.ts';
import { joinMember } from '../users/members.ts';

/**
 * The person behind an address, able to sign in to the console. Whoever was taken out of it is let in again; who left of
 * their own comes back by signing in.
 *
 * @throws {AppError} user_deleted; email_archived for an address that somebody has given up.
 */
export async function ensureSeat(unit: Unit, consoleId: string, email: string): Promise<{ userId: string }> {
  const known = await findUserByEmail(unit, email);
  if (known && known.deletedAt !== null) throw new AppError('user_deleted');
  if (!known && (await findAliasHolder(unit, email))) throw new AppError('email_archived');
  const { id: userId } = known ?? (await insertPerson(unit, email, false));
  const member = await findMember(unit, consoleId, userId);
  if (!member) await joinMember(unit, consoleId, userId, await defaultGrants(unit, consoleId));
  else if (member.status === 'banned') {
    await setMemberStatus(unit, member.id, 'active');
    await emit(unit, { type: 'user.unbanned', applicationId: consoleId, data: { userId } });
  }
  return { userId };
}
