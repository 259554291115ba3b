/**
 * Moves waitlist entries when a person's address changes, in a workspace only once the new address is proved there:
 * otherwise a stolen account would carry its beta access along.
 */
import type { Unit } from '../../db/database.ts';
import { listWaitlistMoves, recordAudit } from '../../store/audit.ts';
import {
  type WaitlistEntry,
  deleteWaitlistEntry,
  findWaitlistEntry,
  findWaitlistEntryByEmail,
  listWaitlistEntriesOf,
  moveWaitlistEntry,
} from '../../store/waitlist.ts';
import { listAliasesOf } from '../../store/people.ts';

interface Proved {
  readonly id: string;
  readonly email: string;
}

/** Entries moved at once; the rest follow with the next code. A tenant may list a person without limit. */
const MOST_MOVED = 200;

/** Moves entries to the present address. An approved entry replaces an undecided one there; else both stay. */
export async function followAddress(unit: Unit, person: Proved, workspaceIds: readonly string[]): Promise<void> {
  const former = await listAliasesOf(unit, person.id);
  if (former.length === 0) return;
  unit.requireSerializable();
  for (const row of await listWaitlistEntriesOf(unit, former, workspaceIds, MOST_MOVED)) {
    const existing = await findWaitlistEntryByEmail(unit, row.applicationId, person.email);
    if (existing && !(row.status === 'approved' && isUndecided(existing))) continue;
    if (existing) await merge(unit, person, existing);
    await move(unit, person.id, row, person.email);
  }
}

/** Moves entries back that followed an address change which is now undone. */
export async function restoreWaitlistEntries(unit: Unit, userId: string, since: number): Promise<void> {
  for (const { interestId, applicationId, from } of await listWaitlistMoves(unit, userId, since)) {
    const row = await findWaitlistEntry(unit, applicationId, interestId);
    if (!row || row.email === from) continue;
    // The old address was added to the list again.
    if (await findWaitlistEntryByEmail(unit, applicationId, from)) await deleteWaitlistEntry(unit, row.id);
    else await move(unit, userId, row, from);
  }
}

/** Deletes an undecided entry that the person's approval from another address replaces. */
async function merge(unit: Unit, { id: userId, email }: Proved, { id, applicationId }: WaitlistEntry): Promise<void> {
  await deleteWaitlistEntry(unit, id);
  const detail = { reason: 'merged' };
  await recordAudit(unit, { kind: 'beta.removed', applicationId, userId, email, targetId: id, detail });
}

async function move(
  unit: Unit,
  userId: string,
  { id, applicationId, email }: WaitlistEntry,
  to: string,
): Promise<void> {
  await moveWaitlistEntry(unit, id, to);
  await recordAudit(unit, { kind: 'beta.moved', applicationId, userId, email, targetId: id });
}

function isUndecided({ status, decidedAt }: WaitlistEntry): boolean {
  return decidedAt === null && (status === 'pending' || status === 'notify_when_public');
}
