/** Texts of the audit record kinds, families, refusal reasons and actors. */
import type { AuditKind } from '../../../core/audit.ts';
import type { Schemas } from '../../api.ts';
import { capitalised } from '../../components/format.ts';

export type AuthEvent = Schemas['AuthEvent'];

const KINDS: Record<AuditKind, string> = {
  'signin.code_sent': 'Sign-in code sent',
  'signin.succeeded': 'Signed in',
  'signin.refused': 'Sign-in refused',
  'signin.code_refused': 'Wrong sign-in code',
  'signin.proved_again': 'Identity confirmed again',
  'signin.code_replayed': 'Authorization code used twice',
  'signin.refresh_reused': 'Refresh token used twice',
  'session.signed_out': 'Signed out',
  'session.revoked': 'Session ended',
  'apikey.created': 'API key created',
  'apikey.updated': 'API key changed',
  'apikey.revoked': 'API key revoked',
  'apikey.rotated': 'API key rotated',
  'apikey.rotated_with_grace': 'API key rotated with grace',
  'application.created': 'Application created',
  'application.updated': 'Application changed',
  'application.published': 'Application published',
  'application.went_live': 'Application went live',
  'application.secret_rotated': 'Client secret rotated',
  'application.openid_changed': 'OpenID settings changed',
  'application.openid_ended': 'OpenID switched off',
  'application.gate_changed': 'Sign-in gate changed',
  'application.urls_checked': 'Legal addresses checked',
  'application.lifecycle_requested': 'Archive or deletion requested',
  'application.archived': 'Application archived',
  'application.unarchived': 'Application unarchived',
  'application.deleted': 'Application deleted',
  'application.hidden': 'Application hidden',
  'application.restored': 'Application restored',
  'role.created': 'Role created',
  'role.updated': 'Role changed',
  'role.deleted': 'Role deleted',
  'role.assigned': 'Roles of a user changed',
  'scope.created': 'Scope created',
  'scope.updated': 'Scope changed',
  'scope.deleted': 'Scope deleted',
  'scope.assigned': 'Scopes of a user changed',
  'membership.created': 'Group created',
  'membership.updated': 'Group changed',
  'membership.deleted': 'Group deleted',
  'membership.assigned': 'Groups of a user changed',
  'beta.added': 'Added to the allowlist',
  'beta.approved': 'Approved on the allowlist',
  'beta.declined': 'Declined on the allowlist',
  'beta.removed': 'Removed from the allowlist',
  'beta.moved': 'Moved to a new address on the allowlist',
  'beta.policy_changed': 'Request policy changed',
  'beta.requested': 'Access requested',
  'user.banned': 'User banned',
  'user.unbanned': 'User unbanned',
  'user.paused': 'User paused',
  'user.resumed': 'User resumed',
  'user.deleted': 'User deleted',
  'user.restored': 'User restored',
  'user.updated': 'User changed',
  'user.imported': 'Users imported',
  'user.forgotten': 'Import forgotten',
  'user.invited': 'User invited',
  'user.bulk_changed': 'Many users changed',
  'account.profile_changed': 'Profile changed',
  'account.username_changed': 'Username changed',
  'account.avatar_changed': 'Avatar changed',
  'account.banner_changed': 'Banner changed',
  'account.email_change_requested': 'E-mail change requested',
  'account.email_changed': 'E-mail changed',
  'account.email_change_undone': 'E-mail change undone',
  'account.inactivated': 'Account set inactive',
  'account.reactivated': 'Account active again',
  'account.left': 'Left the application',
  'account.exported': 'Own data exported',
  'account.deletion_requested': 'Account deletion requested',
  'account.deleted': 'Account deleted',
  'passkey.added': 'Passkey added',
  'passkey.renamed': 'Passkey renamed',
  'passkey.removed': 'Passkey removed',
  'provider.configured': 'Sign-in provider set up',
  'provider.unconfigured': 'Sign-in provider removed',
  'provider.linked': 'Provider linked',
  'provider.unlinked': 'Provider unlinked',
  'device.approved': 'Device connected',
  'device.denied': 'Device declined',
  'device.renamed': 'Device renamed',
  'device.revoked': 'Device disconnected',
  'webhook.created': 'Webhook created',
  'webhook.updated': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Webhook secret rotated',
  'webhook.tested': 'Webhook tested',
  'webhook.released': 'Webhook released',
  'webhook.redelivered': 'Delivery sent again',
  'webhook.replayed': 'Failed deliveries sent again',
  'webhook.quarantined': 'Webhook quarantined',
  'webhook.held_dropped': 'Held events dropped',
  'openid.client_registered': 'OAuth client registered itself',
  'workspace.created': 'Workspace created',
  'workspace.updated': 'Workspace changed',
  'workspace.owner_added': 'Owner added',
  'workspace.member_invited': 'Member invited',
  'workspace.member_changed': 'Member changed',
  'workspace.member_removed': 'Member removed',
  'workspace.backup_started': 'Backup started',
  'setup.link_created': 'Setup link created',
  'setup.completed': 'Setup completed',
  'mail.refused': 'Mail not accepted',
  'mail.expired': 'Mail not sent in time',
  'mail.tested': 'Test mail sent',
  'mail.read': 'Mail read in the outbox',
  'mail.server_set': 'Mail server set',
  'mail.server_removed': 'Mail server removed',
};

