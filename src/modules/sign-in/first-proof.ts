/**
 * Ends all access to an account at the first proof of its address, by a mailed code or the instance's provider: before
 * it, anybody may have made the account.
 */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { AuditEntry } from '../../core/audit.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Unit } from '../../db/database.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { addressProvedMail } from '../../mail/messages/account-change.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { denyApprovedGrants } from '../../store/device-grants.ts';
import { noteMemberSeen } from '../../store/members.ts';
import { listMembershipsWithApplication } from '../../store/memberships.ts';
import { deletePasskey, listPasskeysOf } from '../../store/passkeys.ts';
import { requireUser, updateUser, type User } from '../../store/people.ts';
import { deleteIdentity, listIdentitiesOf } from '../../store/provider-identities.ts';
import { noteSessionCredential } from '../../store/sessions.ts';
import { endSessions } from '../sessions/end.ts';
import { publishToMemberships } from '../users/publish.ts';
import { redeemReservations } from '../users/redemption.ts';
import { dropUnprovedProfiles } from '../users/unproved.ts';

const REASON = 'address_proved';

/** An identity or a passkey, valid in one workspace or everywhere. */
interface Credential {
  readonly id: string;
  readonly workspaceId: string | null;
}

export interface Proof {
  readonly application: Application;
  readonly notices: AccountNotices;
  /** The language of the page where it was given, for the mail. */
  readonly locale?: string | null;
  /** The session in which it was given; it stays valid. */
  readonly exceptSessionId?: string;
}

/** Returns the person with the address marked as proved; a later proof changes nothing. */
export async function withFirstProof(unit: Unit, person: User, proof: Proof): Promise<User> {
  if (person.kind !== 'person' || person.emailVerifiedAt !== null || person.deletedAt !== null) return person;
  unit.requireSerializable();
  await endUnprovedAccess(unit, person, proof);
  await dropUnprovedProfiles(unit, person.id);
  return updateUser(unit, person.id, { emailVerifiedAt: unit.now });
}

/** Records that a session's holder has given a code from their mailbox. The session stays valid. */
export async function noteProofInSession(
  unit: Unit,
  { sessionId, userId, applicationId, applicationUserId }: SessionPrincipal,
  notices: AccountNotices,
): Promise<void> {
  const person = await requireUser(unit, userId);
  if (person.emailVerifiedAt !== null) return;
  const application = await requireApplication(unit, applicationId);
  const proved = await withFirstProof(unit, person, { application, notices, exceptSessionId: sessionId });
  if (application.workspaceId === null) return;
  // The identity or passkey of the sign-in has been deleted.
  await noteSessionCredential(unit, { sessionId, credentialId: null });
  await redeemReservations(unit, application.workspaceId, proved);
  await noteMemberSeen(unit, applicationUserId, unit.now);
}

/**
 * Ends all access in the applications of all workspaces, and notifies the person. The console's stays: before a proof
 * only the operator's setup link gives it.
 */
async function endUnprovedAccess(
  unit: Unit,
  person: User,
  { application, notices, locale: localeOfPage = null, exceptSessionId }: Proof,
): Promise<void> {
  const { id: userId } = person;
  const memberships = (await listMembershipsWithApplication(unit, userId)).filter(
    ({ application: { workspaceId } }) => workspaceId !== null,
  );
  const isOfWorkspace = (credential: Credential) => credential.workspaceId !== null;
  const identities = (await listIdentitiesOf(unit, userId)).filter(isOfWorkspace);
  const passkeys = (await listPasskeysOf(unit, userId)).filter(isOfWorkspace);
  if (memberships.length + identities.length + passkeys.length === 0) return;

  const memberIds = memberships.map(({ member }) => member.id);
  await endSessions(unit, { memberIds, ...(exceptSessionId !== undefined && { exceptSessionId }) }, REASON);
  await endPersonalKeys(unit, { memberIds });
  await denyApprovedGrants(unit, memberIds);
  // A workspace must learn neither of a credential at another one nor from where the person signed in there.
  const record = async (kind: AuditEntry['kind'], { id: targetId, workspaceId }: Credential) => {
    const isHere = workspaceId === application.workspaceId;
    const applicationId = isHere ? application.id : null;
    const entry = { kind, applicationId, workspaceId, userId, targetId, detail: { reason: REASON } };
    await recordAudit(unit, entry, isHere ? unit.actor : SYSTEM_ACTOR);
  };
  for (const identity of identities) {
    await deleteIdentity(unit, identity.id);
    await record('provider.unlinked', identity);
  }
  for (const passkey of passkeys) {
    await deletePasskey(unit, passkey.id);
    await record('passkey.removed', passkey);
  }
  const changed = [...(identities.length > 0 ? ['provider'] : []), ...(passkeys.length > 0 ? ['passkey'] : [])];
  if (changed.length > 0) await publishToMemberships(unit, userId, 'user.identity_changed', { changed });
  await notices.send(unit, person, application, addressProvedMail, { requested: localeOfPage });
}
