/** Records every profile change: an audit record, and events for the person's applications. */
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Unit } from '../../db/database.ts';
import { recordAudit } from '../../store/audit.ts';
import { publishProfile, type ProfileCategory } from '../users/publish.ts';

export interface ProfileChange {
  /** Several if a change affects others, such as deleting an address that a legal entity names. */
  readonly categories: readonly [ProfileCategory, ...ProfileCategory[]];
  readonly change: 'added' | 'changed' | 'removed';
  readonly fields: readonly string[];
  readonly targetId?: string;
}

/** Writes one audit record, and one event per application. Fields are named; their values are recorded nowhere. */
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
  await publishProfile(unit, profileId, categories, categories.includes('identity') ? fields : []);
}
