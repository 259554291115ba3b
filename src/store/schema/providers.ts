/** Identity providers: applications' own clients, people's identities there, and sign-ins under way. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { users } from './users.ts';
import { workspaces } from './workspaces.ts';

export const providerClients = sqliteTable('provider_clients', {
  applicationId: text('application_id')
    .primaryKey()
    .references(() => applications.id),
  issuer: text().notNull(),
  clientId: text('client_id').notNull(),
  sealedSecret: text('sealed_secret').notNull(),
  name: text(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const providerIdentities = sqliteTable('provider_identities', {
  id: text().primaryKey(),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  /** Where it counts; null for everywhere. */
  workspaceId: text('workspace_id').references(() => workspaces.id),
  issuer: text().notNull(),
  /** The client that proved it. Of before this was kept: empty for the instance's, null where it cannot be told. */
  clientId: text('client_id').default(''),
  subject: text().notNull(),
  /** As the provider gave it last; never used to find anyone. */
  email: text(),
  /** When the person connected it in a session; null where a workspace's provider claimed it. */
  linkedByHolderAt: integer('linked_by_holder_at'),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at').notNull(),
});

export type ProviderIdentity = typeof providerIdentities.$inferSelect;

const PROVIDER_PURPOSES = ['sign_in', 'link'] as const;

export const providerStates = sqliteTable('provider_states', {
  stateHash: blob('state_hash', { mode: 'buffer' }).primaryKey(),
  purpose: text({ enum: PROVIDER_PURPOSES }).notNull(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  /** The session that links; null for a sign-in. */
  sessionId: text('session_id'),
  browserHash: blob('browser_hash', { mode: 'buffer' }).notNull(),
  issuer: text().notNull(),
  clientId: text('client_id').notNull(),
  returnTo: text('return_to').notNull(),
  /** What the browser says of its reader; null for what it does not say. */
  locale: text(),
  timezone: text(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  consumedAt: integer('consumed_at'),
});
