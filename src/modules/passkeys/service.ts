/** A person's passkeys: made, listed, named, removed. Signing in with one is sign-in.ts. */
import { and, asc, eq, isNull } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import { type SessionPrincipal, speaksFor } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import type { Application } from '../../db/schema/applications.ts';
import { type Passkey, passkeys } from '../../db/schema/passkeys.ts';
import type { Database, Orm, Unit } from '../../db/unit-of-work.ts';
import { type AccountChange, accountChangeMail } from '../../mail/messages/account.ts';
import { requireFresh } from '../account/freshness.ts';
import { mailNotice } from '../account/notice.ts';
import type { WaysIn } from '../account/ways-in.ts';
import { announce } from '../users/announce.ts';
import { authenticatorName } from './authenticators.ts';
import { issueChallenge, useChallenge } from './challenges.ts';
import type { CreationOptions, NewPasskeyInput, PasskeyRecord } from './model.ts';
import type { RelyingParty } from '../../core/relying-party.ts';
import { creationOptions, verifyCreation } from './webauthn.ts';

const MAX_PASSKEYS = 50;

type Owner = Pick<SessionPrincipal, 'userId' | 'workspaceId'>;

export interface PasskeyDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly waysIn: WaysIn;
  readonly isSessionLive: (sessionId: string) => boolean;
  readonly findApplication: (id: string) => Application | undefined;
  /** @throws {AppError} invalid_state where this server can be none. */
  readonly relyingParty: () => RelyingParty;
}

export type Passkeys = ReturnType<typeof passkeyService>;

