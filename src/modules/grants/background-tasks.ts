/** Background tasks that notify all holders after a grant was renamed or removed; the change is effective before. */
import type { Unit } from '../../db/database.ts';
import type { BackgroundTask, Batch } from '../../jobs/background-tasks.ts';
import {
  countHolders,
  deleteGrant,
  findGrant,
  type GrantKind,
  heldSlugsOf,
  type Holder,
  listHolders,
  touchHolders,
  unlinkGrant,
} from '../../store/grants.ts';
import { announceGrants, type GrantChange } from './holders.ts';

/** The grant, and the slug its holders know. */
export interface GrantTask {
  readonly kind: GrantKind;
  readonly grantId: string;
  readonly slug: string;
}

/** Announces a new slug the way backends compare slugs: the old one removed, the new one added. */
export const announceRename: BackgroundTask<GrantTask, string> = {
  name: 'announce_rename',

  async step(unit, { applicationId, data, cursor }, limit) {
    const { kind, grantId, slug } = data;
    const grant = await findGrant(unit, kind, applicationId, grantId);
    // Already removed: the removal's own task notifies the holders.
    if (!grant) return { done: 0, cursor, isFinished: true };
    const holders = await listHolders(unit, kind, grantId, { after: cursor ?? '', limit });
    // Renamed again, possibly back: publish the current slug.
    const removed = slug === grant.slug ? [] : [slug];
    await tell(unit, kind, holders, { added: [grant.slug], removed });
    return batchOf(holders, cursor, limit);
  },

  count: (reader, { data: { kind, grantId }, cursor }) => countHolders(reader, kind, grantId, cursor ?? ''),
};

/** Unlinks a removed grant from its holders, notifies them, and deletes its row with the last batch. */
export const withdrawGrant: BackgroundTask<GrantTask, string> = {
  name: 'withdraw_grant',

  async step(unit, { data, cursor }, limit) {
    const { kind, grantId, slug } = data;
    const holders = await listHolders(unit, kind, grantId, { after: '', limit });
    await unlinkGrant(
      unit,
      kind,
      holders.map(({ id }) => id),
      grantId,
    );
    await tell(unit, kind, holders, { added: [], removed: [slug] });
    const slice = batchOf(holders, cursor, limit);
    if (slice.isFinished) await deleteGrant(unit, kind, grantId);
    return slice;
  },

  count: (reader, { data: { kind, grantId } }) => countHolders(reader, kind, grantId),
};

/** Emits the change to each holder of a batch, with their grants afterwards. */
async function tell(
  unit: Unit,
  kind: GrantKind,
  holders: readonly Holder[],
  { added, removed }: Omit<GrantChange, 'current'>,
): Promise<void> {
  const ids = holders.map(({ id }) => id);
  await touchHolders(unit, kind, ids);
  const held = await heldSlugsOf(unit, kind, ids);
  for (const holder of holders)
    await announceGrants(unit, kind, holder, { added, removed, current: held.get(holder.id) ?? [] });
}

function batchOf(holders: readonly Holder[], cursor: string | null, limit: number): Batch {
  return { done: holders.length, cursor: holders.at(-1)?.id ?? cursor, isFinished: holders.length < limit };
}
