/** Sentences for callers of the API, by key, for refusals that can say more than their error code. */
import type { PlaceholdersOf } from './format.ts';

/** Placeholders are written `{name}` and never take a secret or a rejected value. */
export const HINTS = {
  body_not_json: 'The body is not valid JSON; check its syntax.',
  body_too_large: 'The body is too large; send at most {kibibytes} KiB.',
  body_too_deep: 'The body is nested too deeply; send it as this operation describes it.',
  file_too_large: 'The file is too large; send at most {mebibytes} MiB.',
  file_type_refused: 'Send the file as {mediaTypes}, or in a form as multipart/form-data.',
  too_many_uploads: 'Too many uploads at once; try again in a moment.',
  too_many_applied: 'Too many documents wait to be applied in the workspaces of this account; try again in a moment.',
  too_many_probes:
    'Too many requests to other servers are under way for the workspaces of this account; try again in a moment.',
  mail_tests_under_way: 'Mail tests are under way; try again when they have been answered.',
  too_many_requests_at_once: 'Too many requests are being answered at once; try again in a moment.',
  too_many_bodies: 'Too many large request bodies at once; try again in a moment.',
  too_many_slow_bodies: 'Too many bodies arrive slowly at once; try again later, or over a faster connection.',
  too_many_streams: 'Too many open streams; try again later.',
  too_many_streams_in_session: 'This session has too many open streams.',

  server_stopping: 'The server is stopping.',
  disk_refuses_writes: 'The disk refuses writes; nothing is accepted until it takes them again.',
  database_in_use: 'Another process holds the database; try again in a moment.',
  database_gone:
    'The database was deleted or replaced while the server runs: its operator has to put it back and start again.',
  database_log_gone:
    'The database’s log was deleted or replaced while the server runs: its operator has to start the server again.',
  folder_taken: 'Another server has taken the data folder: its operator has to stop one of the two.',
  database_not_writable: 'The database cannot be written.',
  database_not_readable: 'The database cannot be read.',
  database_schema_differs: 'The database has another schema than this binary.',

  management_needs_key_or_console: 'Only an API key or a console session can manage applications.',
  session_needed: 'An API key cannot do this; only the person themselves, signed in.',
  personal_key_needed:
    'Send the personal key that is to end, as the bearer; sign a session out by DELETE /api/v1/session.',
  person_needed: 'This key belongs to no person; send a session or a personal key.',
  personal_key_verifies_nobody: 'A personal key cannot verify others; use a key of the application.',
  client_not_authenticated: 'Send the clientId and its client secret, or an API key as "Authorization: Bearer …".',
  token_of_another_client: 'This token belongs to another application; ask with its clientId.',
  workspace_access_needed: 'This needs a key of the whole workspace, or a member of it.',
  operator_needed: 'Only owners of the first workspace, who run the instance, can do this.',
  backup_running: 'A backup is under way; wait until it has ended.',
  backup_place_unset: 'No place for backups is set: set GATEHOUSE_BACKUP_TO and start again.',
  owner_needed: 'Only an owner of the workspace, signed in to the console, can do this.',
  catalogue_unknown: 'There are no texts of that service or language; /openapi.yaml lists both.',
  path_not_plain: 'Send the path without . and .. in it, in whatever spelling.',
  host_twice: 'Send exactly one Host header, with one name.',
  host_unknown:
    'This is no name of this server: set GATEHOUSE_BASE_URL, or have the proxy pass on the Host it was asked for.',
  agents_need_key: 'Send an API key, eak_…, as "Authorization: Bearer …"; a session has no tools.',
  origin_elsewhere: 'Pages of other origins cannot use this; call it from a program, without an Origin header.',
  batch_refused: 'Send one JSON-RPC message at a time.',
  cookie_from_elsewhere: 'A cookie is accepted from this server’s own pages only.',
  cookie_change_from_elsewhere: 'A cookie is accepted for changes from this server’s own pages only.',
  proof_needed:
    'This counts elsewhere too: confirm a code from /api/account/proof first (purpose {purpose}), then try again.',
  address_proof_needed: 'Confirm a code that /api/account/proof mails to your present address first, then try again.',
  given_elsewhere:
    'This was given elsewhere: confirm a code from /api/account/proof, asked for with the purpose profile, then try again.',

  application_unknown: 'There is no application with this clientId; check its settings.',
  method_switched_off: 'Sign-in by {method} is switched off for this application.',
  return_url_unregistered: 'The address to return to is not registered for this application. Its owner can add it.',
  last_way_in: 'This is your last way in to {application}; add another first, or remove it with force.',
  setup_link_spent: 'This setup link is not valid any more; run "gatehouse setup-link" on the server for a fresh one.',

  codes_paused: 'Too many wrong codes for this e-mail: codes are paused for it. Other ways to sign in go on.',
  codes_paused_in_browser: 'Too many wrong codes in this browser: codes are paused here. Other ways to sign in go on.',
  codes_paused_for_client:
    'Too many wrong codes from this network address: codes are paused for it. Other ways to sign in go on.',
  codes_paused_for_all:
    'Too many wrong codes in all, some from this network address: codes are paused for it, other ways go on.',
  too_many_codes_sent: 'Too many codes were sent lately; wait and ask again.',

  passkeys_need_host_name: 'Passkeys need a host name: set GATEHOUSE_BASE_URL to one instead of an IP address.',
  passkey_challenge_answered: 'This request was answered already; start again.',
  passkey_challenge_expired: 'This request has expired; start again.',
  passkey_registered: 'This passkey is registered already; use it to sign in.',
  passkey_of_other_applications: 'This passkey is for other applications than this one; sign in another way.',
  passkey_copied: 'This passkey may have been copied and is not accepted; sign in another way and replace it.',
  too_many_passkeys: 'There are {max} passkeys already; remove one first.',

  provider_missing: 'No identity provider is set up for this application; sign in another way.',
  provider_changed: 'The identity provider of this application has changed meanwhile. Go back and start again.',
  provider_flow_unknown:
    'This sign-in is not known in this browser, has expired or was finished already. Go back and start again.',
  provider_not_own: 'This application has no identity provider of its own.',
  provider_client_restricted:
    'Another client than one at Google, or the instance’s own, needs a key of the whole workspace, or an admin of it.',

  user_code_unknown: 'This code is wrong or has expired; check it on your device, or start again there for a new one.',
  device_request_open_elsewhere: 'Another of your sessions has this request open; enter the code here first.',
  device_approved: 'This request was approved already; disconnect the device once it is connected.',
  device_denied: 'This request was declined already; start again on the device.',
  device_redeemed: 'The device is connected already; disconnect it instead.',
  device_disconnected: 'This device is disconnected; connect it again.',
  too_many_devices: 'There are {max} connected devices already; disconnect one first.',

  username_taken: 'Somebody has this username already; choose another.',
  email_taken: 'This address belongs to another account by now.',
  email_change_open:
    'The address of this account was changed lately; it can be deleted once that can no longer be undone, at {until}.',
  undo_link_spent: 'This link has been used or has expired; nothing was changed.',
  undo_address_taken: 'The address before belongs to another account by now; nothing was changed.',
  language_listed: 'You have this language already; change its level with PATCH.',
  too_many_entries: 'You can have at most {max} {entries}; delete one first.',
  membership_status: 'A membership that is {status} cannot do that.',
  member_of_workspace: 'You are a member of a workspace; have an owner take you out of it first.',
  only_owner: 'You are the only owner of the workspace {workspace}; make somebody else an owner first.',

  user_status: 'A user who is {status} cannot do that: {action}.',
  user_deleted_account: 'The person has deleted their account; it cannot be restored.',
  user_not_forgettable:
    'Only people who were imported and have never signed in to this workspace can be forgotten; delete this user instead.',
  member_already: 'They are a member already, as {role}; change the role instead.',
  owners_by_owners: 'Only an owner can make, change or remove an owner.',
  last_owner: 'A workspace keeps at least one owner; make another one first.',
  too_many_workspaces:
    'An account may make {max} workspaces: use one of yours, or have GATEHOUSE_LIMIT_WORKSPACES_PER_ACCOUNT raised.',
  workspaces_of_day_made: 'This account has made {max} workspaces in the last 24 hours; it can make the next at {at}.',
  workspace_without_owner: 'The workspace has no owner to send the code to.',

  workspace_mail_spent:
    'This account’s workspaces have used up their {max} mails an hour that nobody asked for; see Retry-After.',

  key_expired: 'This key expired at {expiresAt}; give it a later expiresAt first, or create another.',
  dead_key_expired: 'This API key has expired, since {at}: give it a later expiresAt, or use another.',
  dead_key_rotated: 'This API key was rotated away; its grace ended at {at}. Use its successor.',
  dead_key_replaced: 'This API key was rotated away at {at}: use the token that the rotation gave.',
  dead_key_revoked: 'This API key was revoked at {at}: use another.',
  dead_key_ended:
    'This API key has ended with what it rested on, such as a device, its application or a seat: make another.',
  dead_key_blocked: 'This API key is out of service: the user behind it is not active in its application.',
  key_from_environment: 'This key comes from GATEHOUSE_WORKSPACE_KEY: set another one there, then revoke this one.',
  device_rotates_its_own:
    'A connected device has only keys that end with it: rotate this one in the console, or with a key of the workspace.',
  personal_key_fixed:
    'This is a person’s own key and cannot be rotated: revoke it, and they can connect the device again.',

  application_draft:
    'A draft is for its workspace alone; POST /api/applications/{application}/publish, then /go-live beside it, to open it.',
  too_many_slugs: 'This application has changed its slug too often lately; wait for the time in Retry-After.',
  application_slug_taken: 'This slug is taken; choose another.',
  application_stage: 'Only an application in stage "{stage}", neither archived nor deleted, can do this.',
  application_not_active: 'Only an active application can be archived.',
  application_not_archived: 'Only an archived application that is not deleted can be unarchived.',
  application_not_deleted: 'Only a deleted application can be restored.',
  application_not_in_grace: 'Only a deleted application in its grace can be hidden.',
  application_deleted: 'This application is deleted already.',
  application_hidden: 'This application is hidden already.',

  grant_slug_taken: 'This application has a {noun} with this slug already.',
  grant_renamed_in_use: 'This {noun} is in use; add ?force=true to change its slug.',
  grant_deleted_in_use: 'This {noun} is in use; add ?force=true to take it away from everyone and delete it.',
  too_many_grants: 'An application has at most {max} of these.',

  webhook_disabled: 'This webhook is disabled; set its status to active first.',
  webhook_in_quarantine: 'This webhook is in quarantine and holds events; release it or delete it instead.',
  webhook_not_in_quarantine: 'This webhook is not in quarantine.',
  too_many_webhooks: 'An application has at most {max} webhooks; delete one first.',
} as const;

export type Hint = keyof typeof HINTS;

type Filled<Key extends Hint> = { readonly [Name in PlaceholdersOf<(typeof HINTS)[Key]>]: string | number };

/** The hints without placeholders. */
export type PlainHint = { [Key in Hint]: PlaceholdersOf<(typeof HINTS)[Key]> extends never ? Key : never }[Hint];

/** A hint with exactly the values that it needs. */
export type HintGiven =
  | { readonly hint: PlainHint; readonly values?: undefined }
  | { [Key in Exclude<Hint, PlainHint>]: { readonly hint: Key; readonly values: Filled<Key> } }[Exclude<
      Hint,
      PlainHint
    >];
