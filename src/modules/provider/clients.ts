/** Chooses the OpenID client that signs people in to an application: its own, else the instance's. */
import type { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import { type Principal } from '../../core/principal.ts';
import { workspaceAccess } from '../../core/access-control.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Database, Reader } from '../../db/database.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import type { Application, TenantApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  deleteProviderClient,
  findProviderClient,
  listProviderClients,
  putProviderClient,
} from '../../store/provider-clients.ts';
import type { ProviderIdentity } from '../../store/provider-identities.ts';
import { GOOGLE_ISSUER, isIssuer, issuerName } from '../../core/issuer.ts';
import type { ProviderInput, ProviderRecord } from './model.ts';
import { type ClientName, isProvenBy, type Reach, reachOf } from './claim-trust.ts';

export interface EffectiveProvider {
  readonly source: 'application' | 'instance';
  readonly issuer: string;
  readonly clientId: string;
  /** The label of the sign-in button. */
  readonly name: string;
  /** Unseals the client secret; never log it. */
  readonly secret: () => Promise<string>;
}

export interface ProviderClientDependencies {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  readonly instanceProvider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
  } | null;
  /** Allows plain http on loopback, for dev and ephemeral instances. */
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
  readonly redirectUri: () => string;
}

export type ProviderClients = ReturnType<typeof providerClientService>;

/** Secrets are sealed before they are stored, and no answer contains them. */
export function providerClientService(dependencies: ProviderClientDependencies) {
  const { db, instanceKey, instanceProvider, isLoopbackAllowed, allowedCidrs, redirectUri } = dependencies;

  async function effectiveOf(reader: Reader, { id }: Pick<Application, 'id'>): Promise<EffectiveProvider | null> {
    const own = await findProviderClient(reader, id);
    if (own) {
      const { issuer, clientId, sealedSecret } = own;
      const secret = () => instanceKey.unseal('provider', sealedSecret);
      return { source: 'application', issuer, clientId, name: issuerName(issuer, own.name), secret };
    }
    if (instanceProvider === null) return null;
    const { issuer, clientId, clientSecret } = instanceProvider;
    const secret = async () => clientSecret;
    return { source: 'instance', issuer, clientId, name: issuerName(issuer, null), secret };
  }

  const reach = (client: ClientName): Reach => reachOf(client, instanceProvider);

  async function describe(application: Application): Promise<ProviderRecord> {
    const { reader } = db;
    const provider = await effectiveOf(reader, application);
    const { source = null, issuer = null, clientId = null, name = null } = provider ?? {};
    const speaksFor = provider && (reach(provider) === 'everywhere' ? 'everyone' : 'workspace');
    return { source, issuer, clientId, name, speaksFor, redirectUri: redirectUri() };
  }

  /** @throws {AppError} invalid_request naming the issuer. */
  function checkIssuer(issuer: string): void {
    const problem = targetProblem(issuer, { allowed: allowedCidrs, isLoopbackAllowed });
    if (problem !== null) throw invalidField('issuer', problem);
    if (!isIssuer(issuer, isLoopbackAllowed))
      throw invalidField('issuer', 'Give the https address of an OpenID Connect issuer, without query or fragment.');
  }

  return {
    /** Returns null if neither the application nor the instance has a client. */
    effectiveOf,

    reachOf: reach,

    /** Returns a check whether an identity can sign in to an application, by the clients currently in effect. */
    async usableIdentities(
      reader: Reader,
      applicationIds: readonly string[],
    ): Promise<(identity: ProviderIdentity, application: Application) => boolean> {
      const own = await listProviderClients(reader, applicationIds);
      return (identity, { id, workspaceId }) => {
        const client = own.get(id) ?? instanceProvider;
        if (client === null) return false;
        const { issuer, clientId } = client;
        return isProvenBy(identity, { issuer, clientId, reach: reach(client) }, workspaceId);
      };
    },
    describe,

    /**
     * @param principal null for this server itself.
     * @throws {AppError} invalid_request for an unusable issuer; forbidden for a client trusted for the workspace
     * without full access to it: whoever runs the client can sign in as anyone of the workspace.
     */
    async configure(
      actor: Actor,
      principal: Principal | null,
      application: TenantApplication,
      input: ProviderInput,
    ): Promise<ProviderRecord> {
      const { issuer = GOOGLE_ISSUER, clientId, clientSecret, name = null } = input;
      checkIssuer(issuer);
      const mayVouch = principal === null || workspaceAccess(principal, application.workspaceId) === 'full';
      if (!mayVouch && reach({ issuer, clientId }) === 'workspace')
        throw new AppError('forbidden', { hint: 'provider_client_restricted' });
      const sealedSecret = await instanceKey.seal('provider', clientSecret);
      const client = { issuer, clientId, sealedSecret, name: name?.trim() ?? null };
      await db.write(actor, async (unit) => {
        const { id: applicationId, workspaceId } = application;
        await putProviderClient(unit, applicationId, client);
        await recordAudit(unit, {
          kind: 'provider.configured',
          applicationId,
          workspaceId,
          detail: { issuer, clientId },
        });
      });
      return describe(application);
    },

    /** Falls back to the instance's client, if any. @throws {AppError} not_found */
    async unconfigure(actor: Actor, application: Application): Promise<ProviderRecord> {
      await db.write(actor, async (unit) => {
        const { id: applicationId, workspaceId } = application;
        const removed = await deleteProviderClient(unit, applicationId);
        if (!removed) throw new AppError('not_found', { hint: 'provider_not_own' });
        const { issuer, clientId } = removed;
        await recordAudit(unit, {
          kind: 'provider.unconfigured',
          applicationId,
          workspaceId,
          detail: { issuer, clientId },
        });
      });
      return describe(application);
    },
  };
}
