/** Which tools a key is shown: those that it can be for. What it may do in the end is judged at every call. */
import { type Access, type KeyPrincipal, type PersonalKeyPrincipal, workspaceAccess } from '../../core/principal.ts';
import type { Operation } from '../../http/operation.ts';

/** What a key is for, as far as tools are told apart by it. */
export interface KeyView {
  readonly access: Access;
  /** A whole workspace, and not some of its applications. */
  readonly isWorkspace: boolean;
}

export function viewOfKey(principal: KeyPrincipal | PersonalKeyPrincipal): KeyView {
  if (principal.kind === 'personal_key') {
    const isFull = principal.workspaces.some(({ role }) => role !== 'member');
    return { access: isFull ? 'full' : 'read', isWorkspace: true };
  }
  return { access: principal.access, isWorkspace: workspaceAccess(principal, principal.workspaceId) !== null };
}

export function sees({ access, isWorkspace }: KeyView, operation: Pick<Operation, 'access' | 'scope'>): boolean {
  if (operation.access === 'full' && access !== 'full') return false;
  return isWorkspace || operation.scope !== 'workspace';
}
