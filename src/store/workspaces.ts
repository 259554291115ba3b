/** Workspaces, the owners of applications. */
import { asc, eq, inArray, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { required } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, query } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import { workspaces } from './schema/workspaces.ts';

const { placeholder } = sql;

export type Workspace = typeof workspaces.$inferSelect;

const workspaceById = prepared((db) =>
  db
    .select()
    .from(workspaces)
    .where(eq(workspaces.id, placeholder('id')))
    .prepare(),
);

/** Returns a workspace that another row refers to. @throws if it is missing. */
export async function requireWorkspace(reader: Reader, id: string): Promise<Workspace> {
  const [workspace] = await workspaceById(reader, { id });
  return required(workspace, `workspace ${id}`);
}

/** Returns those workspaces that exist, oldest first. */
export async function listWorkspaces(reader: Reader, ids: readonly string[]): Promise<Workspace[]> {
  if (ids.length === 0) return [];
  return orm(reader)
    .select()
    .from(workspaces)
    .where(inArray(workspaces.id, [...ids]))
    .orderBy(asc(workspaces.id));
}

/** Returns the oldest workspace, created at the first start. */
export const findFirstWorkspaceId = query.value<string>('SELECT id FROM workspaces ORDER BY id LIMIT 1');

/** Inserts a workspace without members. @param createdByUserId the account whose budgets it uses; null for its own. */
export function insertWorkspace(unit: Unit, name: string, createdByUserId: string | null): Promise<Workspace> {
  return insertOne(unit, workspaces, { id: newId('workspace', unit.now), name, createdAt: unit.now, createdByUserId });
}

export const countWorkspacesMade = query.count<string>(
  'SELECT count(*) FROM workspaces WHERE created_by_user_id = :userId',
);

/** Returns when an account created workspaces in a time range, newest first. */
export const listCreationTimes = query.values<number, { userId: string; since: number; until: number }>(
  `SELECT created_at FROM workspaces
   WHERE created_by_user_id = :userId AND created_at > :since AND created_at <= :until ORDER BY created_at DESC`,
);

export function renameWorkspace(unit: Unit, id: string, name: string): Promise<Workspace> {
  return updateOne(unit, workspaces, id, { name });
}
