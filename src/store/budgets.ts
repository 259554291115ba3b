/**
 * Budgets for shared resources, such as concurrent deliveries and mails per hour. They are counted per account that
 * created the workspaces, so that more workspaces do not multiply a tenant's share.
 */
import type { Reader } from '../db/database.ts';
import { query } from '../db/statements.ts';

const CONSOLE = 'console';

/**
 * SQL for a workspace's budget: its creator's id, else its own id. Both are immutable.
 * @param workspace the alias of a `workspaces` row, null for the console.
 */
export const budgetOf = (workspace: string): string =>
  `coalesce(${workspace}.created_by_user_id, ${workspace}.id, '${CONSOLE}')`;

const budgetById = query.value<string, string>(`SELECT ${budgetOf('s')} FROM workspaces s WHERE s.id = :workspaceId`);

/** Returns the id of a workspace's budget. @param workspaceId null for the console. */
export async function findBudget(reader: Reader, workspaceId: string | null): Promise<string> {
  if (workspaceId === null) return CONSOLE;
  return (await budgetById(reader, workspaceId)) ?? workspaceId;
}

const hasOtherBudget = query.exists(
  `SELECT s.id FROM workspaces s
   WHERE ${budgetOf('s')} <> (SELECT ${budgetOf('f')} FROM workspaces f ORDER BY f.id LIMIT 1) LIMIT 1`,
);

/** Returns whether all workspaces share one budget, so that no other tenant can be delayed. */
export async function isOnlyBudget(reader: Reader): Promise<boolean> {
  return !(await hasOtherBudget(reader));
}
