/** Access control: which workspaces, applications and people a caller may read or manage. */
import type { Access, ConsoleRole, KeyPrincipal, OAuthClient, Principal, SessionPrincipal } from './principal.ts';

/**
 * Returns whether a session may see and change a person's data in a workspace; `owner` null stands for all workspaces.
 * The token is known to its application's workspace, so it covers only that one; the console's covers all.
 */
export function coversWorkspace({ workspaceId }: Pick<SessionPrincipal, 'workspaceId'>, owner: string | null): boolean {
  return workspaceId === null || workspaceId === owner;
}

interface Reachable {
  readonly id: string;
  readonly workspaceId: string | null;
}

/** Returns the access to an application; `null` makes it look nonexistent. Nobody has access to the console. */
export function applicationAccess(principal: Principal, application: Reachable): Access | null {
  if (application.workspaceId === null) return null;
  if (principal.kind !== 'key') return workspaceAccess(principal, application.workspaceId);
  if (principal.workspaceId !== application.workspaceId) return null;
  if (principal.applicationId !== null && principal.applicationId !== application.id) return null;
  if (principal.applicationIds !== null && !principal.applicationIds.includes(application.id)) return null;
  return principal.access;
}

/** Returns whether the client may ask about the application's tokens; to other clients they are unknown. */
export function mayIntrospect(client: OAuthClient, application: Reachable): boolean {
  return client.kind === 'client'
    ? client.applicationId === application.id
    : applicationAccess(client, application) !== null;
}

/** Returns the workspace role of a person signed in to the console; null for keys and non-members. */
export function workspaceRole(principal: Principal, workspaceId: string): ConsoleRole | null {
  if (principal.kind !== 'session') return null;
  return principal.workspaces.find((entry) => entry.workspaceId === workspaceId)?.role ?? null;
}

/**
 * Returns a principal's access to the whole workspace; `null` for strangers, and for keys of an application or of a
 * subset, which could otherwise give themselves the rest.
 */
export function workspaceAccess(principal: Principal, workspaceId: string): Access | null {
  if (principal.kind === 'key')
    return isWholeWorkspace(principal) && principal.workspaceId === workspaceId ? principal.access : null;
  const membership = principal.workspaces.find((entry) => entry.workspaceId === workspaceId);
  if (!membership) return null;
  return membership.role === 'member' ? 'read' : 'full';
}

function isWholeWorkspace({ applicationId, applicationIds }: KeyPrincipal): boolean {
  return applicationId === null && applicationIds === null;
}
