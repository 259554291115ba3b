/**
 * The first proof that an address is the person's. An application's own provider can have made the account before, and let
 * somebody in who was not them; whatever they left behind in the workspace goes, so that nobody waits in the account.
 */
import { localeToWriteIn } from '../../core/locale.ts';
import type { Unit } from '../../db/database.ts';
import { mailNotice } from '../../mail/notice.ts';
import { addressProvedMail } from '../../mail/messages/account-change.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { denyApprovedGrants } from '../../store/device-grants.ts';
import { listMembershipsWithApplication } from '../../store/members.ts';
import { deletePasskey, listPasskeysOf } from '../../store/passkeys.ts';
import { type User, updateUser } from '../../store/people.ts';
import { deleteIdentity, listIdentitiesOf } from '../../store/provider-identities.ts';
import { endSessions } from '../sessions/end.ts';
import { announce } from '../users/announce.ts';

const REASON = 'address_proved';

/**
 * Notes that the address is proved, and ends every other way into the applications of the workspace that there was before.
 * What counts in other workspaces stays there; into the console nobody comes by a tenant's word.
 */
export async function noteFirstProof(unit: Unit, person: User, application: Application): Promise<void> {
  const { id: userId, email, locale } = person;
  await updateUser(unit, userId, { emailVerifiedAt: unit.now });
  const { id: applicationId, workspaceId } = application;
  if (workspaceId === null) return;
  await endSessions(unit, { userId, workspaceId }, REASON);
  const memberIds = (await listMembershipsWithApplication(unit, userId))
    .filter((one) => one.application.workspaceId === workspaceId)
    .map(({ member }) => member.id);
  await endPersonalKeys(unit, { memberIds });
  await denyApprovedGrants(unit, memberIds);

  const isHere = (credential: { readonly workspaceId: string | null }) => credential.workspaceId === workspaceId;
  const identities = (await listIdentitiesOf(unit, userId)).filter(isHere);
  const passkeys = (await listPasskeysOf(unit, userId)).filter(isHere);
  const record = { applicationId, workspaceId, userId, detail: { reason: REASON } };
  for (const { id } of identities) {
    await deleteIdentity(unit, id);
    await recordAudit(unit, { ...record, kind: 'provider.unlinked', targetId: id });
  }
  for (const { id } of passkeys) {
    await deletePasskey(unit, id);
    await recordAudit(unit, { ...record, kind: 'passkey.removed', targetId: id });
  }
  const changed = [...(identities.length > 0 ? ['provider'] : []), ...(passkeys.length > 0 ? ['passkey'] : [])];
  if (changed.length === 0) return;
  await announce(unit, userId, 'user.identity_changed', { changed });
  await mailNotice(unit, email, application, addressProvedMail(localeToWriteIn(locale), application));
}
