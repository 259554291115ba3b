/** Hides the mail server's name in its answers: only those who run the instance may know which server it uses. */
import type { Reader } from '../../db/database.ts';
import { findFirstWorkspaceId } from '../../store/workspaces.ts';
import type { InstanceFacts } from '../health/facts.ts';

const PLACEHOLDER = 'the mail server';

/** Returns a mail server's answer as the workspace may read it. */
export type ShownAnswer = (answer: string | null) => string | null;

/** Leaves answers unchanged for the first workspace, which belongs to those who run the instance. */
export async function answersFor(
  reader: Reader,
  { mail }: Pick<InstanceFacts, 'mail'>,
  workspaceId: string,
): Promise<ShownAnswer> {
  const { server } = await mail();
  if (server === null || workspaceId === (await findFirstWorkspaceId(reader))) return (answer) => answer;
  const host = server.replace(/:\d+$/, '');
  return (answer) => answer && answer.replaceAll(server, PLACEHOLDER).replaceAll(host, PLACEHOLDER);
}
