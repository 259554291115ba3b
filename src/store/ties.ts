/** The workspaces that an address is tied to: its person is known there, a place is kept for it, or it is on an allowlist. */
import { notInArray } from 'drizzle-orm';
import type { Reader } from '../db/database.ts';
import { orm, raw } from '../db/statements.ts';
import { workspaces } from './schema/workspaces.ts';

/** What ties an address to a workspace. */
export interface Tie {
  readonly workspaceId: string;
  /** They have come there with an address that they have proved. Otherwise they wait, or somebody's word brought them. */
  readonly hasCome: boolean;
  /** Only a request for access, which anybody can make in anybody's name. */
  readonly isRequest: boolean;
}

const PERSON = `(SELECT id FROM users WHERE email = ?1 UNION SELECT user_id FROM email_aliases WHERE email = ?1)`;

/** All addresses of the person: what waits for a former one follows them to the present one. */
const ADDRESSES = `(SELECT ?1 UNION SELECT email FROM users WHERE id IN ${PERSON}
  UNION SELECT email FROM email_aliases WHERE user_id IN ${PERSON})`;

/** An application's own provider brings whomever it likes. */
const isProved = (userId: string) =>
  `EXISTS (SELECT 1 FROM users p WHERE p.id = ${userId} AND p.email_verified_at IS NOT NULL)`;

const tiesOf = raw<{ workspaceId: string; hasCome: 0 | 1; isRequest: 0 | 1 }, [string]>(
  `SELECT workspace_id AS "workspaceId", invited_email IS NULL AND ${isProved('user_id')} AS "hasCome", 0 AS "isRequest"
     FROM workspace_members WHERE user_id IN ${PERSON}
   UNION SELECT workspace_id, 0, 0 FROM workspace_members WHERE invited_email IN ${ADDRESSES}
   UNION SELECT a.workspace_id, m.reserved_email IS NULL AND ${isProved('m.user_id')}, 0 FROM application_users m CROSS JOIN applications a
     ON a.id = m.application_id WHERE m.user_id IN ${PERSON} AND a.workspace_id IS NOT NULL
   UNION SELECT a.workspace_id, 0, 0 FROM application_users m CROSS JOIN applications a
     ON a.id = m.application_id WHERE m.reserved_email IN ${ADDRESSES} AND a.workspace_id IS NOT NULL
   UNION SELECT a.workspace_id, 0, b.status <> 'approved' AND b.source <> 'admin_add' FROM beta_interests b CROSS JOIN applications a
     ON a.id = b.application_id WHERE b.email IN ${ADDRESSES} AND a.workspace_id IS NOT NULL`,
);

/**
 * Returns every seat, place in an application and allowlist entry of the person who has the address or had it once, in
 * whatever state.
 *
 * @param email normalised, as all addresses here.
 */
export async function listTies(reader: Reader, email: string): Promise<Tie[]> {
  return (await tiesOf(reader, email)).map(({ workspaceId, hasCome, isRequest }) => ({
    workspaceId,
    hasCome: hasCome === 1,
    isRequest: isRequest === 1,
  }));
}

/** Whether there is a workspace besides these. */
export async function hasOtherWorkspace(reader: Reader, ids: readonly string[]): Promise<boolean> {
  const others = orm(reader).select({ id: workspaces.id }).from(workspaces);
  return (await others.where(notInArray(workspaces.id, [...ids])).limit(1)).length > 0;
}