export function passkeyService(dependencies: PasskeyDependencies) {
  const { db, random, waysIn, isSessionLive, findApplication, relyingParty } = dependencies;

  function own({ tx }: Unit, principal: SessionPrincipal, passkeyId: string): Passkey {
    const passkey = tx
      .select()
      .from(passkeys)
      .where(and(eq(passkeys.id, passkeyId), eq(passkeys.userId, principal.userId)))
      .get();
    if (!passkey || !speaksFor(principal, passkey.workspaceId)) throw new AppError('not_found');
    return passkey;
  }

  return {
    /** Those of the session's workspace, oldest first; from the console all. */
    list(principal: SessionPrincipal): { items: PasskeyRecord[] } {
      const rows = db.orm
        .select()
        .from(passkeys)
        .where(eq(passkeys.userId, principal.userId))
        .orderBy(asc(passkeys.id))
        .all();
      return { items: rows.filter(({ workspaceId }) => speaksFor(principal, workspaceId)).map(present) };
    },

    /** @throws {AppError} reauthentication_required; invalid_state where there are fifty already. */
    async options(actor: Actor, principal: SessionPrincipal): Promise<CreationOptions> {
      const rp = relyingParty();
      const { userId, workspaceId, applicationId, sessionId, envelope } = principal;
      const { issued, existing } = db.write(actor, (unit) => {
        requireFresh(unit, principal);
        const held = passkeysOf(unit.tx, principal);
        refuseFurther(held);
        return {
          issued: issueChallenge(unit, random, { purpose: 'registration', applicationId, sessionId }),
          existing: held,
        };
      });
      const { challengeId, challenge, expiresAt } = issued;
      const { email, fullName } = envelope;
      // The picker shows those of several workspaces side by side.
      const displayName = `${fullName ?? email} (${findApplication(applicationId)!.name})`;
      const options = await creationOptions(rp, challenge, { userId, workspaceId, email, displayName, existing });
      return { challengeId, expiresAt: isoTime(expiresAt), options };
    },

    /**
     * Keeps a passkey that was made with the options of this session, for the applications of its workspace.
     *
     * @throws {AppError} code_expired, code_consumed, passkey_invalid; conflict for one that is known already.
     */
    async add(actor: Actor, principal: SessionPrincipal, input: NewPasskeyInput): Promise<PasskeyRecord> {
      const rp = relyingParty();
      const { userId, workspaceId, applicationId, sessionId } = principal;
      const { challenge } = db.write(actor, (unit) =>
        useChallenge(unit, input.challengeId, { purpose: 'registration', sessionId }),
      );
      const made = await verifyCreation(rp, challenge, input.credential);
      return db.write(actor, (unit) => {
        // That took a moment: who was signed out or deleted meanwhile adds no way in any more.
        if (!isSessionLive(sessionId)) throw new AppError('unauthenticated');
        refuseFurther(passkeysOf(unit.tx, principal));
        if (findPasskey(unit.tx, made.credentialId))
          throw new AppError('conflict', { message: 'This passkey is registered already; use it to sign in.' });
        const [passkey] = unit.tx
          .insert(passkeys)
          .values({
            id: newId('passkey', unit.now),
            userId,
            workspaceId,
            ...made,
            name: input.name?.trim() ?? authenticatorName(made.aaguid),
            createdAt: unit.now,
          })
          .returning()
          .all();
        tell(unit, principal, passkey!, 'passkey_added');
        unit.audit({ kind: 'passkey.added', applicationId, userId, targetId: passkey!.id });
        return present(passkey!);
      });
    },

    /** @throws {AppError} not_found for another person's. */
    rename(actor: Actor, principal: SessionPrincipal, passkeyId: string, name: string): PasskeyRecord {
      return db.write(actor, (unit) => {
        const passkey = own(unit, principal, passkeyId);
        const renamed = { ...passkey, name: name.trim() };
        if (renamed.name === passkey.name) return present(passkey);
        const { userId, applicationId } = principal;
        unit.tx.update(passkeys).set({ name: renamed.name }).where(eq(passkeys.id, passkey.id)).run();
        unit.audit({ kind: 'passkey.renamed', applicationId, userId, targetId: passkey.id });
        return present(renamed);
      });
    },

    /**
     * @param isForced also when no other way in to some application is left.
     * @throws {AppError} not_found; reauthentication_required; invalid_state for the last way in.
     */
    remove(actor: Actor, principal: SessionPrincipal, passkeyId: string, isForced: boolean): { id: string } {
      return db.write(actor, (unit) => {
        const passkey = own(unit, principal, passkeyId);
        requireFresh(unit, principal);
        const { userId, applicationId } = principal;
        if (!isForced) waysIn.requireAnother(unit, userId, { passkeyId });
        unit.tx.delete(passkeys).where(eq(passkeys.id, passkey.id)).run();
        tell(unit, principal, passkey, 'passkey_removed');
        unit.audit({ kind: 'passkey.removed', applicationId, userId, targetId: passkey.id });
        return { id: passkey.id };
      });
    },
  };
}

export function findPasskey(orm: Orm, credentialId: Buffer): Passkey | undefined {
  return orm.select().from(passkeys).where(eq(passkeys.credentialId, credentialId)).get();
}

/** Under one handle: those that one authenticator keeps one of. */
function passkeysOf(orm: Orm, { userId, workspaceId }: Owner): Passkey[] {
  const inWorkspace = workspaceId === null ? isNull(passkeys.workspaceId) : eq(passkeys.workspaceId, workspaceId);
  return orm
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.userId, userId), inWorkspace))
    .all();
}

function refuseFurther(held: readonly Passkey[]): void {
  if (held.length >= MAX_PASSKEYS)
    throw new AppError('invalid_state', { message: `There are ${MAX_PASSKEYS} passkeys already; remove one first.` });
}

/** A new way in, or one less, is told to the applications and to the person. */
function tell(
  unit: Unit,
  { userId, envelope }: SessionPrincipal,
  { name }: Passkey,
  change: Extract<AccountChange, `passkey_${string}`>,
): void {
  announce(unit, userId, 'user.identity_changed', { changed: ['passkey'] });
  mailNotice(unit, envelope.email, accountChangeMail(change, `It is called “${name}”.`));
}

function present({ id, name, isBackedUp, createdAt, lastUsedAt }: Passkey): PasskeyRecord {
  return { id, name, isBackedUp, createdAt: isoTime(createdAt), lastUsedAt: isoTime(lastUsedAt) };
}
