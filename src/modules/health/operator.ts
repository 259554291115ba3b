/** Determines who runs the instance: the owners of its first workspace, which existed before any other. */
import type { Principal } from '../../core/principal.ts';
import type { Reader } from '../../db/database.ts';
import { findFirstWorkspaceId } from '../../store/workspaces.ts';

/** Never true for keys, which lie in backends and pipelines. */
export async function isOperator(reader: Reader, principal: Principal): Promise<boolean> {
  if (principal.kind === 'key') return false;
  const first = await findFirstWorkspaceId(reader);
  return principal.workspaces.some(({ workspaceId, role }) => workspaceId === first && role === 'owner');
}
