/** In which workspaces the person behind an address is known, or a place is kept for it: whose mail it may be, then. */
import { notInArray } from 'drizzle-orm';
import type { Reader } from '../db/database.ts';
import { orm, raw } from '../db/statements.ts';
import { workspaces } from './schema/workspaces.ts';

/** What ties an address to a workspace. */
export interface Tie {
  readonly workspaceId: string;
  /** They have come there, with an address that they have proved; else a place waits for them, or somebody's word brought them. */
  readonly hasCome: boolean;
}

const PERSON = `(SELECT id FROM users WHERE email = ?1 UNION SELECT user_id FROM email_aliases WHERE email = ?1)`;

/** An application's own provider brings whomever it likes. */
const isProved = (userId: string) =>
  `EXISTS (SELECT 1 FROM users p WHERE p.id = ${userId} AND p.email_verified_at IS NOT NULL)`;

const tiesOf = raw<{ workspaceId: string; hasCome: 0 | 1 }, [string]>(
  `SELECT workspace_id AS "workspaceId", invited_email IS NULL AND ${isProved('user_id')} AS "hasCome"
     FROM workspace_members WHERE user_id IN ${PERSON}
   UNION SELECT workspace_id, 0 FROM workspace_members WHERE invited_email = ?1
   UNION SELECT a.workspace_id, m.reserved_email IS NULL AND ${isProved('m.user_id')} FROM application_users m CROSS JOIN applications a
     ON a.id = m.application_id WHERE m.user_id IN ${PERSON} AND a.workspace_id IS NOT NULL
   UNION SELECT a.workspace_id, 0 FROM application_users m CROSS JOIN applications a
     ON a.id = m.application_id WHERE m.reserved_email = ?1 AND a.workspace_id IS NOT NULL`,
);

/**
 * Of whoever has the address, or had it once: every seat, and every place in an application, in whatever state.
 *
 * @param email normalised, as all addresses here.
 */
export async function listTies(reader: Reader, email: string): Promise<Tie[]> {
  return (await tiesOf(reader, email)).map(({ workspaceId, hasCome }) => ({ workspaceId, hasCome: hasCome === 1 }));
}

/** Whether there is a workspace besides these. */
export async function hasOtherWorkspace(reader: Reader, ids: readonly string[]): Promise<boolean> {
  const others = orm(reader).select({ id: workspaces.id }).from(workspaces);
  return (await others.where(notInArray(workspaces.id, [...ids])).limit(1)).length > 0;
}
