/**
 * Allowlist rows of a person whose address has changed. Those of a workspace follow once the new address has been proved
 * there: otherwise an account that was stolen elsewhere would bring its place in a beta of this workspace along.
 */
import type { Unit } from '../../db/database.ts';
import { listInterestMoves, recordAudit } from '../../store/audit.ts';
import {
  type BetaInterest,
  deleteInterest,
  findInterest,
  findInterestByEmail,
  listInterestsIn,
  moveInterestTo,
} from '../../store/beta-interests.ts';
import { listAliasesOf } from '../../store/people.ts';

/** A person, and the address that they have just proved. */
interface Proved {
  readonly id: string;
  readonly email: string;
}

/** A tenant can list a person in any number of applications. Beyond these, rows follow with the next code. */
const MOST_MOVED = 200;

/**
 * Moves a person's rows from their former addresses to the present one, in the workspaces where they have proved it. A
 * request of the new address that nobody has decided gives way to an approval; otherwise both rows stay.
 */
export async function followAddress(unit: Unit, person: Proved, workspaceIds: readonly string[]): Promise<void> {
  const former = await listAliasesOf(unit, person.id);
  if (former.length === 0) return;
  for (const row of await listInterestsIn(unit, former, workspaceIds, MOST_MOVED)) {
    const existing = await findInterestByEmail(unit, row.applicationId, person.email);
    if (existing && !(row.status === 'approved' && isUndecided(existing))) continue;
    if (existing) await merge(unit, person, existing);
    await move(unit, person.id, row, person.email);
  }
}

/** Puts the rows back that have followed a person since a change of address that is undone. */
export async function restoreInterests(unit: Unit, userId: string, since: number): Promise<void> {
  for (const { interestId, applicationId, from } of await listInterestMoves(unit, userId, since)) {
    const row = await findInterest(unit, applicationId, interestId);
    if (!row || row.email === from) continue;
    // The address was listed anew meanwhile.
    if (await findInterestByEmail(unit, applicationId, from)) await deleteInterest(unit, row.id);
    else await move(unit, userId, row, from);
  }
}

/** Drops a request whose person has an approval at another address of theirs. */
async function merge(unit: Unit, { id: userId, email }: Proved, { id, applicationId }: BetaInterest): Promise<void> {
  await deleteInterest(unit, id);
  const detail = { reason: 'merged' };
  await recordAudit(unit, { kind: 'beta.removed', applicationId, userId, email, targetId: id, detail });
}

async function move(unit: Unit, userId: string, { id, applicationId, email }: BetaInterest, to: string): Promise<void> {
  await moveInterestTo(unit, id, to);
  await recordAudit(unit, { kind: 'beta.moved', applicationId, userId, email, targetId: id });
}

function isUndecided({ status, decidedAt }: BetaInterest): boolean {
  return decidedAt === null && (status === 'pending' || status === 'notify_when_public');
}
