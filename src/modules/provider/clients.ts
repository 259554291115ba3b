/** Which client at which provider an application signs people in with: its own, else the instance's. */
import { eq } from 'drizzle-orm';
import type { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import { type Principal, workspaceAccess } from '../../core/principal.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Application } from '../../db/schema/applications.ts';
import { providerClients } from '../../db/schema/providers.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import { GOOGLE_ISSUER, isIssuer, issuerName, isOperators, type IssuerTrust, trustIn } from './issuer.ts';
import type { ProviderInput, ProviderRecord } from './model.ts';

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

export function providerClientService(dependencies: ProviderClientDependencies) {
  const { db, instanceKey, instanceProvider, isLoopbackAllowed, allowedCidrs, redirectUri } = dependencies;

  function effectiveOf({ id }: Pick<Application, 'id'>): EffectiveProvider | null {
    const own = db.orm.select().from(providerClients).where(eq(providerClients.applicationId, id)).get();
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

  const trustOf = (unit: Pick<Unit, 'tx'>, issuer: string): IssuerTrust => trustIn(unit, issuer, instanceIssuer);

  function describe(application: Application): ProviderRecord {
    const { source = null, issuer = null, clientId = null, name = null } = effectiveOf(application) ?? {};
    return {
      source,
      issuer,
      clientId,
      name,
      isTrusted: issuer !== null && trustOf({ tx: db.orm }, issuer) !== 'nowhere',
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
      application: Application,
      input: ProviderInput,
    ): Promise<ProviderRecord> {
      const { issuer = GOOGLE_ISSUER, clientId, clientSecret, name = null } = input;
      checkIssuer(issuer);
      if (!isOperators(issuer, instanceIssuer) && workspaceAccess(principal, application.workspaceId!) !== 'full')
        throw new AppError('forbidden', {
          message:
            'Another issuer than Google or the instance’s own needs a key of the whole workspace, or an admin of it.',
        });
      const sealedSecret = await instanceKey.seal('provider', clientSecret);
      const row = { issuer, clientId, sealedSecret, name: name?.trim() ?? null };
      db.write(actor, (unit) => {
        if (trustOf(unit, issuer) === 'nowhere')
          throw invalidField(
            'issuer',
            'Several workspaces share the people of this instance, so only Google or the instance’s own issuer can sign ' +
              'them in here; ask its operator to set GATEHOUSE_GOOGLE_ISSUER with a client of its own.',
          );
        const { now } = unit;
        unit.tx
          .insert(providerClients)
          .values({ applicationId: application.id, ...row, createdAt: now, updatedAt: now })
          .onConflictDoUpdate({ target: providerClients.applicationId, set: { ...row, updatedAt: now } })
          .run();
        const { id: applicationId, workspaceId } = application;
        unit.audit({ kind: 'provider.configured', applicationId, workspaceId, detail: { issuer, clientId } });
      });
      return describe(application);
    },

    /** Back to the instance's own, where it has one. @throws {AppError} not_found */
    unconfigure(actor: Actor, application: Application): ProviderRecord {
      db.write(actor, (unit) => {
        const { id: applicationId, workspaceId } = application;
        const [removed] = unit.tx
          .delete(providerClients)
          .where(eq(providerClients.applicationId, applicationId))
          .returning({ issuer: providerClients.issuer, clientId: providerClients.clientId })
          .all();
        if (!removed)
          throw new AppError('not_found', { message: 'This application has no identity provider of its own.' });
        unit.audit({ kind: 'provider.unconfigured', applicationId, workspaceId, detail: removed });
      });
      return describe(application);
    },
  };
}
