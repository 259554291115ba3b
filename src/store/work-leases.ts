/** Leases of named work, such as a job: their holder alone does it, until the lease ends by time or is released. */
import type { Unit } from '../db/database.ts';
import { change, note } from '../db/statements.ts';
import type { NewLease } from './leases.ts';

interface WantedLeases extends NewLease {
  readonly names: readonly string[];
}

const take = change.values<string, { names: readonly object[]; holder: string; until: number; realNow: number }>(
  ({ jsonRows }) => `INSERT INTO work_leases (name, holder, leased_until)
   SELECT name, CAST(:holder AS text), CAST(:until AS bigint) FROM ${jsonRows(':names', { name: 'text' })}
   WHERE true ORDER BY name
   ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
     WHERE work_leases.holder = excluded.holder OR work_leases.leased_until <= :realNow
   RETURNING name`,
);

/** Takes or renews leases that no other instance holds, in one statement. @returns the names of those held. */
export function takeWorkLeases(unit: Unit, { names, ...lease }: WantedLeases): Promise<string[]> {
  return take(unit, { ...lease, names: names.map((name) => ({ name })) });
}

/** Moves the end of a lease that is still held. */
export const setWorkLeaseEnd = note<Pick<NewLease, 'holder' | 'until'> & { readonly name: string }>(
  'UPDATE work_leases SET leased_until = :until WHERE name = :name AND holder = :holder',
);

export const releaseWorkLeases = note<{ names: readonly string[]; holder: string }>(
  ({ idList }) => `DELETE FROM work_leases WHERE holder = :holder AND name IN ${idList(':names')}`,
);

/** Releases every lease of an instance that stops. */
export const releaseAllWorkLeases = note<string>('DELETE FROM work_leases WHERE holder = :holder');

/** Deletes leases that ended by this time, such as those of finished tasks of a killed instance. */
export const purgeWorkLeases = note<number>('DELETE FROM work_leases WHERE leased_until < :before');
