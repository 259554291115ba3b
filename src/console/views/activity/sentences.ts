/** Sentences of the audit record kinds, for rows that begin with the actor. */
import type { AuditKind } from '../../../core/audit.ts';
import { detailedSentence } from './detailed-sentences.ts';
import { type AuthEvent, kindInWords } from './kinds.ts';
import { shownEvent } from './shown-event.ts';

/** `{target}` is the object's name, `{user}` the person it was done to; ` of {user}` is left out for oneself. */
const SENTENCES: Record<AuditKind, string> = {
  'signin.code_sent': 'Was sent a sign-in code',
  'signin.succeeded': 'Signed in',
  'signin.refused': 'Tried to sign in',
  'signin.code_refused': 'Entered a wrong sign-in code',
  'signin.proved_again': 'Confirmed their identity',
  'signin.code_replayed': 'Had an authorization code used twice',
  'signin.refresh_reused': 'Had a refresh token used twice',
  'session.signed_out': 'Signed out',
  'session.revoked': 'Ended sessions of {user}',
  'apikey.created': 'Created API key {target}',
  'apikey.updated': 'Changed API key {target}',
  'apikey.revoked': 'Revoked API key {target}',
  'apikey.rotated': 'Rotated API key {target}',
  'apikey.rotated_with_grace': 'Rotated API key {target} with grace',
  'application.created': 'Created application {target}',
  'application.updated': 'Changed application {target}',
  'application.published': 'Published application {target}',
  'application.went_live': 'Took application {target} live',
  'application.secret_rotated': 'Rotated the client secret of {target}',
  'application.openid_changed': 'Changed the OpenID settings of {target}',
  'application.openid_ended': 'Switched OpenID off for {target}',
  'application.gate_changed': 'Changed the sign-in gate',
  'application.urls_checked': 'Checked the legal addresses of {target}',
  'application.lifecycle_requested': 'Requested to archive or delete {target}',
  'application.archived': 'Archived application {target}',
  'application.unarchived': 'Unarchived application {target}',
  'application.deleted': 'Deleted application {target}',
  'application.hidden': 'Hid application {target}',
  'application.restored': 'Restored application {target}',
  'role.created': 'Created role {target}',
  'role.updated': 'Changed role {target}',
  'role.deleted': 'Deleted role {target}',
  'role.assigned': 'Changed roles of {user}',
  'scope.created': 'Created scope {target}',
  'scope.updated': 'Changed scope {target}',
  'scope.deleted': 'Deleted scope {target}',
  'scope.assigned': 'Changed scopes of {user}',
  'membership.created': 'Created group {target}',
  'membership.updated': 'Changed group {target}',
  'membership.deleted': 'Deleted group {target}',
  'membership.assigned': 'Changed groups of {user}',
  'beta.added': 'Added {user} to the allowlist',
  'beta.approved': 'Approved {user} on the allowlist',
  'beta.declined': 'Declined {user} on the allowlist',
  'beta.removed': 'Removed {user} from the allowlist',
  'beta.moved': 'Moved {user} to a new address on the allowlist',
  'beta.policy_changed': 'Changed the request policy',
  'beta.requested': 'Requested access',
  'user.banned': 'Banned {user}',
  'user.bulk_changed': 'Changed all users that match',
  'user.unbanned': 'Unbanned {user}',
  'user.paused': 'Paused {user}',
  'user.resumed': 'Resumed {user}',
  'user.deleted': 'Deleted {user}',
  'user.restored': 'Restored {user}',
  'user.updated': 'Changed the record of {user}',
  'user.imported': 'Imported users',
  'user.forgotten': 'Forgot the import of {user}',
  'user.invited': 'Invited {user} by mail',
  'account.profile_changed': 'Changed the profile of {user}',
  'account.username_changed': 'Changed the username of {user}',
  'account.avatar_changed': 'Changed the avatar of {user}',
  'account.banner_changed': 'Changed the banner of {user}',
  'account.email_change_requested': 'Requested a change of the e-mail of {user}',
  'account.email_changed': 'Changed the e-mail of {user}',
  'account.email_change_undone': 'Undid the e-mail change of {user}',
  'account.inactivated': 'Set the account of {user} inactive',
  'account.reactivated': 'Reactivated the account of {user}',
  'account.left': 'Left the application',
  'account.exported': 'Exported the account of {user}',
  'account.deletion_requested': 'Requested deletion of the account of {user}',
  'account.deleted': 'Deleted the account of {user}',
  'passkey.added': 'Added a passkey of {user}',
  'passkey.renamed': 'Renamed a passkey of {user}',
  'passkey.removed': 'Removed a passkey of {user}',
  'provider.configured': 'Set up sign-in provider {target}',
  'provider.unconfigured': 'Removed sign-in provider {target}',
  'provider.linked': 'Linked provider {target} of {user}',
  'provider.unlinked': 'Unlinked provider {target} of {user}',
  'device.approved': 'Connected device {target}',
  'device.denied': 'Declined device {target}',
  'device.renamed': 'Renamed device {target} of {user}',
  'device.revoked': 'Disconnected device {target} of {user}',
  'webhook.created': 'Created webhook {target}',
  'webhook.updated': 'Changed webhook {target}',
  'webhook.deleted': 'Deleted webhook {target}',
  'webhook.secret_rotated': 'Rotated the secret of webhook {target}',
  'webhook.tested': 'Tested webhook {target}',
  'webhook.replayed': 'Sent failed events of webhook {target} again',
  'webhook.released': 'Released webhook {target}',
  'webhook.redelivered': 'Sent a delivery to {target} again',
  'webhook.quarantined': 'Quarantined webhook {target}',
  'webhook.held_dropped': 'Dropped held events of webhook {target}',
  'openid.client_registered': 'Registered OAuth client {target}',
  'workspace.created': 'Created the workspace',
  'workspace.updated': 'Changed the workspace',
  'workspace.owner_added': 'Added {user} as an owner',
  'workspace.member_invited': 'Invited {user} to the workspace',
  'workspace.member_changed': 'Changed the workspace role of {user}',
  'workspace.member_removed': 'Removed {user} from the workspace',
  'workspace.backup_started': 'Started a backup',
  'setup.link_created': 'Created a setup link',
  'setup.completed': 'Completed the setup',
  'mail.refused': 'Mailed {user}',
  'mail.expired': 'Mailed {user} in vain',
  'mail.tested': 'Sent a test mail to {user}',
  'mail.read': 'Read a mail to {user} in the outbox',
  'mail.server_set': 'Set the mail server',
  'mail.server_removed': 'Removed the mail server',
};

