/** An account that is moved to another address, and the link by which the old one undoes that. */
import { outboxCode, request } from '../support/binary.ts';

/** Moves the account of a session. @returns the link that the old address was mailed. */
export async function undoLinkOf(
  server: { readonly url: string },
  token: string,
  from: string,
  to: string,
): Promise<string> {
  const call = async (path: string, body?: unknown) =>
    (await request(server, 'POST', `/api/account${path}`, { token, body })).json.data;
  const confirm = async (path: string, challengeId: string, email: string) =>
    call(`${path}/confirm`, { challengeId, code: await outboxCode(server, email) });
  await confirm('/proof', (await call('/proof')).challengeId, from);
  await confirm('/email', (await call('/email', { email: to })).challengeId, to);
  const { json } = await request(server, 'GET', `/test/outbox?to=${from}`);
  return /http\S+\/undo-email-change\?token=\S+/.exec(json.data.items[0].text)![0];
}
