/**
 * How long what is kept: every table, with either why its rows stay or what takes them and when. Nothing else decides it;
 * a table that is missing here fails a test.
 */
import { DAY } from '../core/clock.ts';
import type { Forgettable } from '../store/retention.ts';

/** What was sent: mails, events and their deliveries. People are told of it when they delete their account. */
export const SENT_KEPT_MS = 30 * DAY;

/** Swept by the retention job. */
export interface SweptTable {
  readonly sweeps: Readonly<Partial<Record<Forgettable, number | 'audit setting'>>>;
}

/** How long a table's rows are kept. */
export type TableRetention =
  | SweptTable
  /** Rows go by the hand of this function, after so long. */
  | { readonly afterMs: number; readonly by: string }
  /** Rows go with the row of this table that they belong to. */
  | { readonly with: string }
  /** For ever, or until somebody takes them away; and why. */
  | { readonly kept: string };

const PERSONAL = 'the person’s own, until they change it; the deletion of the account takes it';
const GRANTED = 'as long as the membership has it; removal, deletion and the end of the role take it';
const DEFINED = 'as the application defines it; a removed one goes with its last holder';

/** By table. */
export const KEPT: Readonly<Record<string, TableRetention>> = {
  api_keys: { kept: 'what is in records and logs can be told for good, and an ended key stays refused in words' },
  application_user_groups: { kept: GRANTED },
  application_user_roles: { kept: GRANTED },
  application_user_scopes: { kept: GRANTED },
  application_users: { kept: 'who was a member, and when; a deletion takes what they gave' },
  applications: { kept: 'never removed: their slugs and ids are in other people’s hands' },
  audit_records: { sweeps: { auditRecords: 'audit setting' } },
  // The last good one stays.
  backup_runs: { afterMs: 100 * DAY, by: 'forgetBackupRuns' },
  beta_interests: { kept: 'a decision stays decided; the deletion of the account takes it' },
  code_challenges: { sweeps: { expiredCodes: 30 * DAY } },
  // A pause of up to a day goes by the day before the last wrong code.
  code_failures: { sweeps: { codeFailures: 2 * DAY } },
  // Twice the longest range that is asked for, since each is shown beside the one before.
  daily_counts: { sweeps: { dailyCounts: 750 * DAY } },
  // From when they ended; what is held goes by the hand of src/modules/webhooks/held.ts.
  deliveries: { sweeps: { finishedDeliveries: SENT_KEPT_MS } },
  delivery_attempts: { with: 'deliveries' },
  device_grants: { sweeps: { expiredDeviceGrants: 30 * DAY } },
  email_aliases: { kept: 'nobody else may sign in with an address that was given up' },
  email_changes: { sweeps: { expiredEmailChanges: 30 * DAY } },
  // Behind the deliveries: an event stays for as long as one of its own does.
  events: { afterMs: SENT_KEPT_MS, by: 'forgetEvents' },
  former_slugs: { kept: 'addresses of pictures are made of them' },
  legal_entities: { kept: PERSONAL },
  long_works: { afterMs: 0, by: 'deleteLongWork' },
  mails: { sweeps: { finishedMails: SENT_KEPT_MS } },
  membership_groups: { kept: DEFINED },
  // Made at every look at a sign-in page, and good for nothing afterwards.
  passkey_challenges: { sweeps: { expiredPasskeyChallenges: DAY } },
  passkeys: { kept: PERSONAL },
  provider_clients: { kept: 'one an application' },
  provider_identities: { kept: PERSONAL },
  provider_states: { sweeps: { expiredProviderStates: DAY } },
  rate_counters: { afterMs: 0, by: 'forgetRateCounters' },
  // What still sends one after that is asked for by nobody.
  retired_key_tokens: { sweeps: { retiredKeyTokens: 90 * DAY } },
  roles: { kept: DEFINED },
  scopes: { kept: DEFINED },
  sessions: { sweeps: { expiredSessions: 30 * DAY, revokedSessions: 30 * DAY } },
  setup_links: { sweeps: { expiredSetupLinks: 30 * DAY } },
  url_checks: { kept: 'the last of each address of an application' },
  user_addresses: { kept: PERSONAL },
  user_images: { kept: PERSONAL },
  user_languages: { kept: PERSONAL },
  users: { kept: 'the address stays, so that nobody registers with it; the deletion of the account takes the rest' },
  webhooks: { kept: 'as the application defines it; a removed one goes with its last delivery' },
  workspace_members: { kept: 'until the member is taken out' },
  workspaces: { kept: 'never removed' },
};
