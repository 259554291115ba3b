/** Links between an address and workspaces: membership, reservation or waitlist entry. */
import { notInArray } from 'drizzle-orm';
import type { Reader } from '../db/database.ts';
import { orm, query } from '../db/statements.ts';
import { workspaces } from './schema/workspaces.ts';

export interface AddressLink {
  readonly workspaceId: string;
  /** True if they came with a proved address, so neither reserved nor vouched for by a workspace's provider only. */
  readonly hasProvedAddress: boolean;
  /** True for a mere request for access, which anyone can make in anyone's name. */
  readonly isRequest: boolean;
}

const PERSON = `(
  SELECT id FROM users WHERE email = :email UNION SELECT user_id FROM email_aliases WHERE email = :email)`;

/** Selects all addresses of the person: entries for a former address follow them to the current one. */
const ADDRESSES = `(SELECT :email UNION SELECT email FROM users WHERE id IN ${PERSON}
  UNION SELECT email FROM email_aliases WHERE user_id IN ${PERSON})`;

/** Requires a proved address, because an application's own provider can sign in anyone. */
const isProved = (userId: string) =>
  `EXISTS (SELECT 1 FROM users p WHERE p.id = ${userId} AND p.email_verified_at IS NOT NULL)`;

/** Returns the workspaces of the person who has or had the normalized address, in any state of the link. */
export const listAddressLinks = query.rows<AddressLink, string>(
  ({
    joinInOrder,
  }) => `SELECT workspace_id AS "workspaceId", invited_email IS NULL AND ${isProved('user_id')} AS "hasProvedAddress",
     FALSE AS "isRequest"
     FROM workspace_members WHERE user_id IN ${PERSON}
   UNION SELECT workspace_id, FALSE, FALSE FROM workspace_members WHERE invited_email IN ${ADDRESSES}
   UNION SELECT a.workspace_id, m.reserved_email IS NULL AND ${isProved('m.user_id')}, FALSE
     FROM application_users m ${joinInOrder} applications a ON a.id = m.application_id
     WHERE m.user_id IN ${PERSON} AND a.workspace_id IS NOT NULL
   UNION SELECT a.workspace_id, FALSE, FALSE
     FROM application_users m ${joinInOrder} applications a ON a.id = m.application_id
     WHERE m.reserved_email IN ${ADDRESSES} AND a.workspace_id IS NOT NULL
   UNION SELECT a.workspace_id, FALSE, b.status <> 'approved' AND b.source <> 'admin_add'
     FROM beta_interests b ${joinInOrder} applications a ON a.id = b.application_id
     WHERE b.email IN ${ADDRESSES} AND a.workspace_id IS NOT NULL`,
);

export async function hasOtherWorkspace(reader: Reader, ids: readonly string[]): Promise<boolean> {
  const others = orm(reader).select({ id: workspaces.id }).from(workspaces);
  return (await others.where(notInArray(workspaces.id, [...ids])).limit(1)).length > 0;
}
