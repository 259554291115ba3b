/** People and synthetic key principals, and their memberships of applications with roles, scopes and groups. */
import { type AnySQLiteColumn, blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Region } from '../../core/envelope.ts';
import type { Metadata } from '../../core/metadata.ts';
import { applications } from './applications.ts';

export const MEMBERSHIP_STATUSES = ['active', 'banned', 'paused', 'inactivated', 'left', 'deleted'] as const;
export const LANGUAGE_LEVELS = ['NATIVE', 'FLUENT', 'ADVANCED', 'INTERMEDIATE', 'BASIC'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

/** Profile held in a reservation until the person's first sign-in. */
export interface ReservedProfile {
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly fullName: string | null;
  readonly locale: string | null;
  readonly timezone: string | null;
  readonly languages: readonly { readonly code: string; readonly level: (typeof LANGUAGE_LEVELS)[number] }[];
}

export const users = sqliteTable('users', {
  id: text().primaryKey(),
  kind: text({ enum: ['person', 'api_key'] }).notNull(),
  email: text().notNull(),
  emailVerifiedAt: integer('email_verified_at'),
  name: text(),
  fullName: text('full_name'),
  givenName: text('given_name'),
  familyName: text('family_name'),
  locale: text(),
  timezone: text(),
  region: text({ mode: 'json' }).$type<Region>(),
  providerAvatarUrl: text('provider_avatar_url'),
  avatarSizes: text('avatar_sizes', { mode: 'json' }).$type<number[]>(),
  avatarUpdatedAt: integer('avatar_updated_at'),
  bannerSizes: text('banner_sizes', { mode: 'json' }).$type<number[]>(),
  bannerUpdatedAt: integer('banner_updated_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  deletedAt: integer('deleted_at'),
});

export const emailAliases = sqliteTable('email_aliases', {
  email: text().primaryKey(),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  archivedAt: integer('archived_at').notNull(),
});

export const emailChanges = sqliteTable('email_changes', {
  id: integer().primaryKey(),
  tokenHash: blob('token_hash', { mode: 'buffer' }).notNull(),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  /** The application where the change was requested. */
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  /** The address before the change; its holder can undo it. */
  previousEmail: text('previous_email').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  /** When the change was undone, directly or together with an earlier one. */
  settledAt: integer('settled_at'),
});

export const applicationUsers = sqliteTable('application_users', {
  id: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  status: text({ enum: MEMBERSHIP_STATUSES }).notNull(),
  statusReason: text('status_reason'),
  /** Status and reason before the deletion; null if not deleted or not recorded. */
  statusBeforeDeletion: text('status_before_deletion', { enum: MEMBERSHIP_STATUSES }),
  reasonBeforeDeletion: text('reason_before_deletion'),
  username: text(),
  /** 0 if never seen. */
  lastSeenAt: integer('last_seen_at').notNull(),
  rolesUpdatedAt: integer('roles_updated_at').notNull(),
  scopesUpdatedAt: integer('scopes_updated_at').notNull(),
  membershipsUpdatedAt: integer('memberships_updated_at').notNull(),
  /** Incremented to end all of this member's sessions at once. */
  sessionEpoch: integer('session_epoch').notNull().default(0),
  /** When sessions were last ended here by decision; earlier sign-ins are not continued here. */
  sessionsEndedAt: integer('sessions_ended_at'),
  /** The address of a reservation; null for a member. Both columns: store/reservations.ts. */
  reservedEmail: text('reserved_email'),
  reservedProfile: text('reserved_profile', { mode: 'json' }).$type<ReservedProfile>(),
  /** Profile of a member known only through the workspace's own provider; null for the person's own profile. */
  profileUserId: text('profile_user_id').references((): AnySQLiteColumn => users.id),
  /** The user's id in the application's own systems; unique in the application. */
  externalId: text('external_id'),
  /** Null if empty. */
  metadata: text({ mode: 'json' }).$type<Metadata>(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Search text of members; store/member-index.ts. Triggers insert, empty and delete the rows. */
export const memberSearch = sqliteTable('member_search', {
  entry: integer().primaryKey(),
  memberId: text('member_id').notNull(),
  applicationId: text('application_id').notNull(),
  /** Folded e-mail and username, one per line; null while the row is to be indexed, as are the two below. */
  handles: text(),
  /** Folded name. */
  names: text(),
  tokens: text(),
});

const grantColumns = () => ({
  id: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  slug: text().notNull(),
  name: text().notNull(),
  description: text(),
  isDefault: integer('is_default', { mode: 'boolean' }).notNull(),
  /** Set when nobody holds the grant any more; the row goes once the last holder has been notified. */
  removedAt: integer('removed_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const roles = sqliteTable('roles', grantColumns());
export const scopes = sqliteTable('scopes', grantColumns());
export const membershipGroups = sqliteTable('membership_groups', grantColumns());

const holder = () =>
  text('application_user_id')
    .notNull()
    .references(() => applicationUsers.id);

export const applicationUserRoles = sqliteTable(
  'application_user_roles',
  {
    applicationUserId: holder(),
    roleId: text('role_id')
      .notNull()
      .references(() => roles.id),
  },
  (table) => [primaryKey({ columns: [table.applicationUserId, table.roleId] })],
);

export const applicationUserScopes = sqliteTable(
  'application_user_scopes',
  {
    applicationUserId: holder(),
    scopeId: text('scope_id')
      .notNull()
      .references(() => scopes.id),
  },
  (table) => [primaryKey({ columns: [table.applicationUserId, table.scopeId] })],
);

export const applicationUserGroups = sqliteTable(
  'application_user_groups',
  {
    applicationUserId: holder(),
    groupId: text('group_id')
      .notNull()
      .references(() => membershipGroups.id),
  },
  (table) => [primaryKey({ columns: [table.applicationUserId, table.groupId] })],
);

export const userLanguages = sqliteTable(
  'user_languages',
  {
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    code: text().notNull(),
    level: text({ enum: LANGUAGE_LEVELS }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.code] })],
);
