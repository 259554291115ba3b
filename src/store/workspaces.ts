/** Workspaces: who owns applications. */
import { asc, eq, inArray, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { required } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, raw } from '../db/statements.ts';
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

/** Of a workspace that something else refers to. */
export async function requireWorkspace(reader: Reader, id: string): Promise<Workspace> {
  const [workspace] = await workspaceById(reader, { id });
  return required(workspace, `workspace ${id}`);
}

/** Those of these that there are, oldest first. */
export async function listWorkspaces(reader: Reader, ids: readonly string[]): Promise<Workspace[]> {
  if (ids.length === 0) return [];
  return orm(reader)
    .select()
    .from(workspaces)
    .where(inArray(workspaces.id, [...ids]))
    .orderBy(asc(workspaces.id));
}

const firstTwo = raw<{ id: string }>('SELECT id FROM workspaces ORDER BY id LIMIT 2');

/** The oldest one, made at the first start. */
export async function findFirstWorkspaceId(reader: Reader): Promise<string | undefined> {
  const [workspace] = await firstTwo(reader);
  return workspace?.id;
}

/** Whether the whole instance is one tenant's. */
export async function isOnlyWorkspace(reader: Reader): Promise<boolean> {
  return (await firstTwo(reader)).length === 1;
}

/** Without anybody in it. */
export function insertWorkspace(unit: Unit, name: string): Promise<Workspace> {
  return insertOne(unit, workspaces, { id: newId('workspace', unit.now), name, createdAt: unit.now });
}

/** @returns the workspace as it is now. */
export function renameWorkspace(unit: Unit, id: string, name: string): Promise<Workspace> {
  return updateOne(unit, workspaces, id, { name });
}
