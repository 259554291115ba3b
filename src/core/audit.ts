/** The catalogue of audit kinds: what can stand in an application's activity list. Families are the part before the dot. */

export const AUDIT_KINDS = [
  'signin.code_sent',
  'signin.succeeded',
  'signin.refused',
  'session.signed_out',
  'apikey.created',
  'application.created',
  'application.updated',
  'application.published',
  'application.went_live',
  'workspace.created',
  'workspace.owner_added',
  'setup.link_created',
  'setup.completed',
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** One thing that happened. Actor, time and request are added by the unit of work it is recorded in. */
export interface AuditEntry {
  readonly kind: AuditKind;
  /** False for a refusal. */
  readonly ok?: boolean;
  readonly applicationId?: string | null;
  readonly workspaceId?: string | null;
  /** The person it is about. */
  readonly userId?: string | null;
  readonly email?: string | null;
  /** The thing it is about, when that is not a person. */
  readonly targetId?: string | null;
  /** Further facts; never a secret. */
  readonly detail?: Record<string, unknown>;
}
