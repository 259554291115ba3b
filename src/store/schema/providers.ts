/** Identity providers: applications' own clients, people's identities there, and sign-ins in progress. */
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
  /** The workspace where the identity is valid; null for all. */
  workspaceId: text('workspace_id').references(() => workspaces.id),
  issuer: text().notNull(),
  /** The client that proved the identity. Older rows: empty for the instance's client, null if unknown. */
  clientId: text('client_id').default(''),
  subject: text().notNull(),
  /** Last address from the provider; never used to look up a person. */
  email: text(),
  /** When the person linked it in a session; null if a workspace's provider claimed it. */
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
  /** Locale and time zone from the browser; null if not sent. */
  locale: text(),
  timezone: text(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  consumedAt: integer('consumed_at'),
});
