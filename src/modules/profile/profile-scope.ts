/** Hides addresses and legal entities given in one workspace from others, until a code from the person's mailbox. */
import type { Clock } from '../../core/clock.ts';
import { type SessionPrincipal } from '../../core/principal.ts';
import { coversWorkspace } from '../../core/access-control.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { hasProof, requireProof } from '../sign-in/step-up.ts';

export interface ProfileDependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/** The workspace it was given in; null for the console. */
interface WorkspaceOwned {
  readonly workspaceId: string | null;
}

/** Returns the rows of the session's workspace; all of them in the console, and for ten minutes after a proof. */
export async function visibleRows<Row extends WorkspaceOwned>(
  reader: Reader,
  principal: SessionPrincipal,
  rows: readonly Row[],
  now: number,
): Promise<readonly Row[]> {
  const here = rows.filter(({ workspaceId }) => coversWorkspace(principal, workspaceId));
  if (here.length === rows.length) return here;
  return (await hasProof(reader, principal, { purpose: 'profile' }, now)) ? rows : here;
}

/** @throws {AppError} reauthentication_required for a row from another workspace, without a recent proof. */
export async function requireVisible(
  unit: Unit,
  principal: SessionPrincipal,
  { workspaceId }: WorkspaceOwned,
): Promise<void> {
  if (!coversWorkspace(principal, workspaceId)) await requireProof(unit, principal, { purpose: 'profile' });
}
