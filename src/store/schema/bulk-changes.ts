/** Bulk changes: what was asked of all users that a filter matched, and how each of them fared. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { applicationUsers, type MembershipStatus } from './users.ts';

/** Criteria of the user list; absent ones do not apply. */
export interface BulkFilter {
  readonly q?: string;
  readonly status?: MembershipStatus | 'imported';
  readonly role?: string;
  readonly membership?: string;
}

interface Slugs {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

type GrantKind = 'roles' | 'scopes' | 'memberships';

/** Slugs to give and to take away, by kind. */
export type GrantSlugs = { readonly [Kind in GrantKind]?: Slugs };

export type BulkAction = 'ban' | 'unban' | 'pause' | 'resume' | 'delete' | 'restore';

export type BulkChange =
  { readonly action: BulkAction; readonly reason?: string } | { readonly action: null; readonly grants: GrantSlugs };

/** State that an undo restores, or the reason of a refusal. */
export interface OutcomeDetail {
  readonly before?: MembershipStatus;
  /** Slugs actually given and taken away. */
  readonly grants?: GrantSlugs;
  readonly error?: string;
  readonly message?: string;
}

export const bulkChanges = sqliteTable('bulk_changes', {
  id: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  /** Null for an undo, which concerns the people of the change that it undoes. */
  filter: text({ mode: 'json' }).$type<BulkFilter>(),
  change: text({ mode: 'json' }).$type<BulkChange>().notNull(),
  auditId: text('audit_id').notNull(),
  undoOfId: text('undo_of_id'),
  undoneById: text('undone_by_id'),
  changed: integer().notNull(),
  unchanged: integer().notNull(),
  refused: integer().notNull(),
  /** People left alone because somebody else changed them after the start. */
  skipped: integer().notNull(),
  createdAt: integer('created_at').notNull(),
  stoppedAt: integer('stopped_at'),
  finishedAt: integer('finished_at'),
});

/** People who did not stay as they were, and people left out. */
export const bulkChangeMembers = sqliteTable(
  'bulk_change_members',
  {
    bulkChangeId: text('bulk_change_id')
      .notNull()
      .references(() => bulkChanges.id),
    applicationUserId: text('application_user_id')
      .notNull()
      .references(() => applicationUsers.id),
    outcome: text({ enum: ['changed', 'refused', 'skipped'] }).notNull(),
    detail: text({ mode: 'json' }).$type<OutcomeDetail>().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.bulkChangeId, table.applicationUserId] })],
);
