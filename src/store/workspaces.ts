/** Workspaces: who owns applications. */
import { asc, eq, inArray, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, raw } from '../db/statements.ts';
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

export async function findWorkspace(reader: Reader, id: string): Promise<Workspace | undefined> {
  const [workspace] = await workspaceById(reader, { id });
  return workspace;
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

export async function insertWorkspace(unit: Unit, name: string): Promise<Workspace> {
  const row = { id: newId('workspace', unit.now), name, createdAt: unit.now };
  await orm(unit).insert(workspaces).values(row);
  return row;
}

export async function renameWorkspace(unit: Unit, id: string, name: string): Promise<Workspace | undefined> {
  const [workspace] = await orm(unit).update(workspaces).set({ name }).where(eq(workspaces.id, id)).returning();
  return workspace;
}
