/**
 * Where a part of a profile was given. Addresses and legal entities are one person's for the whole server, but what they told
 * one tenant is no business of another's: there it takes a code from the person's mailbox.
 */
import type { Clock } from '../../core/clock.ts';
import { type SessionPrincipal, speaksFor } from '../../core/principal.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { hasProof, requireProof } from '../sign-in/freshness.ts';

export interface ProfileDependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/** Given in a workspace; null in the console. */
interface Placed {
  readonly workspaceId: string | null;
}

/** Those that were given where the session speaks for; all in the console, and for ten minutes after a proof. */
export async function inSightOf<Row extends Placed>(
  reader: Reader,
  principal: SessionPrincipal,
  rows: readonly Row[],
  now: number,
): Promise<readonly Row[]> {
  const here = rows.filter(({ workspaceId }) => speaksFor(principal, workspaceId));
  if (here.length === rows.length) return here;
  return (await hasProof(reader, principal, { purpose: 'profile' }, now)) ? rows : here;
}

/** @throws {AppError} reauthentication_required for one that was given elsewhere. */
export async function requireInSight(unit: Unit, principal: SessionPrincipal, { workspaceId }: Placed): Promise<void> {
  if (!speaksFor(principal, workspaceId)) await requireProof(unit, principal, { purpose: 'profile' });
}
