/** Deletes a person's account: wipes their data and names beforehand what has to be kept. */
import type { Actor } from '../../core/actor.ts';
import { DAY, isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import { SENT_RETENTION_MS } from '../../jobs/retention-rules.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { accountDeletedMail, deletionStatement } from '../../mail/messages/account.ts';
import { forgetPersonalKeys } from '../../store/api-keys.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { deleteOutcomesOf } from '../../store/bulk-changes.ts';
import { deleteWaitlistEntriesOf } from '../../store/waitlist.ts';
import { purgeDeviceGrants } from '../../store/device-grants.ts';
import { clearGrants } from '../../store/grants.ts';
import { purgeOAuthOf } from '../../store/oauth-codes.ts';
import { deleteEmailChangesOf, findUndoEnd } from '../../store/email-changes.ts';
import { type Member, updateMembers } from '../../store/members.ts';
import { listMembershipsOf } from '../../store/memberships.ts';
import { deletePasskeysOf } from '../../store/passkeys.ts';
import { listAliasesOf, requireUser, updateUser } from '../../store/people.ts';
import { deleteIdentitiesOf } from '../../store/provider-identities.ts';
import { deleteReservation, hasBeenUsed, listReservationsOf } from '../../store/reservations.ts';
import { deleteWorkspaceMembershipsOf, workspacesOwnedAlone } from '../../store/workspace-members.ts';
import { PROFILE_TABLES } from '../users/unproved.ts';
import { endSessions } from '../sessions/end.ts';
import type { Confirmations } from './confirmation.ts';
import { forgetSessions } from './forget-sessions.ts';
import { noteProofInSession } from '../sign-in/first-proof.ts';
import { requireOwnProof } from '../sign-in/step-up.ts';
import type { AccountDeleted, DeletionAsked, DeletionInput } from './model.ts';

/** Ordered so that dependent rows go before the rows they refer to. */
const WIPED = [deletePasskeysOf, deleteIdentitiesOf, ...PROFILE_TABLES, deleteEmailChangesOf] as const;

const BLANK = {
  name: null,
  fullName: null,
  givenName: null,
  familyName: null,
  locale: null,
  timezone: null,
  region: null,
  providerAvatarUrl: null,
  avatarSizes: null,
  avatarUpdatedAt: null,
  bannerSizes: null,
  bannerUpdatedAt: null,
};

export interface DeletionDependencies {
  readonly confirmations: Confirmations;
  readonly notices: AccountNotices;
  readonly auditDays: number;
}

export type Deletions = ReturnType<typeof deletionService>;

/** @param auditDays retention of audit records in days, stated to the person before and after. */
export function deletionService({ confirmations, notices, auditDays }: DeletionDependencies) {
  const retention = { auditDays, mailDays: SENT_RETENTION_MS / DAY };
  /** API answers are always in English. */
  const statement = () => deletionStatement('en', retention);

  return {
    /**
     * Mails a code, and returns what a deletion deletes and keeps.
     *
     * @throws {AppError} reauthentication_required, rate_limited; invalid_state for a workspace's only owner, or while
     * an email change can be undone
     */
    async ask(actor: Actor, principal: SessionPrincipal): Promise<DeletionAsked> {
      const asked = await confirmations.ask(actor, principal, async (unit) => {
        await requireOwnProof(unit, principal, { purpose: 'account_deletion' });
        await refuseOnlyOwner(unit, principal.userId);
        await refuseWhileUndoable(unit, principal.userId);
        const { email } = await requireUser(unit, principal.userId);
        return {
          confirmation: { kind: 'account_deletion', retention },
          email,
          audit: 'account.deletion_requested',
        };
      });
      return { ...asked, ...statement(), recordDays: auditDays };
    },

    /**
     * Deletes the account in one transaction. A background task wipes places and devices of its sessions if many.
     *
     * @throws {AppError} invalid_request, code_invalid, code_expired, code_exhausted, code_consumed, invalid_state
     */
    async confirm(
      actor: Actor,
      principal: SessionPrincipal,
      { challengeId, code }: DeletionInput,
    ): Promise<AccountDeleted> {
      if (challengeId === undefined || code === undefined)
        throw invalidField(
          challengeId === undefined ? 'challengeId' : 'code',
          'Ask for a code with POST /api/account/deletion, then give its challengeId and the code here.',
        );
      return confirmations.give(actor, principal, { action: 'account_deletion', challengeId, code }, async (unit) => {
        const { userId, applicationId } = principal;
        await refuseOnlyOwner(unit, userId);
        await refuseWhileUndoable(unit, userId);
        await noteProofInSession(unit, principal, notices);
        const person = await requireUser(unit, userId);
        const { email } = person;
        const { used, unused } = await reservationsOf(unit, userId);
        await endMemberships(unit, userId, used);
        // Reservations are deleted without an event: those applications never saw the person.
        for (const { id } of unused) await deleteReservation(unit, id);
        await deleteWorkspaceMembershipsOf(unit, userId);
        await deleteWaitlistEntriesOf(unit, [email, ...(await listAliasesOf(unit, userId))]);
        for (const wipe of WIPED) await wipe(unit, userId);
        await updateUser(unit, userId, { ...BLANK, deletedAt: unit.now });
        await recordAudit(unit, { kind: 'account.deleted', applicationId, userId });
        const application = await requireApplication(unit, applicationId);
        await notices.send(unit, person, application, (context) => accountDeletedMail(context, retention), {
          mail: 'account_deleted',
        });
        return { userId, kept: statement().kept };
      });
    },
  };
}

async function endMemberships(unit: Unit, userId: string, usedReservations: readonly Member[]): Promise<void> {
  const memberships = await listMembershipsOf(unit, userId);
  const memberIds = [...memberships, ...usedReservations].map(({ id }) => id);
  await endSessions(unit, { userId }, 'deleted');
  await beginTask(unit, forgetSessions, { applicationId: null, data: { userId, memberIds } });
  await forgetPersonalKeys(unit, memberIds);
  await purgeDeviceGrants(unit, memberIds);
  await purgeOAuthOf(unit, memberIds);
  await clearGrants(unit, memberIds);
  for (const memberId of memberIds) await deleteOutcomesOf(unit, memberId);
  await updateMembers(unit, memberIds, {
    status: 'deleted',
    statusReason: 'account_deleted',
    statusBeforeDeletion: null,
    reasonBeforeDeletion: null,
    username: null,
    reservedProfile: null,
    externalId: null,
    metadata: null,
  });
  // Applications that the person had left get the event too: they may still hold the person's data.
  for (const { applicationId, status } of memberships)
    if (status !== 'deleted')
      await emit(unit, { type: 'user.deleted', applicationId, data: { userId, reason: 'account_deleted' } });
}

/** Splits a person's reservations: ended sessions and keys refer to those that a provider has signed somebody in to. */
async function reservationsOf(unit: Unit, userId: string): Promise<{ used: Member[]; unused: Member[] }> {
  const [used, unused]: [Member[], Member[]] = [[], []];
  for (const reservation of await listReservationsOf(unit, userId))
    ((await hasBeenUsed(unit, reservation.id)) ? used : unused).push(reservation);
  return { used, unused };
}

/** @throws {AppError} invalid_state */
async function refuseOnlyOwner(reader: Reader, userId: string): Promise<void> {
  const [name] = await workspacesOwnedAlone(reader, userId);
  if (name !== undefined) throw new AppError('invalid_state', { hint: 'only_owner', values: { workspace: name } });
}

/** Keeps a hijacker from deleting the account while its email change can be undone. @throws {AppError} invalid_state */
async function refuseWhileUndoable(unit: Unit, userId: string): Promise<void> {
  const until = await findUndoEnd(unit, { userId, now: unit.now });
  if (until !== null)
    throw new AppError('invalid_state', { hint: 'email_change_open', values: { until: isoTime(until) } });
}
