/** Creates, lists, renames and removes a person's passkeys; sign-in.ts signs in with them. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { type SessionPrincipal } from '../../core/principal.ts';
import { coversWorkspace } from '../../core/access-control.ts';
import type { Random } from '../../core/random.ts';
import type { RelyingParty } from '../../core/relying-party.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import type { Page } from '../../db/page.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { type AccountChange, accountChangeMail } from '../../mail/messages/account-change.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  deletePasskey,
  findPasskey,
  findPasskeyOf,
  givenName,
  insertPasskey,
  listPasskeysOf,
  type Passkey,
  renamePasskey,
  UNNAMED_PASSKEY,
} from '../../store/passkeys.ts';
import { isSessionLive } from '../../store/sessions.ts';
import { endWithCredential } from '../sign-in/credential-sessions.ts';
import { requireFresh } from '../sign-in/step-up.ts';
import type { RemovalQuery } from '../sign-in/model.ts';
import type { LastMethodGuard } from '../sign-in/last-method.ts';
import { publishToMemberships } from '../users/publish.ts';
import { authenticatorName } from './authenticators.ts';
import { issueChallenge, useChallenge } from './challenges.ts';
import type { AttestationOptions, NewPasskeyInput, PasskeyRecord, PasskeyRemoved } from './model.ts';
import { creationOptions, verifyCreation } from './webauthn.ts';

const MAX_PASSKEYS = 50;

type Owner = Pick<SessionPrincipal, 'userId' | 'workspaceId'>;

export interface PasskeyDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly lastMethodGuard: LastMethodGuard;
  readonly notices: AccountNotices;
  /** @throws {AppError} invalid_state if this server's URL cannot be a relying party. */
  readonly relyingParty: () => RelyingParty;
}

export type Passkeys = ReturnType<typeof passkeyService>;

