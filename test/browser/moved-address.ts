/** Moves an account to another address, which mails the old one a link to undo that. */
import { outboxCode, request } from '../support/binary.ts';

/** Moves a session's account. @returns the link mailed to the old address. */
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
