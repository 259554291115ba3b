/** What becomes of a person's places on the allowlists when their address changes. */
import type { Unit } from '../../db/database.ts';
import { listInterestsOf, moveInterestTo, updateInterest } from '../../store/beta-interests.ts';

/** Where the new address stands on a list already, both rows stay and an approval is not lost. */
export async function moveInterest(unit: Unit, from: string, to: string): Promise<void> {
  const taken = new Map((await listInterestsOf(unit, to)).map((row) => [row.applicationId, row]));
  for (const row of await listInterestsOf(unit, from)) {
    const existing = taken.get(row.applicationId);
    const { status, decidedById, decidedAt } = row;
    if (!existing) await moveInterestTo(unit, row.id, to);
    else if (status === 'approved' && existing.status !== 'approved')
      await updateInterest(unit, existing, { status, decidedById, decidedAt });
  }
}
