/** The link by which the holder of the previous address undoes an email change. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, DAY } from '../../core/clock.ts';
import { UNDO_PATH } from '../../core/undo-path.ts';
import { AppError } from '../../core/error.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { emailUndoneMail } from '../../mail/messages/account-change.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import { listAddedByMovers, recordAudit } from '../../store/audit.ts';
import { dropCodesTo } from '../../store/codes.ts';
import {
  type EmailChange,
  findApplicationOfEmailChange,
  findOpenEmailChange,
  insertEmailChange,
  type NewEmailChange,
  settleEmailChanges,
} from '../../store/email-changes.ts';
import { deletePasskeysSince } from '../../store/passkeys.ts';
import { deleteAliases, isAddressOfAnother, requireUser, updateUser } from '../../store/people.ts';
import { deleteIdentitiesSince } from '../../store/provider-identities.ts';
import { restoreWaitlistEntries } from '../beta/waitlist.ts';
import { publishToMemberships } from '../users/publish.ts';
import { endAccess } from './end-access.ts';

export const UNDO_DAYS = 7;

/** Sign-in methods added up to this long before the change are removed too, whichever session added them. */
const BEFORE_MS = DAY;

export interface EmailUndoDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly baseUrl: () => string;
  readonly notices: AccountNotices;
}

export type EmailUndo = ReturnType<typeof emailUndoService>;

/** An undo link works once, for anyone who holds it, and is never logged. */
export function emailUndoService({ db, clock, random, baseUrl, notices }: EmailUndoDependencies) {
  const open = async (reader: Reader, token: string, now: number): Promise<EmailChange | undefined> =>
    isSecret('emailUndo', token) ? findOpenEmailChange(reader, { tokenHash: hashSecret(token), now }) : undefined;

  return {
    /** Creates the undo link in the transaction of the change. @returns its URL. */
    async link(unit: Unit, change: Omit<NewEmailChange, 'tokenHash' | 'expiresAt'>): Promise<string> {
      const token = mintSecret('emailUndo', random);
      await insertEmailChange(unit, {
        ...change,
        tokenHash: hashSecret(token),
        expiresAt: unit.now + UNDO_DAYS * DAY,
      });
      return `${baseUrl()}${UNDO_PATH}?token=${token}`;
    },

    /** Returns whether the link can be used. Reveals nothing to strangers: a made-up token is never open. */
    async isOpen(token: string): Promise<boolean> {
      return (await open(db.reader, token, clock.now())) !== undefined;
    },

    /** Returns the application that mailed the link, even a used or expired one; null for a made-up token. */
    async applicationOf(token: string): Promise<Application | null> {
      if (!isSecret('emailUndo', token)) return null;
      const applicationId = await findApplicationOfEmailChange(db.reader, hashSecret(token));
      return applicationId === undefined ? null : requireApplication(db.reader, applicationId);
    },

    /**
     * Restores the previous address, undoes later changes, voids their links, and ends every credential an attacker could have.
     *
     * @throws {AppError} not_found for a wrong, used or expired link; conflict if another person has the address
     */
    async undo(actor: Actor, token: string): Promise<void> {
      // Checked on a reader first: anyone can send a well-formed token, and that must not cost a write.
      if (!(await open(db.reader, token, clock.now()))) throw linkGone();
      await db.write(actor, async (unit) => {
        const change = await open(unit, token, unit.now);
        if (!change) throw linkGone();
        const { userId, previousEmail } = change;
        if (await isAddressOfAnother(unit, previousEmail, userId))
          throw new AppError('conflict', { hint: 'undo_address_taken' });
        await putBack(unit, notices, change);
        await endAccess(unit, { userId }, 'email_change_undone');
        await tell(unit, notices, change, await removeSignInMethods(unit, change));
      });
    },
  };
}

/** Restores the address. The replaced one is freed rather than archived, since it never belonged to this person. */
async function putBack(unit: Unit, notices: AccountNotices, change: EmailChange): Promise<void> {
  const { userId, applicationId, previousEmail } = change;
  const present = await requireUser(unit, userId);
  await deleteAliases(unit, userId, await settleEmailChanges(unit, change));
  // Holding the link proves that mailbox. The new time also makes known browsers unknown: see known-browsers.ts.
  await updateUser(unit, userId, { email: previousEmail, emailVerifiedAt: unit.now });
  await restoreWaitlistEntries(unit, userId, change.createdAt);
  if (present.email === previousEmail) return;
  await dropCodesTo(unit, present.email);
  const application = await requireApplication(unit, applicationId);
  await notices.send(unit, present, application, (context) => emailUndoneMail(context, false));
}

/**
 * Deletes methods added since shortly before the change, or ever by sessions that changed the address (the attacker's).
 *
 * @returns the kinds removed.
 */
async function removeSignInMethods(unit: Unit, { userId, createdAt }: EmailChange): Promise<string[]> {
  const byMovers = await listAddedByMovers(unit, { userId, since: createdAt });
  const since = createdAt - BEFORE_MS;
  const passkeys = await deletePasskeysSince(unit, userId, since, byMovers);
  const identities = await deleteIdentitiesSince(unit, { userId, since, more: byMovers });
  return [...(passkeys > 0 ? ['passkey'] : []), ...(identities > 0 ? ['provider'] : [])];
}

async function tell(
  unit: Unit,
  notices: AccountNotices,
  { userId, applicationId, previousEmail: email }: EmailChange,
  removed: readonly string[],
): Promise<void> {
  await publishToMemberships(unit, userId, 'user.identity_changed', { changed: ['email', ...removed] });
  await recordAudit(unit, {
    kind: 'account.email_change_undone',
    applicationId,
    userId,
    email,
    detail: { removed },
  });
  const person = await requireUser(unit, userId);
  const application = await requireApplication(unit, applicationId);
  await notices.send(unit, { ...person, email }, application, (context) => emailUndoneMail(context, true));
}

function linkGone(): AppError {
  return new AppError('not_found', { hint: 'undo_link_spent' });
}