/** Falls back to the kind's own name if it is unknown. */
export function kindInWords(kind: string): string {
  const words = (KINDS as Record<string, string>)[kind];
  if (words !== undefined) return words;
  return capitalised(kind.replaceAll(/[._]/g, ' '));
}

/** Ordered by how often they are searched. */
export const FAMILIES: readonly { readonly value: string; readonly label: string }[] = [
  { value: 'signin', label: 'Sign-ins' },
  { value: 'session', label: 'Sessions' },
  { value: 'user', label: 'Users' },
  { value: 'account', label: 'Accounts' },
  { value: 'passkey', label: 'Passkeys' },
  { value: 'provider', label: 'Providers' },
  { value: 'device', label: 'Devices' },
  { value: 'beta', label: 'Allowlist' },
  { value: 'role', label: 'Roles' },
  { value: 'scope', label: 'Scopes' },
  { value: 'membership', label: 'Groups' },
  { value: 'apikey', label: 'API keys' },
  { value: 'application', label: 'Applications' },
  { value: 'openid', label: 'OAuth clients' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'mail', label: 'Mail' },
  { value: 'workspace', label: 'Workspace' },
  { value: 'setup', label: 'Setup' },
];

const REASONS: Record<string, string> = {
  application_archived: 'the application is archived',
  email_archived: 'the address belongs to an account that now has a newer one',
  user_deleted: 'the user is deleted',
  membership_blocked: 'the user is banned or paused',
  gate_closed: 'the application accepts nobody new',
  waitlist: 'the address is not approved on the allowlist',
  forbidden: 'this sign-in method is switched off',
  code_invalid: 'the code was wrong',
  code_expired: 'the code was too old',
  code_exhausted: 'the code was entered wrongly too many times',
  code_consumed: 'the code was used already',
  rate_limited: 'there were too many attempts',
  passkey_unknown: 'the passkey is not known here',
  passkey_invalid: 'the passkey could not be checked',
  email_unverified: 'the provider has not verified the address',
  link_required: 'an account with this address exists and is not linked with the provider',
  access_denied: 'it was cancelled at the provider',
  provider_failed: 'the provider did not answer as expected',
};

/** Returns half a sentence, or the reason itself if it is unknown. */
export const reasonInWords = (reason: string) => REASONS[reason] ?? reason;

/** Returns why a record failed; null without a reason. */
export function reasonOf({ detail }: AuthEvent): string | null {
  const reason = detail?.['reason'];
  return typeof reason === 'string' && reason !== '' ? reasonInWords(reason) : null;
}

const METHODS: Record<string, string> = {
  otp: 'E-mail code',
  passkey: 'Passkey',
  provider: 'Identity provider',
  device: 'Device',
  setup: 'Setup link',
};

export const methodInWords = (method: string) => METHODS[method] ?? method;

export const ACTOR_TYPES: Record<AuthEvent['actorType'], string> = {
  user: 'A person',
  key: 'An API key',
  anonymous: 'Somebody not signed in',
  system: 'Gatehouse itself',
};
