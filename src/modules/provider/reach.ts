/**
 * Whose word counts where. Trust goes to a client, not to an issuer: whoever runs a client may be able to shape what the
 * issuer claims to it, and people are shared by all applications of an instance.
 */
import type { ProviderIdentity } from '../../store/provider-identities.ts';
import { GOOGLE_ISSUER } from '../../core/issuer.ts';

/** A client, as its issuer knows it. */
export interface ClientName {
  readonly issuer: string;
  readonly clientId: string;
}

/** Whom a client's word is taken for: everyone, or new people and those whom its application's workspace alone knows. */
export type Reach = 'everywhere' | 'workspace';

/** A client and how far its word goes. */
export interface HeardClient extends ClientName {
  readonly reach: Reach;
}

/**
 * Only the operator's own client speaks for everyone, and any at Google, where no client can shape what is claimed.
 *
 * @param instance the operator's; null where there is none.
 */
export function reachOf({ issuer, clientId }: ClientName, instance: ClientName | null): Reach {
  const isInstances = instance !== null && issuer === instance.issuer && clientId === instance.clientId;
  return isInstances || issuer === GOOGLE_ISSUER ? 'everywhere' : 'workspace';
}

type Place = Pick<ProviderIdentity, 'issuer' | 'clientId' | 'workspaceId'>;

/**
 * Whether an identity is a way in where this client signs people in: the client itself has proved it, and it counts there.
 * At Google a subject is the same for every client.
 *
 * @param workspaceId the application's; null for the console.
 */
export function isProvenBy(identity: Place, client: HeardClient, workspaceId: string | null): boolean {
  if (!countsFor(identity, client, workspaceId)) return false;
  if (client.issuer === GOOGLE_ISSUER || identity.clientId === client.clientId) return true;
  // The operator's own, of before it was kept by which id it went.
  return identity.clientId === '' && client.reach === 'everywhere';
}

/** Whether nobody can tell who proved an identity that the client would be heard about. */
export function isUnattributed(identity: Place, client: HeardClient, workspaceId: string | null): boolean {
  return identity.clientId === null && countsFor(identity, client, workspaceId);
}

function countsFor(identity: Place, { issuer, reach }: HeardClient, workspaceId: string | null): boolean {
  if (identity.issuer !== issuer) return false;
  return identity.workspaceId === null ? reach === 'everywhere' : identity.workspaceId === workspaceId;
}
