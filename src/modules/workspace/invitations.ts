/** Workspace membership comes with a membership of the console, through which people use the workspace. */
import { AppError } from '../../core/error.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { defaultGrants } from '../../store/grants.ts';
import { findMember, setMemberStatus } from '../../store/members.ts';
import { findAliasHolder, findUserByEmail, insertPerson } from '../../store/people.ts';
import { findWorkspaceMember } from '../../store/workspace-members.ts';
import { accountOf, findRecipients } from '../users/recipients.ts';
import { enrolMember } from '../users/members.ts';

/**
 * Lifts a ban of the console; a person who left on their own comes back by signing in.
 *
 * @throws {AppError} user_deleted; email_archived for an address that somebody has given up.
 */
export async function ensureMember(unit: Unit, consoleId: string, email: string): Promise<{ userId: string }> {
  const known = await findUserByEmail(unit, email);
  if (known && known.deletedAt !== null) throw new AppError('user_deleted');
  if (!known && (await findAliasHolder(unit, email))) throw new AppError('email_archived');
  const { id: userId } = known ?? (await insertPerson(unit, email, false));
  await openConsole(unit, consoleId, userId);
  return { userId };
}

export interface Invited {
  readonly userId: string;
  /** Null for a person the workspace knows. */
  readonly invitedEmail: string | null;
}

/**
 * Reveals nothing about people the workspace has never seen: neither whether the server knows them nor their state.
 *
 * @throws {AppError} for people the workspace knows: user_deleted; email_archived for an address they have given up.
 */
export async function inviteMember(
  unit: Unit,
  { consoleId, workspaceId }: { readonly consoleId: string; readonly workspaceId: string },
  email: string,
): Promise<Invited> {
  const addressee = required((await findRecipients(unit, workspaceId, [email])).get(email), 'addressee');
  if (addressee.kind === 'given_up' || (await hasGivenUpAddress(unit, workspaceId, email)))
    throw new AppError('email_archived');
  if (addressee.kind === 'known' && addressee.user.deletedAt !== null) throw new AppError('user_deleted');
  const userId = addressee.kind === 'known' ? addressee.user.id : await accountOf(unit, addressee);
  await openConsole(unit, consoleId, userId);
  return { userId, invitedEmail: addressee.kind === 'known' ? null : email };
}

/** Returns whether a member of the workspace has given the address up. */
async function hasGivenUpAddress(unit: Unit, workspaceId: string, email: string): Promise<boolean> {
  const holderId = await findAliasHolder(unit, email);
  const seat = holderId === undefined ? undefined : await findWorkspaceMember(unit, workspaceId, holderId);
  return seat !== undefined && seat.invitedEmail === null;
}

async function openConsole(unit: Unit, consoleId: string, userId: string): Promise<void> {
  const member = await findMember(unit, consoleId, userId);
  if (!member) {
    const place = { applicationId: consoleId, userId, username: null };
    await enrolMember(unit, place, await defaultGrants(unit, consoleId));
  } else if (member.status === 'banned') {
    await setMemberStatus(unit, member.id, 'active');
    await emit(unit, { type: 'user.unbanned', applicationId: consoleId, data: { userId } });
  }
}
