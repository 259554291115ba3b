/** People's identities at providers: kept, shown to their owner, connected and taken away. */
import { and, asc, eq, isNull, or, sql } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import { type SessionPrincipal, speaksFor } from '../../core/principal.ts';
import type { Application } from '../../db/schema/applications.ts';
import { type ProviderIdentity, providerIdentities } from '../../db/schema/providers.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { type AccountChange, accountChangeMail } from '../../mail/messages/account.ts';
import { requireFresh } from '../account/freshness.ts';
import { mailNotice } from '../account/notice.ts';
import type { WaysIn } from '../account/ways-in.ts';
import { announce } from '../users/announce.ts';
import { findUser } from '../users/members.ts';
import type { ProviderProfile } from './id-token.ts';
import { issuerName } from './issuer.ts';
import type { IdentityRecord } from './model.ts';

/** Whom a subject stands for in a workspace (null: in the console): what counts there alone goes before what counts everywhere. */
export function findIdentity(
  { tx }: Unit,
  { issuer, subject }: ProviderProfile,
  workspaceId: string | null,
): ProviderIdentity | undefined {
  const isEverywhere = isNull(providerIdentities.workspaceId);
  return tx
    .select()
    .from(providerIdentities)
    .where(
      and(
        eq(providerIdentities.issuer, issuer),
        eq(providerIdentities.subject, subject),
        workspaceId === null ? isEverywhere : or(isEverywhere, eq(providerIdentities.workspaceId, workspaceId)),
      ),
    )
    .orderBy(sql`${isEverywhere}`)
    .get();
}

/**
 * Makes the subject a way in for this person, who is not told; see {@link tellOwner}.
 *
 * @param workspaceId where it counts; null for everywhere.
 */
export function insertIdentity(
  { tx, now }: Unit,
  { userId, workspaceId }: Pick<ProviderIdentity, 'userId' | 'workspaceId'>,
  profile: ProviderProfile,
): ProviderIdentity {
  const { issuer, subject, email } = profile;
  const id = newId('providerIdentity', now);
  const [identity] = tx
    .insert(providerIdentities)
    .values({ id, userId, workspaceId, issuer, subject, email, createdAt: now, lastUsedAt: now })
    .returning()
    .all();
  return identity!;
}

export function touchIdentity({ tx, now }: Unit, identity: ProviderIdentity, { email }: ProviderProfile): void {
  tx.update(providerIdentities)
    .set({ lastUsedAt: now, email: email ?? identity.email })
    .where(eq(providerIdentities.id, identity.id))
    .run();
}

/** A way in more, or one less: put on record, told to every application of the person, and mailed to them. */
export function tellOwner(
  unit: Unit,
  change: Extract<AccountChange, `provider_${string}`>,
  { id, userId, issuer, email }: ProviderIdentity,
  { id: applicationId, workspaceId }: Pick<Application, 'id' | 'workspaceId'>,
): void {
  const kind = change === 'provider_linked' ? 'provider.linked' : 'provider.unlinked';
  unit.audit({ kind, applicationId, workspaceId, userId, targetId: id, detail: { issuer } });
  announce(unit, userId, 'user.identity_changed', { changed: ['provider'] });
  const name = issuerName(issuer, null);
  const mail = accountChangeMail(change, email === null ? `${name}.` : `${name}, as ${email}.`);
  mailNotice(unit, findUser(unit, userId)!.email, mail);
}

export interface IdentityDependencies {
  readonly db: Database;
  readonly waysIn: WaysIn;
  readonly findApplication: (id: string) => Application | undefined;
}

export type Identities = ReturnType<typeof identityService>;

export function identityService({ db, waysIn, findApplication }: IdentityDependencies) {
  return {
    /** Those that count in the session's workspace, in the order they were connected; from the console all. */
    list(principal: SessionPrincipal): { items: IdentityRecord[] } {
      const rows = db.orm
        .select()
        .from(providerIdentities)
        .where(eq(providerIdentities.userId, principal.userId))
        .orderBy(asc(providerIdentities.id))
        .all();
      return { items: rows.filter((identity) => isSeenBy(principal, identity)).map(present) };
    },

    /**
     * @param isForced goes on although an application is out of reach afterwards.
     * @throws {AppError} not_found, reauthentication_required; invalid_state for the last way in.
     */
    remove(actor: Actor, principal: SessionPrincipal, id: string, isForced: boolean): { id: string } {
      const { userId, applicationId } = principal;
      return db.write(actor, (unit) => {
        const isOwn = and(eq(providerIdentities.id, id), eq(providerIdentities.userId, userId));
        const identity = unit.tx.select().from(providerIdentities).where(isOwn).get();
        if (!identity || !isSeenBy(principal, identity)) throw new AppError('not_found');
        requireFresh(unit, principal);
        if (!isForced) waysIn.requireAnother(unit, userId, { identityId: id });
        unit.tx.delete(providerIdentities).where(eq(providerIdentities.id, id)).run();
        tellOwner(unit, 'provider_unlinked', identity, findApplication(applicationId)!);
        return { id };
      });
    },
  };
}

/** One that counts everywhere counts in the session's workspace too; taken away, it comes back with the next sign-in by it. */
function isSeenBy(principal: SessionPrincipal, { workspaceId }: ProviderIdentity): boolean {
  return workspaceId === null || speaksFor(principal, workspaceId);
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
