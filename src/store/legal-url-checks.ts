/** The last probe of each legal URL of an application. */
import { eq, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { type LEGAL_URL_KINDS, urlChecks } from './schema/applications.ts';

export { LEGAL_URL_KINDS } from './schema/applications.ts';

export type LegalUrlCheck = typeof urlChecks.$inferSelect;
export type LegalUrlKind = (typeof LEGAL_URL_KINDS)[number];

const checksOf = prepared((db) =>
  db
    .select()
    .from(urlChecks)
    .where(eq(urlChecks.applicationId, sql.placeholder('applicationId')))
    .prepare(),
);

/** Returns an application's last checks by kind. A check may be of a URL that was replaced since. */
export async function findLegalUrlChecks(
  reader: Reader,
  applicationId: string,
): Promise<ReadonlyMap<LegalUrlKind, LegalUrlCheck>> {
  const rows = await checksOf(reader, { applicationId });
  return new Map(rows.map((row) => [row.kind, row]));
}

/** Replaces the previous check. */
export async function saveLegalUrlCheck(unit: Unit, check: LegalUrlCheck): Promise<void> {
  await orm(unit)
    .insert(urlChecks)
    .values(check)
    .onConflictDoUpdate({ target: [urlChecks.applicationId, urlChecks.kind], set: check });
}
