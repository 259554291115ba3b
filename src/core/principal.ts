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
  readonly workspaces: readonly WorkspaceMembership[];
  readonly perMinute: number;
  readonly perDay: number;
}

export interface WorkspaceMembership {
  readonly workspaceId: string;
  readonly role: ConsoleRole;
}

/** A person signed in to an application by a live session. */
export interface SessionPrincipal {
  readonly kind: 'session';
  readonly sessionId: string;
  /** Authenticated by the secret of the page cookie, which no application holds. */
  readonly isOfPage: boolean;
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
  readonly workspaces: readonly WorkspaceMembership[];
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

/** Returns the id of the session or key that a caller has shown. */
export function credentialOf(principal: Principal): string {
  return principal.kind === 'session' ? principal.sessionId : principal.keyId;
}
