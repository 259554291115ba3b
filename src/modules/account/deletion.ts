/** Deletes a person's account: what they gave is wiped, what has to stay is named before they confirm. */
import { eq, inArray } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { legalEntities, userAddresses, userImages } from '../../db/schema/account.ts';
import { sessions as sessionTable } from '../../db/schema/credentials.ts';
import { passkeys } from '../../db/schema/passkeys.ts';
import { providerIdentities } from '../../db/schema/providers.ts';
import { applicationUsers, emailAliases, userLanguages, users } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { accountDeletedMail } from '../../mail/messages/account.ts';
import { forgetPersonalKeys } from '../api-keys/personal.ts';
import { removeInterests } from '../beta/interests.ts';
import { forgetDeviceGrants } from '../device/grants.ts';
import { clearGrants } from '../grants/holders.ts';
import type { Sessions } from '../sessions/service.ts';
import { findUser } from '../users/members.ts';
import { removeSeats, workspacesOwnedAlone } from '../workspace/seats.ts';
import type { Confirmations } from './confirmation.ts';
import { requireOwnProof } from './freshness.ts';
import type { AccountDeleted, DeletionAsked, DeletionInput } from './model.ts';
import { mailNotice } from './notice.ts';

/** Dependants before what they refer to. */
const WIPED = [passkeys, providerIdentities, legalEntities, userAddresses, userLanguages, userImages] as const;

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
  readonly sessions: Sessions;
  readonly auditDays: number;
}

export type Deletions = ReturnType<typeof deletionService>;

export function deletionService({ confirmations, sessions, auditDays }: DeletionDependencies) {
  const statement = {
    deleted: [
      'Your names, addresses, legal entities, languages, region and pictures.',
      'Your passkeys, connected sign-in providers and usernames, your roles, scopes and groups.',
      'Your places on the lists of applications that are not open yet.',
      'Where your sessions and connected devices were, and what they are called; all of them end.',
    ],
    kept: [
      'Your e-mail address and the addresses before it, so that nobody can sign in or register with them.',
      'Which applications of this server you were a member of, and when.',
      `Records of what was done, for ${auditDays} days; sent mails and events, for 30 days.`,
      'What the applications themselves keep of you: ask them.',
    ],
  };

  return {
    /**
     * Mails a code, and says what a deletion deletes and keeps.
     *
     * @throws {AppError} reauthentication_required; invalid_state for the only owner of a workspace; rate_limited
     */
    ask(actor: Actor, principal: SessionPrincipal): DeletionAsked {
      const asked = confirmations.ask(actor, principal, (unit) => {
        requireOwnProof(unit, principal);
        refuseOnlyOwner(unit, principal.userId);
        const { email } = findUser(unit, principal.userId)!;
        return {
          action: 'account_deletion',
          email,
          audit: 'account.deletion_requested',
          explanation: ['This is deleted for good:', ...statement.deleted, 'This is kept:', ...statement.kept],
        };
      });
      return { ...asked, ...statement };
    },

    /**
     * Deletes the account, in one transaction.
     *
     * @throws {AppError} invalid_request, code_invalid, code_expired, code_exhausted, code_consumed, invalid_state
     */
    confirm(actor: Actor, principal: SessionPrincipal, { challengeId, code }: DeletionInput): AccountDeleted {
      if (challengeId === undefined || code === undefined)
        throw invalidField(
          challengeId === undefined ? 'challengeId' : 'code',
          'Ask for a code with POST /api/account/deletion, then give its challengeId and the code here.',
        );
      return confirmations.give(actor, principal, { action: 'account_deletion', challengeId, code }, (unit) => {
        const { userId, applicationId } = principal;
        refuseOnlyOwner(unit, userId);
        const { email } = findUser(unit, userId)!;
        endMemberships(unit, userId);
        removeSeats(unit, userId);
        removeInterests(unit, addressesOf(unit, userId));
        for (const table of WIPED) unit.tx.delete(table).where(eq(table.userId, userId)).run();
        unit.tx
          .update(users)
          .set({ ...BLANK, deletedAt: unit.now, updatedAt: unit.now })
          .where(eq(users.id, userId))
          .run();
        unit.audit({ kind: 'account.deleted', applicationId, userId });
        mailNotice(unit, email, accountDeletedMail(statement));
        return { userId, kept: statement.kept };
      });
    },
  };

  function endMemberships(unit: Unit, userId: string): void {
    const memberships = unit.tx.select().from(applicationUsers).where(eq(applicationUsers.userId, userId)).all();
    const ids = memberships.map(({ id }) => id);
    sessions.revokeAll(unit, inArray(sessionTable.applicationUserId, ids), 'deleted');
    unit.tx
      .update(sessionTable)
      .set({ ip: null, ipCountry: null, userAgent: null })
      .where(inArray(sessionTable.applicationUserId, ids))
      .run();
    forgetPersonalKeys(unit, ids);
    forgetDeviceGrants(unit, ids);
    for (const id of ids) clearGrants(unit, id);
    unit.tx
      .update(applicationUsers)
      .set({ status: 'deleted', statusReason: 'account_deleted', username: null, updatedAt: unit.now })
      .where(inArray(applicationUsers.id, ids))
      .run();
    // Those that were left are told too: what they keep of the person has lost its owner.
    for (const { applicationId, status } of memberships)
      if (status !== 'deleted')
        unit.emit({ type: 'user.deleted', applicationId, data: { userId, reason: 'account_deleted' } });
  }
}

/** The present one and those before it. */
function addressesOf(unit: Unit, userId: string): string[] {
  const aliases = unit.tx.select().from(emailAliases).where(eq(emailAliases.userId, userId)).all();
  return [findUser(unit, userId)!.email, ...aliases.map(({ email }) => email)];
}

/** @throws {AppError} invalid_state */
function refuseOnlyOwner(unit: Unit, userId: string): void {
  const [name] = workspacesOwnedAlone(unit, userId);
  if (name !== undefined)
    throw new AppError('invalid_state', {
      message: `You are the only owner of the workspace ${name}; make somebody else an owner first.`,
    });
}