/** Part of a sentence; names are set off. */
export interface Part {
  readonly text: string;
  readonly isName: boolean;
}

/** Returns what was done to what. A kind of a newer server is shown by its own name. */
export function sentenceOf(event: AuthEvent): readonly Part[] {
  const { kind, targetName, userName, email, detail } = shownEvent(event);
  const form = detailedSentence(kind, detail) ?? (SENTENCES as Record<string, string>)[kind] ?? kindInWords(kind);
  const names = { '{target}': targetName ?? '', '{user}': userName ?? email ?? 'a user' };
  return (isByOneself(event) ? form.replace(' of {user}', '') : form)
    .split(/(\{target\}|\{user\})/)
    .map((text) =>
      text in names ? { text: names[text as keyof typeof names], isName: true } : { text, isName: false },
    )
    .filter(({ text }) => text !== '');
}

export interface ShownActor {
  readonly name: string;
  /** Stands before the name: "Key". */
  readonly title: string | null;
  /** Stands behind the name: the address of a person with a name. */
  readonly note: string | null;
}

/** Returns the actor. Nobody has proved an address before signing in, so it stands there as it was given. */
export function whoOf(event: AuthEvent): ShownActor {
  const { actorType, actorName, actorApiKeyId, kind, userName, email, userId } = shownEvent(event);
  if (actorType === 'system') return who('Gatehouse');
  if (actorType === 'key') return who(actorName ?? 'without a name', { title: 'Key' });
  const note = actorApiKeyId === null ? null : 'with a connected device';
  if (actorType === 'user' && !isByOneself(event)) return who(actorName ?? 'Former member', { note });
  const address = email ?? userId ?? (actorType === 'user' ? 'The person' : 'Somebody not signed in');
  if (userName === null || (actorType === 'anonymous' && kind !== 'signin.succeeded')) return who(address, { note });
  return who(userName, { note: note ?? email });
}

const who = (name: string, { title = null, note = null }: Partial<ShownActor> = {}): ShownActor => ({
  name,
  title,
  note,
});

export const isByAnother = (event: AuthEvent) => !isByOneself(event);

function isByOneself({ actorType, actorUserId, userId }: AuthEvent): boolean {
  return actorType === 'anonymous' || (actorType === 'user' && actorUserId === userId);
}

export function sentenceInWords(event: AuthEvent): string {
  return sentenceOf(event)
    .map(({ text }) => text)
    .join('')
    .trim();
}

export function whoInWords(event: AuthEvent): string {
  const { title, name } = whoOf(event);
  return title === null ? name : `${title} ${name}`;
}