/** Adding and removing a passkey need a fresh session, and both notify the person by mail. */
export function passkeyService(dependencies: PasskeyDependencies) {
  const { db, random, lastMethodGuard, notices, relyingParty } = dependencies;

  return {
    /** Returns the passkeys of the session's workspace, oldest first; from the console all of them. */
    async list(principal: SessionPrincipal): Promise<Page<PasskeyRecord>> {
      const passkeys = await listPasskeysOf(db.reader, principal.userId);
      const own = passkeys.filter(({ workspaceId }) => coversWorkspace(principal, workspaceId));
      return { items: own.map(present), nextCursor: null };
    },

    /** @throws {AppError} reauthentication_required; invalid_state at the limit of 50. */
    async options(actor: Actor, principal: SessionPrincipal): Promise<AttestationOptions> {
      const rp = relyingParty();
      const {
        userId,
        workspaceId,
        applicationId,
        sessionId,
        identity: { envelope },
      } = principal;
      const { issued, existing, application } = await db.write(actor, async (unit) => {
        await requireFresh(unit, principal);
        const held = await passkeysUnderHandle(unit, principal);
        refuseFurther(held);
        return {
          issued: await issueChallenge(unit, random, { purpose: 'registration', applicationId, sessionId }),
          existing: held,
          application: await requireApplication(unit, applicationId),
        };
      });
      const { challengeId, challenge, expiresAt } = issued;
      const { email, fullName } = envelope;
      // The picker of the browser mixes passkeys of several workspaces.
      const displayName = `${fullName || email} (${application.name})`;
      const options = await creationOptions(rp, challenge, { userId, workspaceId, email, displayName, existing });
      return { challengeId, expiresAt: isoTime(expiresAt), options };
    },

    /**
     * Stores a passkey made with this session's options, for the applications of its workspace.
     *
     * @throws {AppError} code_expired, code_consumed, passkey_invalid; conflict if it is registered already.
     */
    async add(actor: Actor, principal: SessionPrincipal, input: NewPasskeyInput): Promise<PasskeyRecord> {
      const rp = relyingParty();
      const { userId, workspaceId, applicationId, sessionId } = principal;
      const { challenge } = await db.write(actor, (unit) =>
        useChallenge(unit, input.challengeId, { purpose: 'registration', sessionId }),
      );
      const made = await verifyCreation(rp, challenge, input.credential);
      return db.write(actor, async (unit) => {
        // The session may have ended or the person been deleted during verification.
        if (!(await isSessionLive(unit, { id: sessionId, now: unit.now }))) throw new AppError('unauthenticated');
        refuseFurther(await passkeysUnderHandle(unit, principal));
        if (await findPasskey(unit, made.credentialId)) throw new AppError('conflict', { hint: 'passkey_registered' });
        const name = input.name?.trim() ?? authenticatorName(made.aaguid) ?? UNNAMED_PASSKEY;
        const passkey = await insertPasskey(unit, { userId, workspaceId, ...made, name });
        await tell(unit, notices, principal, { kind: 'passkey_added', name: givenName(passkey) });
        const detail = { sessionId };
        await recordAudit(unit, { kind: 'passkey.added', applicationId, userId, targetId: passkey.id, detail });
        return present(passkey);
      });
    },

    /** @throws {AppError} not_found for another person's. */
    rename(actor: Actor, principal: SessionPrincipal, passkeyId: string, name: string): Promise<PasskeyRecord> {
      return db.write(actor, async (unit) => {
        const passkey = await findOwn(unit, principal, passkeyId);
        const renamed = { ...passkey, name: name.trim() };
        if (renamed.name === passkey.name) return present(passkey);
        const { userId, applicationId } = principal;
        await renamePasskey(unit, passkey.id, renamed.name);
        await recordAudit(unit, { kind: 'passkey.renamed', applicationId, userId, targetId: passkey.id });
        return present(renamed);
      });
    },

    /**
     * Removes a passkey and ends the sessions made with it.
     *
     * @throws {AppError} not_found; reauthentication_required; invalid_state for the last sign-in method.
     */
    remove(
      actor: Actor,
      principal: SessionPrincipal,
      passkeyId: string,
      { force = false, endAllSessions = false }: RemovalQuery,
    ): Promise<PasskeyRemoved> {
      return db.write(actor, async (unit) => {
        const passkey = await findOwn(unit, principal, passkeyId);
        await requireFresh(unit, principal);
        const { userId, applicationId } = principal;
        if (!force) await lastMethodGuard.requireAnother(unit, userId, { passkeyId });
        await deletePasskey(unit, passkey.id);
        const credential = { credentialId: passkey.id, method: 'passkey' } as const;
        const sessionsEnded = await endWithCredential(unit, principal, credential, endAllSessions);
        await tell(unit, notices, principal, { kind: 'passkey_removed', name: givenName(passkey) });
        const detail = { sessionsEnded };
        await recordAudit(unit, { kind: 'passkey.removed', applicationId, userId, targetId: passkey.id, detail });
        return { id: passkey.id, sessionsEnded };
      });
    },
  };
}

async function findOwn(reader: Reader, principal: SessionPrincipal, passkeyId: string): Promise<Passkey> {
  const passkey = await findPasskeyOf(reader, principal.userId, passkeyId);
  if (!passkey || !coversWorkspace(principal, passkey.workspaceId)) throw new AppError('not_found');
  return passkey;
}

/** Returns the passkeys with the same user handle, of which an authenticator stores only one. */
async function passkeysUnderHandle(reader: Reader, { userId, workspaceId }: Owner): Promise<Passkey[]> {
  const held = await listPasskeysOf(reader, userId);
  return held.filter((passkey) => passkey.workspaceId === workspaceId);
}

function refuseFurther(held: readonly Passkey[]): void {
  if (held.length >= MAX_PASSKEYS)
    throw new AppError('invalid_state', { hint: 'too_many_passkeys', values: { max: MAX_PASSKEYS } });
}

/** Notifies the applications and the person of an added or removed sign-in method. */
async function tell(
  unit: Unit,
  notices: AccountNotices,
  { userId, applicationId, identity: { envelope } }: SessionPrincipal,
  change: AccountChange,
): Promise<void> {
  await publishToMemberships(unit, userId, 'user.identity_changed', { changed: ['passkey'] });
  const application = await requireApplication(unit, applicationId);
  await notices.send(unit, envelope, application, (context) => accountChangeMail(context, change));
}

function present(passkey: Passkey): PasskeyRecord {
  const { id, isBackedUp, createdAt, lastUsedAt } = passkey;
  return { id, name: givenName(passkey), isBackedUp, createdAt: isoTime(createdAt), lastUsedAt: isoTime(lastUsedAt) };
}
