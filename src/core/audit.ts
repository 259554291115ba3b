/** The catalogue of audit kinds in an application's activity list. The part before the dot is the kind's family. */

const AUDIT_KINDS = [
  'signin.code_sent',
  'signin.succeeded',
  'signin.refused',
  'signin.code_refused',
  'signin.proved_again',
  'signin.code_replayed',
  'signin.refresh_reused',
  'session.signed_out',
  'session.revoked',
  'apikey.created',
  'apikey.updated',
  'apikey.revoked',
  'apikey.rotated',
  'apikey.rotated_with_grace',
  'application.created',
  'application.updated',
  'application.published',
  'application.went_live',
  'application.secret_rotated',
  'application.openid_changed',
  'application.openid_ended',
  'application.gate_changed',
  'application.urls_checked',
  'application.lifecycle_requested',
  'application.archived',
  'application.unarchived',
  'application.deleted',
  'application.hidden',
  'application.restored',
  'role.created',
  'role.updated',
  'role.deleted',
  'role.assigned',
  'scope.created',
  'scope.updated',
  'scope.deleted',
  'scope.assigned',
  'membership.created',
  'membership.updated',
  'membership.deleted',
  'membership.assigned',
  'beta.added',
  'beta.approved',
  'beta.declined',
  'beta.removed',
  'beta.moved',
  'beta.policy_changed',
  'beta.requested',
  'user.banned',
  'user.unbanned',
  'user.paused',
  'user.resumed',
  'user.deleted',
  'user.restored',
  'user.imported',
  'user.updated',
  'user.forgotten',
  'user.invited',
  'user.bulk_changed',
  'account.profile_changed',
  'account.username_changed',
  'account.avatar_changed',
  'account.banner_changed',
  'account.email_change_requested',
  'account.email_changed',
  'account.email_change_undone',
  'account.inactivated',
  'account.reactivated',
  'account.left',
  'account.exported',
  'account.deletion_requested',
  'account.deleted',
  'passkey.added',
  'passkey.renamed',
  'passkey.removed',
  'provider.configured',
  'provider.unconfigured',
  'provider.linked',
  'provider.unlinked',
  'device.approved',
  'device.denied',
  'device.renamed',
  'device.revoked',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.tested',
  'webhook.released',
  'webhook.redelivered',
  'webhook.replayed',
  'webhook.quarantined',
  'webhook.held_dropped',
  'openid.client_registered',
  'workspace.created',
  'workspace.updated',
  'workspace.owner_added',
  'workspace.member_invited',
  'workspace.member_changed',
  'workspace.member_removed',
  'workspace.backup_started',
  'setup.link_created',
  'setup.completed',
  'mail.refused',
  'mail.expired',
  'mail.tested',
  'mail.read',
  'mail.server_set',
  'mail.server_removed',
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Returns the families of the kinds with this prefix: `sign` and `signin.co` both give `signin`. */
export function familiesBeginning(prefix: string): string[] {
  const kinds = AUDIT_KINDS.filter((kind) => kind.startsWith(prefix));
  return [...new Set(kinds.map((kind) => kind.slice(0, kind.indexOf('.'))))];
}

/** One audit record. The unit of work adds actor, time and request. */
export interface AuditEntry {
  readonly kind: AuditKind;
  /** False for a refusal. */
  readonly ok?: boolean;
  readonly applicationId?: string | null;
  /** Defaults to the workspace of the application. */
  readonly workspaceId?: string | null;
  readonly userId?: string | null;
  readonly email?: string | null;
  /** The thing it is about, when that is not a person. */
  readonly targetId?: string | null;
  /** Further facts; never a secret. */
  readonly detail?: Record<string, unknown>;
}
