/** Passkeys of people, and the challenges of running ceremonies. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { users } from './users.ts';
import { workspaces } from './workspaces.ts';

export const passkeys = sqliteTable('passkeys', {
  id: text().primaryKey(),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  /** The workspace whose applications accept the passkey; null for all. */
  workspaceId: text('workspace_id').references(() => workspaces.id),
  credentialId: blob('credential_id', { mode: 'buffer' }).notNull(),
  publicKey: blob('public_key', { mode: 'buffer' }).notNull(),
  counter: integer().notNull(),
  transports: text({ mode: 'json' }).$type<string[]>().notNull(),
  /** Model of the authenticator; all zeros if not disclosed. */
  aaguid: text().notNull(),
  isBackedUp: integer('is_backed_up', { mode: 'boolean' }).notNull(),
  name: text().notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
});

export type Passkey = typeof passkeys.$inferSelect;

export const PASSKEY_PURPOSES = ['sign_in', 'registration'] as const;

export const passkeyChallenges = sqliteTable('passkey_challenges', {
  id: text().primaryKey(),
  purpose: text({ enum: PASSKEY_PURPOSES }).notNull(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  /** The session that registers a passkey; null for a sign-in. */
  sessionId: text('session_id'),
  challenge: blob({ mode: 'buffer' }).notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  consumedAt: integer('consumed_at'),
});
