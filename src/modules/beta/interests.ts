/** What becomes of a person's places on the allowlists when their address changes or they are gone. */
import { eq, inArray } from 'drizzle-orm';
import { betaInterests } from '../../db/schema/applications.ts';
import type { Unit } from '../../db/unit-of-work.ts';

/** Where the new address stands on a list already, both rows stay and an approval is not lost. */
export function moveInterest({ tx, now }: Unit, from: string, to: string): void {
  const taken = new Map(
    tx
      .select()
      .from(betaInterests)
      .where(eq(betaInterests.email, to))
      .all()
      .map((row) => [row.applicationId, row]),
  );
  for (const row of tx.select().from(betaInterests).where(eq(betaInterests.email, from)).all()) {
    const existing = taken.get(row.applicationId);
    if (!existing)
      tx.update(betaInterests).set({ email: to, updatedAt: now }).where(eq(betaInterests.id, row.id)).run();
    else if (row.status === 'approved' && existing.status !== 'approved')
      tx.update(betaInterests)
        .set({ status: 'approved', decidedById: row.decidedById, decidedAt: row.decidedAt, updatedAt: now })
        .where(eq(betaInterests.id, existing.id))
        .run();
  }
}

/** Nobody is mailed any more at addresses whose holder is gone. */
export function removeInterests({ tx }: Unit, emails: readonly string[]): void {
  tx.delete(betaInterests)
    .where(inArray(betaInterests.email, [...emails]))
    .run();
}
