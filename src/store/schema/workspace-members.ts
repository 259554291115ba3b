/** The people who run a workspace. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { users } from './users.ts';
import { workspaces } from './workspaces.ts';

export const WORKSPACE_ROLES = ['owner', 'admin', 'member'] as const;
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

export const workspaceMembers = sqliteTable('workspace_members', {
  id: text().primaryKey(),
  workspaceId: text('workspace_id')
    .notNull()
    .references(() => workspaces.id),
  userId: text('user_id')
    .notNull()
    .references(() => users.id),
  role: text({ enum: WORKSPACE_ROLES }).notNull(),
  /** The invited address, until the person first signs in to the console; see store/reservations.ts. */
  invitedEmail: text('invited_email'),
  createdAt: integer('created_at').notNull(),
});
