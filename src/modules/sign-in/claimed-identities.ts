/** Ends identities that a workspace's own provider claimed for a verified address, and that the person never linked. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { issuerName } from '../../core/issuer.ts';
import type { Unit } from '../../db/database.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import { accountChangeMail } from '../../mail/messages/account-change.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import type { User } from '../../store/people.ts';
import { deleteIdentity, isClaim, listIdentitiesOf } from '../../store/provider-identities.ts';
import { endSessions } from '../sessions/end.ts';
import { publishToMemberships } from '../users/publish.ts';

/** Ends other workspaces' claims, and their sessions, when a person joins: they would read and write what is shown. */
export async function endClaimsElsewhere(
  unit: Unit,
  person: User,
  application: Application,
  notices: AccountNotices,
): Promise<void> {
  const { id: userId } = person;
  const claimed = (await listIdentitiesOf(unit, userId)).filter(
    (identity) => isClaim(identity) && identity.workspaceId !== application.workspaceId,
  );
  for (const { id, workspaceId, issuer, email: address } of claimed) {
    await deleteIdentity(unit, id);
    await endSessions(unit, { userId, credentialId: id, method: 'provider' }, 'credential_removed');
    // The system actor hides from the other workspace where the person signed in from.
    const detail = { reason: 'joined_elsewhere' };
    await recordAudit(unit, { kind: 'provider.unlinked', workspaceId, userId, targetId: id, detail }, SYSTEM_ACTOR);
    const change = { kind: 'provider_unlinked', provider: issuerName(issuer, null), email: address } as const;
    await notices.send(unit, person, application, (context) => accountChangeMail(context, change));
  }
  if (claimed.length > 0) await publishToMemberships(unit, userId, 'user.identity_changed', { changed: ['provider'] });
}
