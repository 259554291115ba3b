/** Shared by the tests of the management API: calls on one application, and a check of what a call wrote. */
import { encodeCursor } from '../../../src/db/page.ts';
import type { Answer, CallOptions, Instance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';

export type Manage = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Calls paths below an application's, with the workspace key unless another token is given. */
export function managing(instance: Instance, { id }: { id: string }): Manage {
  return (method, path, options) =>
    instance.call(method, `/api/applications/${id}${path}`, { token: instance.workspaceKey, ...options });
}

/** Returns every relevant row once queued mail is sent: equal before and after means nothing changed. */
export async function tables(instance: Instance): Promise<Record<string, unknown[]>> {
  await instance.services.mail.runOnce();
  return dumpTables(instance);
}

/** Collects the events and audit kinds of an application from now on. */
export function watch(instance: Instance, { id }: { id: string }) {
  const events = instance.events(id).length;
  const kinds = instance.auditKinds(id).length;
  return {
    events: () => instance.events(id).slice(events),
    kinds: () => instance.auditKinds(id).slice(kinds),
  };
}

/** Returns the newest audit record of a kind. */
export function lastAudit(instance: Instance, kind: string): Record<string, unknown> {
  const row = instance.sqlite.query('SELECT * FROM audit_records WHERE kind = ? ORDER BY rowid DESC').get(kind);
  return row as Record<string, unknown>;
}

/** Returns an error body without its request id, to compare the refusals of two calls. */
export function refusal({ status, json }: Answer) {
  const { requestId, ...body } = json;
  return { status, body, isTraceable: typeof requestId === 'string' };
}

/** Imports people and returns their ids in order. */
export async function people(manage: Manage, ...emails: string[]): Promise<string[]> {
  const { json } = await manage('POST', '/users/bulk', { body: { users: emails.map((email) => ({ email })) } });
  return json.data.results.map(({ userId }: { userId: string }) => userId);
}

/** Follows the cursors of a list to its end; `between` runs after each page. */
export async function pages<Item>(
  manage: Manage,
  path: string,
  between?: (page: number) => unknown,
): Promise<Item[][]> {
  const found: Item[][] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    const { json } = await manage('GET', path + next);
    found.push(json.data.items);
    cursor = json.data.nextCursor;
    await between?.(found.length);
  } while (cursor !== null);
  return found;
}

/** Cursors that every list refuses. */
export const BAD_CURSORS = [
  // A valid cursor with trailing characters.
  `${encodeCursor([1, 'usr_1'])}%25%25`,
  `${encodeCursor(['usr_1'])}!`,
  `${encodeCursor(['usr_1'])}=`,
  '%25%25',
  'nonsense',
  btoa('[]'),
  btoa('{}'),
  btoa('[null,1]'),
  btoa('"a"'),
  '',
];
