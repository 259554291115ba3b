/**
 * Budgets: what workspaces use of the server in common, such as deliveries at once and mails an hour, is counted for the
 * account that made them. Otherwise a tenant could multiply its share by making more workspaces.
 */
import type { Reader } from '../db/database.ts';
import { raw } from '../db/statements.ts';

/** The budget of the console, which belongs to no workspace. */
const CONSOLE = 'console';

/**
 * SQL for the budget of a workspace: its creator's id, or its own where nobody made it. Both are set once and never change.
 *
 * @param workspace the alias of a `workspaces` row, null for the console.
 */
export const budgetOf = (workspace: string): string =>
  `coalesce(${workspace}.created_by_user_id, ${workspace}.id, '${CONSOLE}')`;

const budgetById = raw<{ budgetId: string }, [string]>(
  `SELECT ${budgetOf('s')} AS "budgetId" FROM workspaces s WHERE s.id = ?`,
);

/** Returns the budget that a workspace uses. @param workspaceId null for the console. */
export async function findBudget(reader: Reader, workspaceId: string | null): Promise<string> {
  if (workspaceId === null) return CONSOLE;
  const [found] = await budgetById(reader, workspaceId);
  return found?.budgetId ?? workspaceId;
}

const otherBudget = raw<{ id: string }>(
  `SELECT s.id FROM workspaces s
   WHERE ${budgetOf('s')} <> (SELECT ${budgetOf('f')} FROM workspaces f ORDER BY f.id LIMIT 1) LIMIT 1`,
);

/** Whether all workspaces use one budget, so that nobody else is delayed. */
export async function isOnlyBudget(reader: Reader): Promise<boolean> {
  return (await otherBudget(reader)).length === 0;
}
