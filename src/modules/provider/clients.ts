/** Which client at which provider an application signs people in with: its own, else the instance's. */
import type { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import { type Principal, workspaceAccess } from '../../core/principal.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Database, Reader } from '../../db/database.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import type { Application, TenantApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  deleteProviderClient,
  findProviderClient,
  issuersOfOwnClients,
  putProviderClient,
} from '../../store/provider-clients.ts';
import { GOOGLE_ISSUER, isIssuer, issuerName, isOperators, type IssuerTrust, trustIn } from './issuer.ts';
import type { ProviderInput, ProviderRecord } from './model.ts';

/** The client that is used for an application now. */
export interface EffectiveProvider {
  readonly source: 'application' | 'instance';
  readonly issuer: string;
  readonly clientId: string;
  /** What people read on the button. */
  readonly name: string;
  /** Opens the sealed secret; never logged. */
  readonly secret: () => Promise<string>;
}

export interface ProviderClientDependencies {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  /** The instance's own client, from its settings. */
  readonly instanceProvider: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
  } | null;
  /** Plain http on loopback, as an ephemeral instance takes it. */
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
  readonly redirectUri: () => string;
}

export type ProviderClients = ReturnType<typeof providerClientService>;

/** Secrets are sealed before they are stored, and in no answer. */
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

  const instanceIssuer = instanceProvider?.issuer ?? null;

  const trustOf = (reader: Reader, issuer: string): Promise<IssuerTrust> => trustIn(reader, issuer, instanceIssuer);

  async function describe(application: Application): Promise<ProviderRecord> {
    const { reader } = db;
    const {
      source = null,
      issuer = null,
      clientId = null,
      name = null,
    } = (await effectiveOf(reader, application)) ?? {};
    return {
      source,
      issuer,
      clientId,
      name,
      isTrusted: issuer !== null && (await trustOf(reader, issuer)) !== 'nowhere',
      redirectUri: redirectUri(),
    };
  }

  /** @throws {AppError} invalid_request naming the issuer. */
  function checkIssuer(issuer: string): void {
    const problem = targetProblem(issuer, { allowed: allowedCidrs, isLoopbackAllowed });
    if (problem !== null) throw invalidField('issuer', problem);
    if (!isIssuer(issuer, isLoopbackAllowed))
      throw invalidField('issuer', 'Give the https address of an OpenID Connect issuer, without query or fragment.');
  }

  return {
    /** Null where neither the application nor the instance has one. */
    effectiveOf,

    /** Which issuer signs people in to each of these applications; null where there is none. */
    async issuersOf(reader: Reader, applicationIds: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
      const own = await issuersOfOwnClients(reader, applicationIds);
      return new Map(applicationIds.map((id) => [id, own.get(id) ?? instanceIssuer]));
    },
    trustOf,
    describe,

    /**
     * @throws {AppError} invalid_request for an issuer that cannot be asked, or may not vouch for addresses here; forbidden
     * where the caller has no say in the workspace as a whole and the issuer is not the operator's: who chooses it can come
     * in as anyone.
     */
    async configure(
      actor: Actor,
      principal: Principal,
      application: TenantApplication,
      input: ProviderInput,
    ): Promise<ProviderRecord> {
      const { issuer = GOOGLE_ISSUER, clientId, clientSecret, name = null } = input;
      checkIssuer(issuer);
      if (!isOperators(issuer, instanceIssuer) && workspaceAccess(principal, application.workspaceId) !== 'full')
        throw new AppError('forbidden', { hint: 'provider_issuer_restricted' });
      const sealedSecret = await instanceKey.seal('provider', clientSecret);
      const client = { issuer, clientId, sealedSecret, name: name?.trim() ?? null };
      await db.write(actor, async (unit) => {
        if ((await trustOf(unit, issuer)) === 'nowhere')
          throw invalidField(
            'issuer',
            'Several workspaces share the people of this instance, so only Google or the instance’s own issuer can sign ' +
              'them in here; ask its operator to set GATEHOUSE_GOOGLE_ISSUER with a client of its own.',
          );
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

    /** Back to the instance's own, where it has one. @throws {AppError} not_found */
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
