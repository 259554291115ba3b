/** Lists, links and removes people's identities at providers. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { type SessionPrincipal } from '../../core/principal.ts';
import { coversWorkspace } from '../../core/access-control.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { Page } from '../../db/page.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { type AccountChange, accountChangeMail } from '../../mail/messages/account-change.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { requireUser } from '../../store/people.ts';
import {
  deleteIdentity,
  findIdentityOf,
  listIdentitiesOf,
  type ProviderIdentity,
} from '../../store/provider-identities.ts';
import { endWithCredential } from '../sign-in/credential-sessions.ts';
import { requireFresh, requireProof } from '../sign-in/step-up.ts';
import type { RemovalQuery } from '../sign-in/model.ts';
import type { LastMethodGuard } from '../sign-in/last-method.ts';
import { publishToMemberships } from '../users/publish.ts';
import { issuerName } from '../../core/issuer.ts';
import type { IdentityRecord, IdentityRemoved } from './model.ts';

/** Audits, announces and mails an added or removed identity. @param sessionId the session that asked for it. */
export async function tellOwner(
  unit: Unit,
  notices: AccountNotices,
  change: Extract<AccountChange['kind'], `provider_${string}`>,
  { id, userId, issuer, email }: ProviderIdentity,
  application: Application,
  sessionId?: string,
): Promise<void> {
  const { id: applicationId, workspaceId } = application;
  const kind = change === 'provider_linked' ? 'provider.linked' : 'provider.unlinked';
  const detail = { issuer, ...(sessionId !== undefined && { sessionId }) };
  await recordAudit(unit, { kind, applicationId, workspaceId, userId, targetId: id, detail });
  await publishToMemberships(unit, userId, 'user.identity_changed', { changed: ['provider'] });
  const owner = await requireUser(unit, userId);
  const told = { kind: change, provider: issuerName(issuer, null), email };
  await notices.send(unit, owner, application, (context) => accountChangeMail(context, told));
}

export interface IdentityDependencies {
  readonly db: Database;
  readonly lastMethodGuard: LastMethodGuard;
  readonly notices: AccountNotices;
}

export type ProviderIdentities = ReturnType<typeof providerIdentityService>;

/** Every call is limited to the person's own identities. */
export function providerIdentityService({ db, lastMethodGuard, notices }: IdentityDependencies) {
  return {
    /** Returns the identities valid in the session's workspace, oldest first; from the console all of them. */
    async list(principal: SessionPrincipal): Promise<Page<IdentityRecord>> {
      const identities = await listIdentitiesOf(db.reader, principal.userId);
      return { items: identities.filter((identity) => isSeenBy(principal, identity)).map(present), nextCursor: null };
    },

    /**
     * Ends the identity's sessions. One valid everywhere is not one tenant's to remove: it needs the console or a code.
     *
     * @throws {AppError} not_found, reauthentication_required; invalid_state for the last sign-in method.
     */
    remove(
      actor: Actor,
      principal: SessionPrincipal,
      id: string,
      { force = false, endAllSessions = false }: RemovalQuery,
    ): Promise<IdentityRemoved> {
      const { userId, applicationId } = principal;
      return db.write(actor, async (unit) => {
        const identity = await findIdentityOf(unit, userId, id);
        if (!identity || !isSeenBy(principal, identity)) throw new AppError('not_found');
        const guard = coversWorkspace(principal, identity.workspaceId) ? requireFresh : requireProof;
        await guard(unit, principal, { purpose: 'provider_removal', target: id });
        if (!force) await lastMethodGuard.requireAnother(unit, userId, { identityId: id });
        await deleteIdentity(unit, id);
        const credential = { credentialId: id, method: 'provider' } as const;
        const sessionsEnded = await endWithCredential(unit, principal, credential, endAllSessions);
        const application = await requireApplication(unit, applicationId);
        await tellOwner(unit, notices, 'provider_unlinked', identity, application);
        return { id, sessionsEnded };
      });
    },
  };
}

/** Includes identities that are valid in every workspace. */
function isSeenBy(principal: SessionPrincipal, { workspaceId }: ProviderIdentity): boolean {
  return workspaceId === null || coversWorkspace(principal, workspaceId);
}

function present({ id, issuer, email, createdAt, lastUsedAt }: ProviderIdentity): IdentityRecord {
  return {
    id,
    issuer,
    name: issuerName(issuer, null),
    email,
    createdAt: isoTime(createdAt),
    lastUsedAt: isoTime(lastUsedAt),
  };
}
