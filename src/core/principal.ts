/** Who calls: what a credential has proved, before anything is decided about what it may do. */
import type { LiveIdentity } from './envelope.ts';

/** What management allows; `full` includes `read`. */
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
  /** The subset a workspace key is limited to; null for all of the workspace. */
  readonly applicationIds: readonly string[] | null;
  readonly access: Access;
  readonly perMinute: number;
  readonly perDay: number;
}

/**
 * A key that the device grant gave to a person: it acts as them. From the console it carries their rights of management;
 * from any other application it has none.
 */
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

/** What a person may do in a workspace. */
export interface WorkspaceSeat {
  readonly workspaceId: string;
  readonly role: ConsoleRole;
}

/** A person signed in to an application by a live session. */
export interface SessionPrincipal {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly userId: string;
  /** The account whose profile the session reads and writes; another one than `userId` while the address is not proved. */
  readonly profileId: string;
  readonly applicationId: string;
  readonly applicationUserId: string;
  /** Signed in to the console, the system application; only such a session can manage anything. */
  readonly isConsole: boolean;
  /** The workspace of the application; null for the console. */
  readonly workspaceId: string | null;
  /** As verification reports it. */
  readonly identity: LiveIdentity;
  /** Where this person may manage what; empty for everyone but workspace members in the console. */
  readonly workspaces: readonly WorkspaceSeat[];
}

/** An application itself, by its client secret: it asks about its own tokens and ends them, and manages nothing. */
export interface ClientPrincipal {
  readonly kind: 'client';
  readonly applicationId: string;
  readonly workspaceId: string;
}

/** Who may ask about tokens of others, as OAuth has it: an application by its secret, or a backend's key. */
export type OAuthClient = ClientPrincipal | KeyPrincipal;

/** A person, however they prove it. */
export type PersonPrincipal = SessionPrincipal | PersonalKeyPrincipal;

/** Whoever calls with a credential that is good now. */
export type Principal = KeyPrincipal | PersonPrincipal;

/**
 * Whether a session may see and change what a person has in a workspace; null stands for everywhere. A session is handed to
 * its application, and so to the workspace that runs it: it speaks for that one alone. The console's speaks for all.
 */
export function speaksFor({ workspaceId }: Pick<SessionPrincipal, 'workspaceId'>, owner: string | null): boolean {
  return workspaceId === null || workspaceId === owner;
}

/** An application as far as reach is concerned. */
interface Reachable {
  readonly id: string;
  readonly workspaceId: string | null;
}

/**
 * What a principal may do in an application: `null` where the application must look as if it did not exist. The console
 * belongs to no workspace and is out of everyone's reach.
 */
export function accessTo(principal: Principal, application: Reachable): Access | null {
  if (application.workspaceId === null) return null;
  if (principal.kind !== 'key') return workspaceAccess(principal, application.workspaceId);
  if (principal.workspaceId !== application.workspaceId) return null;
  if (principal.applicationId !== null && principal.applicationId !== application.id) return null;
  if (principal.applicationIds !== null && !principal.applicationIds.includes(application.id)) return null;
  return principal.access;
}

/** Whether the tokens of an application are this client's own to ask about; to all others they are unknown. */
export function asksAbout(client: OAuthClient, application: Reachable): boolean {
  return client.kind === 'client' ? client.applicationId === application.id : accessTo(client, application) !== null;
}

/** What a person signed in to the console is in a workspace; null for keys and for those who are nobody there. */
export function roleIn(principal: Principal, workspaceId: string): ConsoleRole | null {
  if (principal.kind !== 'session') return null;
  return principal.workspaces.find((entry) => entry.workspaceId === workspaceId)?.role ?? null;
}

/**
 * What a principal may do in the workspace as a whole; `null` for keys of an application or of a subset, which could
 * otherwise give themselves the rest, and for strangers to the workspace.
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
