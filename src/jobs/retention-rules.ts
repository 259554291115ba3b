/** The only retention rules: why each table's rows stay, or what deletes them and when. A test finds missing tables. */
import { DAY } from '../core/clock.ts';
import type { Purgeable } from '../store/retention.ts';

/** Retention of sent mails, events and their deliveries. The account-deletion mail states it. */
export const SENT_RETENTION_MS = 30 * DAY;

/** How long a bulk change can be undone. */
const BULK_UNDO_MS = 30 * DAY;

/** A table that the retention job sweeps. */
export interface SweptTable {
  readonly sweeps: Readonly<Partial<Record<Purgeable, number | 'audit setting'>>>;
}

export type TableRetention =
  | SweptTable
  /** Rows are deleted by this function, after this time. */
  | { readonly afterMs: number; readonly by: string }
  /** Rows are deleted with the row of this table that they belong to. */
  | { readonly with: string }
  /** Reason why rows are never deleted by age. */
  | { readonly kept: string };

const PERSONAL = 'the person’s own, until they change it; the deletion of the account takes it';
const GRANTED = 'as long as the membership has it; removal, deletion and the end of the role take it';
const DEFINED = 'as the application defines it; a removed one goes with its last holder';

export const RETENTION_RULES: Readonly<Record<string, TableRetention>> = {
  address_search: { kept: 'a trigger deletes an address with its last audit record or mail' },
  api_keys: { kept: 'audit records and logs name keys, and the error for an ended key says why it ended' },
  application_images: { kept: 'as the application shows it, until another replaces it' },
  application_user_groups: { kept: GRANTED },
  application_user_roles: { kept: GRANTED },
  application_user_scopes: { kept: GRANTED },
  application_users: { kept: 'who was a member, and when; a deletion takes what they gave' },
  applications: { kept: 'never removed: their slugs and ids are in other people’s hands' },
  audit_records: { sweeps: { auditRecords: 'audit setting' } },
  // The last successful run stays.
  backup_runs: { afterMs: 100 * DAY, by: 'purgeBackupRuns' },
  beta_interests: { kept: 'a decision stays decided; the deletion of the account takes it' },
  bulk_change_members: { sweeps: { bulkChangeMembers: BULK_UNDO_MS } },
  // After the rows that refer to them.
  bulk_changes: { sweeps: { bulkChanges: BULK_UNDO_MS + DAY } },
  code_challenges: { sweeps: { expiredCodes: 30 * DAY } },
  // A lockout of up to a day depends on the failures of the day before the last wrong code.
  code_failures: { sweeps: { codeFailures: 2 * DAY } },
  // Twice the longest range that can be requested, since each is shown with the preceding one.
  daily_counts: { sweeps: { dailyCounts: 750 * DAY } },
  // Counted from their end; src/modules/webhooks/held-retention.ts deletes held ones.
  deliveries: { sweeps: { finishedDeliveries: SENT_RETENTION_MS } },
  delivery_attempts: { with: 'deliveries' },
  device_grants: { sweeps: { expiredDeviceGrants: 30 * DAY } },
  email_aliases: { kept: 'no other person may sign in with a former address' },
  email_changes: { sweeps: { expiredEmailChanges: 30 * DAY } },
  // After the deliveries: an event stays as long as one of its deliveries does.
  events: { afterMs: SENT_RETENTION_MS, by: 'purgeEvents' },
  former_slugs: { kept: 'addresses of pictures are made of them' },
  // Some hours more than the longest range of hours that can be requested.
  hourly_counts: { sweeps: { hourlyCounts: 32 * DAY } },
  instances: { afterMs: DAY, by: 'purgeInstances' },
  legal_entities: { kept: PERSONAL },
  long_works: { afterMs: 0, by: 'deleteLongWork' },
  mail_lines: { kept: 'as the application defines them' },
  mail_servers: { kept: 'one row at most, removed by an owner' },
  mails: { sweeps: { finishedMails: SENT_RETENTION_MS } },
  member_search: { kept: 'as long as the membership; a trigger empties it when the person is deleted' },
  membership_groups: { kept: DEFINED },
  oauth_assertions: { sweeps: { expiredOAuthAssertions: 0 } },
  // Unused clients that registered themselves, and those of applications that were switched off: the logout tokens of their
  // sessions may still have to be sent.
  oauth_clients: { sweeps: { endedOAuthClients: 30 * DAY } },
  // A used code stays for a while, so that its replay ends what it was exchanged for.
  oauth_codes: { sweeps: { expiredOAuthCodes: DAY } },
  oauth_grants: { sweeps: { expiredOAuthGrants: 30 * DAY } },
  oauth_refresh_tokens: { sweeps: { expiredRefreshTokens: 30 * DAY } },
  // Created at every view of a sign-in page, and useless afterwards.
  passkey_challenges: { sweeps: { expiredPasskeyChallenges: DAY } },
  passkeys: { kept: PERSONAL },
  provider_clients: { kept: 'one an application' },
  provider_identities: { kept: PERSONAL },
  provider_states: { sweeps: { expiredProviderStates: DAY } },
  rate_counters: { afterMs: 0, by: 'purgeRateCounters' },
  // By then nobody asks about a client that still sends one.
  retired_key_tokens: { sweeps: { retiredKeyTokens: 90 * DAY } },
  roles: { kept: DEFINED },
  scopes: { kept: DEFINED },
  sessions: { sweeps: { expiredSessions: 30 * DAY, revokedSessions: 30 * DAY } },
  setup_links: { sweeps: { expiredSetupLinks: 30 * DAY } },
  // An old ID token, sent as a hint of who signs out, is verified by the key of then.
  signing_keys: { sweeps: { retiredSigningKeys: 400 * DAY } },
  url_checks: { kept: 'the last of each address of an application' },
  user_addresses: { kept: PERSONAL },
  user_images: { kept: PERSONAL },
  user_languages: { kept: PERSONAL },
  users: { kept: 'the address stays taken; deleting the account erases the rest' },
  webhooks: { kept: 'as the application defines it; a removed one goes with its last delivery' },
  // Deleted when the work ends; those of a killed instance with its row.
  work_leases: { afterMs: DAY, by: 'purgeWorkLeases' },
  workspace_members: { kept: 'until the member is taken out' },
  workspaces: { kept: 'never removed' },
};
