/** Applications, the tenants of the service, and their beta allowlists. */
import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountField, OptionalPart } from '../../core/account-view.ts';
import { APPLICATION_IMAGES } from '../../core/application-images.ts';
import { SIGNIN_METHODS, type SwitchableMethod } from '../../core/sign-in-methods.ts';
import { workspaces } from './workspaces.ts';

export const STAGES = ['draft', 'test', 'live'] as const;
export const SIGNIN_GATES = ['public', 'private_beta', 'closed'] as const;
export const BETA_POLICIES = ['manual', 'auto_accept', 'auto_decline'] as const;
export const LEGAL_URL_KINDS = ['terms', 'privacy', 'imprint'] as const;
const URL_CHECK_STATUSES = ['ok', 'broken', 'unreachable', 'refused'] as const;
/** Reasons why a verification refuses a token, in the contract's words. */
export const TOKEN_REFUSALS = ['invalid_token', 'membership_blocked', 'revoked', 'expired'] as const;
export const BETA_STATUSES = ['pending', 'approved', 'notify_when_public', 'declined'] as const;

export const applications = sqliteTable('applications', {
  id: text().primaryKey(),
  /** Null only for the console. */
  workspaceId: text('workspace_id').references(() => workspaces.id),
  clientId: text('client_id').notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  stage: text({ enum: STAGES }).notNull(),
  signinGate: text('signin_gate', { enum: SIGNIN_GATES }).notNull(),
  betaRequestPolicy: text('beta_request_policy', { enum: BETA_POLICIES }).notNull(),
  sessionTtlSeconds: integer('session_ttl_seconds').notNull(),
  returnUrls: text('return_urls', { mode: 'json' }).$type<string[]>().notNull(),
  termsUrl: text('terms_url'),
  privacyUrl: text('privacy_url'),
  imprintUrl: text('imprint_url'),
  logoUrl: text('logo_url'),
  accentColor: text('accent_color'),
  homeUrl: text('home_url'),
  supportUrl: text('support_url'),
  supportEmail: text('support_email'),
  logoDarkUrl: text('logo_dark_url'),
  iconUrl: text('icon_url'),
  /** Null for none; so parts of later versions are shown. */
  hiddenAccountParts: text('hidden_account_parts', { mode: 'json' }).$type<OptionalPart[]>(),
  hiddenAccountFields: text('hidden_account_fields', { mode: 'json' }).$type<AccountField[]>(),
  archivedAt: integer('archived_at'),
  deletedAt: integer('deleted_at'),
  purgeAfter: integer('purge_after'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  clientSecretHash: blob('client_secret_hash', { mode: 'buffer' }),
  clientSecretPrefix: text('client_secret_prefix'),
  clientSecretRotatedAt: integer('client_secret_rotated_at'),
  /** Incremented to end all sessions, codes, grants and personal keys at once: another epoch means over. */
  sessionEpoch: integer('session_epoch').notNull().default(0),
  /** Incremented to decide all pending waitlist entries at once: those with an earlier epoch are decided. */
  interestEpoch: integer('interest_epoch').notNull().default(0),
  signinMethods: text('signin_methods', { mode: 'json' })
    .$type<SwitchableMethod[]>()
    .notNull()
    .default([...SIGNIN_METHODS]),
  firstVerifiedAt: integer('first_verified_at'),
  /** Reason and time of the last refusal; kept only until the first success. */
  verificationRefusal: text('verification_refusal', { enum: TOKEN_REFUSALS }),
  verificationRefusedAt: integer('verification_refused_at'),
});

export type Application = typeof applications.$inferSelect;

/** Former slugs, kept forever so that no other application can take them. */
export const formerSlugs = sqliteTable('former_slugs', {
  slug: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  givenUpAt: integer('given_up_at').notNull(),
});

/** Uploaded logos and icons; the application's row has their URLs. */
export const applicationImages = sqliteTable(
  'application_images',
  {
    applicationId: text('application_id')
      .notNull()
      .references(() => applications.id),
    kind: text({ enum: APPLICATION_IMAGES }).notNull(),
    /** Hash of the content, as in the image's URL. */
    version: text().notNull(),
    /** PNG. */
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.kind] })],
);

export const betaInterests = sqliteTable('beta_interests', {
  id: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  email: text().notNull(),
  status: text({ enum: BETA_STATUSES }).notNull(),
  source: text().notNull(),
  /** The language that its mails are written in; null in requests of earlier versions. */
  locale: text(),
  decidedById: text('decided_by_id'),
  decidedAt: integer('decided_at'),
  notifiedAt: integer('notified_at'),
  /** The application's `interestEpoch` when this row's status was last set individually. */
  epoch: integer().notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export type WaitlistEntry = typeof betaInterests.$inferSelect;

/** Lines that an application adds to its mails, by kind of mail and language. */
export const mailLines = sqliteTable(
  'mail_lines',
  {
    applicationId: text('application_id')
      .notNull()
      .references(() => applications.id),
    mail: text().notNull(),
    locale: text().notNull(),
    line: text().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.mail, table.locale] })],
);

export const urlChecks = sqliteTable(
  'url_checks',
  {
    applicationId: text('application_id')
      .notNull()
      .references(() => applications.id),
    kind: text({ enum: LEGAL_URL_KINDS }).notNull(),
    url: text().notNull(),
    status: text({ enum: URL_CHECK_STATUSES }).notNull(),
    finalCode: integer('final_code'),
    checkedAt: integer('checked_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.kind] })],
);
