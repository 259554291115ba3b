/**
 * Decides which claims are trusted in which workspaces. Trusts clients, not issuers: a client's operator can influence
 * its claims at most issuers, and all applications of an instance share its people.
 */
import type { ProviderIdentity } from '../../store/provider-identities.ts';
import { GOOGLE_ISSUER } from '../../core/issuer.ts';

export interface ClientName {
  readonly issuer: string;
  readonly clientId: string;
}

/** For whom a client is trusted: everyone, or only new people and those known to its application's workspace alone. */
export type Reach = 'everywhere' | 'workspace';

export interface TrustedClient extends ClientName {
  readonly reach: Reach;
}

/** Trusts only the instance's client for everyone, and any client at Google, where none can shape the claims. */
export function reachOf({ issuer, clientId }: ClientName, instance: ClientName | null): Reach {
  const isInstances = instance !== null && issuer === instance.issuer && clientId === instance.clientId;
  return isInstances || issuer === GOOGLE_ISSUER ? 'everywhere' : 'workspace';
}

type IdentityScope = Pick<ProviderIdentity, 'issuer' | 'clientId' | 'workspaceId'>;

/** Returns whether an identity is valid in a workspace (null: console) and proved by this client, at Google by any. */
export function isProvenBy(identity: IdentityScope, client: TrustedClient, workspaceId: string | null): boolean {
  if (!isTrustedIn(identity, client, workspaceId)) return false;
  if (client.issuer === GOOGLE_ISSUER || identity.clientId === client.clientId) return true;
  // The empty id marks the instance's client from before its id was stored.
  return identity.clientId === '' && client.reach === 'everywhere';
}

/** Returns whether no client is recorded for an identity that this client would be trusted for. */
export function hasNoRecordedClient(
  identity: IdentityScope,
  client: TrustedClient,
  workspaceId: string | null,
): boolean {
  return identity.clientId === null && isTrustedIn(identity, client, workspaceId);
}

function isTrustedIn(identity: IdentityScope, { issuer, reach }: TrustedClient, workspaceId: string | null): boolean {
  if (identity.issuer !== issuer) return false;
  return identity.workspaceId === null ? reach === 'everywhere' : identity.workspaceId === workspaceId;
}
