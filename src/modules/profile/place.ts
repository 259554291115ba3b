/** Hides addresses and legal entities given in one workspace from others, until a code from the person's mailbox. */
import type { Clock } from '../../core/clock.ts';
import { type SessionPrincipal } from '../../core/principal.ts';
import { speaksFor } from '../../core/access-control.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { hasProof, requireProof } from '../sign-in/freshness.ts';

export interface ProfileDependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/** The workspace it was given in; null for the console. */
interface Placed {
  readonly workspaceId: string | null;
}

/** Returns the rows of the session's workspace; all of them in the console, and for ten minutes after a proof. */
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

/** @throws {AppError} reauthentication_required for a row from another workspace, without a recent proof. */
export async function requireInSight(unit: Unit, principal: SessionPrincipal, { workspaceId }: Placed): Promise<void> {
  if (!speaksFor(principal, workspaceId)) await requireProof(unit, principal, { purpose: 'profile' });
}
