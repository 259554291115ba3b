/** What every change of a profile leaves behind: a record for the auditor, word to the person's applications. */
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Unit } from '../../db/database.ts';
import { recordAudit } from '../../store/audit.ts';
import { announceProfile, type ProfileCategory } from '../users/announce.ts';

/** What was changed, without the values. */
export interface ProfileChange {
  /** More than one where a change reaches further, as that of an address that a legal entity named. */
  readonly categories: readonly [ProfileCategory, ...ProfileCategory[]];
  readonly change: 'added' | 'changed' | 'removed';
  readonly fields: readonly string[];
  readonly targetId?: string;
}

/** One audit record, and one event for each application. Fields are named; what stands in them is on record nowhere. */
export async function recordChange(
  unit: Unit,
  { userId, profileId, applicationId }: SessionPrincipal,
  { categories, change, fields, targetId }: ProfileChange,
): Promise<void> {
  const [category] = categories;
  await recordAudit(unit, {
    kind: 'account.profile_changed',
    applicationId,
    userId,
    targetId,
    detail: { category, change, fields },
  });
  await announceProfile(unit, profileId, categories, categories.includes('identity') ? fields : []);
}
