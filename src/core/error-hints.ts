/** Sentences for callers of the API, by key, for refusals that can say more than their error code. */
import type { PlaceholdersOf } from './format.ts';

/** Placeholders are written `{name}` and never take a secret or a rejected value. */
export const HINTS = {
  body_not_json: 'The body is not valid JSON; check its syntax.',
  body_too_large: 'The body is too large; send at most {kibibytes} KiB.',
  body_too_deep: 'The body is nested too deeply; see the description of this operation.',
  file_too_large: 'The file is too large; send at most {mebibytes} MiB.',
  file_type_refused: 'Send the file as {mediaTypes}, or in a form as multipart/form-data.',
  too_many_uploads: 'Too many uploads at once; try again in a moment.',
  too_many_applied:
    'Too many documents are waiting to be applied for the workspaces of this account; try again in a moment.',
  too_many_probes: 'Too many outbound requests are running for the workspaces of this account; try again in a moment.',
  mail_tests_under_way: 'Mail tests are running; try again once they have finished.',
  too_many_requests_at_once: 'Too many requests are being answered at once; try again in a moment.',
  too_many_bodies: 'Too many large request bodies at once; try again in a moment.',
  too_many_slow_bodies: 'Too many slow request bodies at once; try again later, or over a faster connection.',
  too_many_streams: 'Too many open streams; try again later.',
  too_many_streams_in_session: 'This session has too many open streams.',

  waitlist_ticket_expired: 'The ticket has expired or belongs to another address; sign in again for a new one.',

  server_stopping: 'The server is stopping.',
  disk_refuses_writes: 'The disk refuses writes; changes are refused until it accepts them again.',
  database_away: 'The database cannot be reached; try again in a moment.',
  database_busy: 'The database is busy with other changes; try again in a moment.',
  database_in_use: 'Another process holds the database; try again in a moment.',
  database_gone:
    'The database was deleted or replaced while the server runs: its operator must put it back and restart the server.',
  database_log_gone:
    'The database’s write-ahead log was deleted or replaced while the server runs: its operator must restart the server.',
  folder_taken: 'Another server has taken over the data folder: its operator must stop one of the two.',
  database_not_writable: 'The database cannot be written.',
  database_not_readable: 'The database cannot be read.',
  database_schema_differs: 'The database has a different schema version than this binary.',

  management_needs_key_or_console: 'Only an API key or a console session can manage applications.',
  session_needed: 'An API key cannot do this; it needs the person’s own session.',
  personal_key_needed: 'Send the personal key to revoke as the bearer; end a session with DELETE /api/v1/session.',
  person_needed: 'This key belongs to no person; send a session or a personal key.',
  personal_key_verifies_nobody: 'A personal key cannot verify others; use a key of the application.',
  client_not_authenticated: 'Send the clientId and its client secret, or an API key as "Authorization: Bearer …".',
  openid_client_not_authenticated:
    'Send the client_id of an application with OpenID, and its secret or signed assertion; a public client sends neither.',
  token_of_another_client: 'This token belongs to another application; ask with its clientId.',
  workspace_access_needed: 'This needs a key of the whole workspace, or a member of it.',
  operator_needed: 'Only owners of the first workspace, who run the instance, can do this.',
  mail_server_fixed: 'GATEHOUSE_SMTP_URL sets the mail server: remove it there and restart the server to set one here.',
  mail_server_refused: 'The mail server was not kept, since a test mail by it failed with “{answer}”.',
  mail_server_silent: 'The mail server was not kept, since it did not answer in time: check host, port and encryption.',
  backup_by_database: 'The data is in PostgreSQL, whose own tools back it up, such as pg_dump.',
  backup_running: 'A backup is running; wait until it has finished.',
  backup_place_unset: 'No backup destination is set: set GATEHOUSE_BACKUP_TO and restart the server.',
  owner_needed: 'Only an owner of the workspace, signed in to the console, can do this.',
  catalogue_unknown: 'There are no texts for that service or language; /openapi.yaml lists both.',
  path_not_plain: 'Send the path without . and .. segments, encoded or not.',
  host_twice: 'Send exactly one Host header, with one name.',
  host_unknown:
    'This server does not have that name: set GATEHOUSE_BASE_URL, or let the proxy forward the original Host header.',
  agents_need_key: 'Send an API key, eak_…, as "Authorization: Bearer …"; a session cannot use tools.',
  origin_elsewhere: 'Pages of other origins cannot use this; call it from a program, without an Origin header.',
  batch_refused: 'Send one JSON-RPC message at a time.',
  cookie_from_elsewhere: 'A cookie is accepted from this server’s own pages only.',
  cookie_change_from_elsewhere: 'A cookie is accepted for changes from this server’s own pages only.',
  proof_needed:
    'This also affects other workspaces: confirm a code from /api/account/proof first (purpose {purpose}), then try again.',
  address_proof_needed: 'Confirm a code that /api/account/proof mails to your present address first, then try again.',
  given_elsewhere:
    'This was added in another workspace: confirm a code from /api/account/proof with the purpose profile, then try again.',

  application_unknown: 'There is no application with this clientId; check its settings.',
  method_switched_off: 'Sign-in by {method} is switched off for this application.',
  return_url_unregistered: 'The return URL is not registered for this application. Its owner can add it.',
  last_way_in: 'This is your last sign-in method for {application}; add another first, or remove it with force.',
  setup_link_spent: 'This setup link is no longer valid; run "gatehouse setup-link" on the server for a new one.',

  codes_paused:
    'Too many wrong codes for this e-mail: codes are locked for a while. Other sign-in methods keep working.',
  codes_paused_in_browser:
    'Too many wrong codes in this browser: codes are locked here for a while. Other sign-in methods keep working.',
  codes_paused_for_client:
    'Too many wrong codes from this network address: codes are locked for it for a while. Other sign-in methods keep working.',
  codes_paused_for_all:
    'Too many wrong codes on this server, some from this network: codes are locked for it, other methods keep working.',
  too_many_codes_sent: 'Too many codes were sent recently; wait, then request another.',

  passkeys_need_host_name: 'Passkeys need a host name: set GATEHOUSE_BASE_URL to one instead of an IP address.',
  passkey_challenge_answered: 'This request was already answered; start again.',
  passkey_challenge_expired: 'This request has expired; start again.',
  passkey_registered: 'This passkey is already registered; use it to sign in.',
  passkey_of_other_applications: 'This passkey is for other applications; use another sign-in method.',
  passkey_copied: 'This passkey may have been copied and is not accepted; use another sign-in method and replace it.',
  too_many_passkeys: 'You already have {max} passkeys; remove one first.',

  provider_missing: 'No identity provider is set up for this application; use another sign-in method.',
  provider_changed: 'The identity provider of this application has changed in the meantime. Go back and start again.',
  provider_flow_unknown:
    'This sign-in did not start in this browser, has expired or is already finished. Go back and start again.',
  provider_not_own: 'This application has no identity provider of its own.',
  provider_client_restricted:
    'A client that is neither at Google nor the instance’s own needs a key of the whole workspace or one of its admins.',

  user_code_unknown: 'This code is wrong or has expired; check it on your device, or start again there for a new one.',
  device_request_open_elsewhere: 'Another of your sessions has this request open; enter the code here first.',
  device_approved: 'This request was already approved; disconnect the device once it is connected.',
  device_denied: 'This request was already declined; start again on the device.',
  device_code_of_another_client: 'This device_code was not issued to this client; start again.',
  device_grant_type_needed: 'The grant_type must be urn:ietf:params:oauth:grant-type:device_code.',
  device_redeemed: 'The device is already connected; disconnect it instead.',
  device_disconnected: 'This device is disconnected; connect it again.',
  too_many_devices: 'You already have {max} connected devices; disconnect one first.',

  username_taken: 'This username is already taken; choose another.',
  external_id_taken: 'Another user of this application has this externalId; choose another.',
  email_taken: 'This address now belongs to another account.',
  email_change_open:
    'The address was changed recently; the account can be deleted once that can no longer be undone, at {until}.',
  undo_link_spent: 'This link has been used or has expired; nothing was changed.',
  undo_address_taken: 'The previous address now belongs to another account; nothing was changed.',
  language_listed: 'You already have this language; change its level with PATCH.',
  too_many_entries: 'You can have at most {max} {entries}; delete one first.',
  membership_status: 'A membership that is {status} cannot do that.',
  member_of_workspace: 'You are a member of a workspace; ask an owner to remove you first.',
  only_owner: 'You are the only owner of the workspace {workspace}; make another member an owner first.',

  user_status: 'Not possible for a user who is {status}: {action}.',
  user_deleted_account: 'The person has deleted their account; it cannot be restored.',
  bulk_change_running: 'Another change of many users is running in this application; wait until it has ended.',
  bulk_change_ended: 'This change has already ended.',
  bulk_change_not_undoable: 'Only a change that has ended, changed somebody and was not undone can be undone.',
  user_profile_own: 'The person has signed in: their profile is their own; they change it in their account.',
  user_signed_in: 'The user has signed in before and needs no invitation.',
  invite_not_in_service: 'Nobody can sign in to this application yet: publish it first, then invite.',
  invite_not_allowed_in: 'Sign-in is limited to the allowlist: add their address to it first, then invite.',
  user_is_key: 'This is the principal of an API key; change the key instead.',
  user_not_forgettable:
    'Only imported people who have never signed in to this workspace can be removed this way; use the delete action instead.',
  member_already: 'They are already a member, as {role}; change the role instead.',
  owners_by_owners: 'Only an owner can make, change or remove an owner.',
  last_owner: 'A workspace needs at least one owner; add another owner first.',
  too_many_workspaces:
    'An account may create {max} workspaces; the operator can raise GATEHOUSE_LIMIT_WORKSPACES_PER_ACCOUNT.',
  workspaces_of_day_made:
    'This account has created {max} workspaces in the last 24 hours; it can create the next one at {at}.',
  workspace_without_owner: 'The workspace has no owner to send the code to.',

  workspace_mail_spent:
    'The workspaces of this account have used up their {max} unsolicited mails per hour; see Retry-After.',

  key_expired: 'This key expired at {expiresAt}; give it a later expiresAt first, or create another.',
  dead_key_expired: 'This API key expired at {at}: give it a later expiresAt, or use another key.',
  dead_key_rotated: 'This API key was rotated; its grace period ended at {at}. Use its successor.',
  dead_key_replaced: 'This API key was rotated at {at}: use the token that the rotation returned.',
  dead_key_revoked: 'This API key was revoked at {at}: use another key.',
  dead_key_ended:
    'This API key ended together with its device, application or workspace membership: create another key.',
  dead_key_blocked: 'This API key does not work: the user behind it is not active in its application.',
  key_from_environment: 'This key comes from GATEHOUSE_WORKSPACE_KEY: set another one there, then revoke this one.',
  device_rotates_its_own:
    'A connected device can only manage keys that end with it: rotate this key in the console, or with a key of the workspace.',
  personal_key_fixed:
    'This is a person’s own key and cannot be rotated: revoke it, and they can connect the device again.',

  application_draft:
    'A draft is open to its workspace only; to open it, POST /api/applications/{application}/publish, then POST its /go-live.',
  too_many_slugs: 'This application has changed its slug too often; wait for the time in Retry-After.',
  application_slug_taken: 'This slug is taken; choose another.',
  application_stage: 'Only an application in stage "{stage}", neither archived nor deleted, can do this.',
  application_not_active: 'Only an active application can be archived.',
  application_not_archived: 'Only an archived application that is not deleted can be unarchived.',
  application_not_deleted: 'Only a deleted application can be restored.',
  application_not_in_grace: 'Only a deleted application in its grace period can be hidden.',
  application_deleted: 'This application is already deleted.',
  application_hidden: 'This application is already hidden.',

  grant_slug_taken: 'This application already has a {noun} with this slug.',
  grant_renamed_in_use: 'This {noun} is in use; add ?force=true to change its slug.',
  grant_deleted_in_use: 'This {noun} is in use; add ?force=true to remove it from everyone and delete it.',
  too_many_grants: 'An application has at most {max} of these.',

  webhook_disabled: 'This webhook is disabled; set its status to active first.',
  webhook_in_quarantine: 'This webhook is in quarantine and holds events; release it or delete it instead.',
  replay_running: 'A replay to this webhook is running already; wait until it has ended.',
  webhook_not_in_quarantine: 'This webhook is not in quarantine.',
  too_many_webhooks: 'An application has at most {max} webhooks; delete one first.',
} as const;

export type Hint = keyof typeof HINTS;

type Filled<Key extends Hint> = { readonly [Name in PlaceholdersOf<(typeof HINTS)[Key]>]: string | number };

export type PlainHint = { [Key in Hint]: PlaceholdersOf<(typeof HINTS)[Key]> extends never ? Key : never }[Hint];

/** A hint with exactly the values that it needs. */
export type HintGiven =
  | { readonly hint: PlainHint; readonly values?: undefined }
  | { [Key in Exclude<Hint, PlainHint>]: { readonly hint: Key; readonly values: Filled<Key> } }[Exclude<
      Hint,
      PlainHint
    >];
