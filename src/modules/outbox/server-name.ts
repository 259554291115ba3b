/** What a mail server answered, as tenants read it: which server an instance sends by is for those who run it. */
import type { Reader } from '../../db/database.ts';
import { findFirstWorkspaceId } from '../../store/workspaces.ts';
import type { InstanceFacts } from '../health/facts.ts';

const STAND_IN = 'the mail server';

/** What the workspace may read of an answer. */
export type Told = (answer: string | null) => string | null;

/** The first workspace is that of those who run the instance. */
export async function answersFor(
  reader: Reader,
  { mail: { server } }: Pick<InstanceFacts, 'mail'>,
  workspaceId: string,
): Promise<Told> {
  if (server === null || workspaceId === (await findFirstWorkspaceId(reader))) return (answer) => answer;
  const host = server.replace(/:\d+$/, '');
  return (answer) => answer && answer.replaceAll(server, STAND_IN).replaceAll(host, STAND_IN);
}
