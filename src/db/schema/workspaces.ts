/** Workspaces and the people who run them. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { users } from './users.ts';

export const WORKSPACE_ROLES = ['owner', 'admin', 'member'] as const;
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

export const workspaces = sqliteTable('workspaces', {
  id: text().primaryKey(),
  name: text().notNull(),
  createdAt: integer('created_at').notNull(),
});

export const workspaceMembers = sqliteTable('workspace_members', {
  id: text().primaryKey(),
  workspaceId: text('workspace_id')
    .notNull()
    .references(() => workspaces.id),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  role: text({ enum: WORKSPACE_ROLES }).notNull(),
  createdAt: integer('created_at').notNull(),
});
