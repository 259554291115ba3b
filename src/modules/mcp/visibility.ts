/** Decides which tools a key is shown. Authorization itself is checked at every call. */
import { type Access, type KeyPrincipal, type PersonalKeyPrincipal } from '../../core/principal.ts';
import { workspaceAccess } from '../../core/access-control.ts';
import type { Operation } from '../../http/operation.ts';

export interface KeyView {
  readonly access: Access;
  /** True for a whole workspace, false for some of its applications. */
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
