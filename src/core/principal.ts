/** Principals: callers as proved by their credential, before any decision about what they may do. */
import type { LiveIdentity } from './envelope.ts';

/** Access to management; `full` includes `read`. */
export type Access = 'read' | 'full';
/** A person's role in a workspace; `member` reads, the others change as well. */
export type ConsoleRole = 'owner' | 'admin' | 'member';

/** An API key, acting as its synthetic principal. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly userId: string;
  readonly workspaceId: string;
  /** Null for a workspace key. */
  readonly applicationId: string | null;
  /** The applications that a workspace key is limited to; null for all of the workspace. */
  readonly applicationIds: readonly string[] | null;
  readonly access: Access;
  readonly perMinute: number;
  readonly perDay: number;
}

/** A key from the device grant that acts as a person. It carries their management rights only from the console. */
export interface PersonalKeyPrincipal {
  readonly kind: 'personal_key';
  readonly keyId: string;
  readonly userId: string;
  readonly applicationId: string;
  readonly isConsole: boolean;
  readonly workspaces: readonly WorkspaceSeat[];
  readonly perMinute: number;
  readonly perDay: number;
}

/** A person's role in one workspace. */
export interface WorkspaceSeat {
  readonly workspaceId: string;
  readonly role: ConsoleRole;
}

/** A person signed in to an application by a live session. */
export interface SessionPrincipal {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly userId: string;
  /** The account whose profile the session reads and writes; differs from `userId` while the address is not proved. */
  readonly profileId: string;
  readonly applicationId: string;
  readonly applicationUserId: string;
  /** Signed in to the console, the system application; only such a session can manage anything. */
  readonly isConsole: boolean;
  /** The workspace of the application; null for the console. */
  readonly workspaceId: string | null;
  readonly identity: LiveIdentity;
  /** The workspaces this person may manage; empty for everyone but workspace members in the console. */
  readonly workspaces: readonly WorkspaceSeat[];
}

/** An application, by its client secret: it may ask about its own tokens and end them, and manages nothing. */
export interface ClientPrincipal {
  readonly kind: 'client';
  readonly applicationId: string;
  readonly workspaceId: string;
}

/** A client that may ask about tokens (OAuth): an application by its secret, or a backend's key. */
export type OAuthClient = ClientPrincipal | KeyPrincipal;

export type PersonPrincipal = SessionPrincipal | PersonalKeyPrincipal;

/** A caller with a credential that is valid now. */
export type Principal = KeyPrincipal | PersonPrincipal;

/**
 * Returns whether a session may see and change a person's data in a workspace; `owner` null stands for all workspaces.
 * The token is known to its application's workspace, so it covers only that one; the console's covers all.
 */
export function speaksFor({ workspaceId }: Pick<SessionPrincipal, 'workspaceId'>, owner: string | null): boolean {
  return workspaceId === null || workspaceId === owner;
}

interface Reachable {
  readonly id: string;
  readonly workspaceId: string | null;
}

/** Returns the access to an application; `null` makes it look nonexistent. Nobody has access to the console. */
export function accessTo(principal: Principal, application: Reachable): Access | null {
  if (application.workspaceId === null) return null;
  if (principal.kind !== 'key') return workspaceAccess(principal, application.workspaceId);
  if (principal.workspaceId !== application.workspaceId) return null;
  if (principal.applicationId !== null && principal.applicationId !== application.id) return null;
  if (principal.applicationIds !== null && !principal.applicationIds.includes(application.id)) return null;
  return principal.access;
}

/** Returns whether the client may ask about the application's tokens; to other clients they are unknown. */
export function asksAbout(client: OAuthClient, application: Reachable): boolean {
  return client.kind === 'client' ? client.applicationId === application.id : accessTo(client, application) !== null;
}

/** Returns the workspace role of a person signed in to the console; null for keys and non-members. */
export function roleIn(principal: Principal, workspaceId: string): ConsoleRole | null {
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
