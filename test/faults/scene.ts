/** The data folder of a mixed load: an application to sign in to, and others to be archived. */
import { insertMembers, insertSessions } from '../bench/rows.ts';
import { fill } from '../bench/server.ts';
import { request, run, startServer } from '../support/binary.ts';

/** An application with unused open sessions, to be archived. */
export interface Doomed {
  readonly applicationId: string;
  readonly sessions: number;
  /** Tokens of some of these sessions. */
  readonly tokens: readonly string[];
}

/** Everything a load needs, as plain data, so that it can be passed to another machine. */
export interface Scene {
  /** Environment of every server on the folder. */
  readonly env: Record<string, string>;
  /** A live application that everyone signs in to. */
  readonly applicationId: string;
  readonly clientId: string;
  /** A full key of the workspace with raised limits. */
  readonly token: string;
  readonly ownerEmail: string;
  readonly receiverUrl: string;
  /** Notified of every change of roles. */
  readonly webhookId: string;
  readonly doomed: readonly Doomed[];
}

export interface SceneOptions {
  /** Target of the event deliveries; need not answer. */
  readonly receiverUrl: string;
  /** Number of applications to archive, one per round, and of their sessions. */
  readonly doomed: number;
  readonly sessionsEach: number;
}

const TOKENS_KEPT = 20;

/** Creates the folder and its contents; leaves no server running on it. */
export async function setScene(
  folder: string,
  { receiverUrl, doomed: count, sessionsEach }: SceneOptions,
): Promise<Scene> {
  const workspaceKey = (await run(['key'], { cwd: '/' })).stdout.trim();
  const ownerEmail = 'owner@example.com';
  const env = {
    GATEHOUSE_WORKSPACE_KEY: workspaceKey,
    GATEHOUSE_OWNER_EMAIL: ownerEmail,
    GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8',
    GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000000',
    GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000000',
    GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '1000000',
  };
  const server = await startServer(folder, env);
  const post = async (path: string, body: object = {}, token = workspaceKey) =>
    (await request(server, 'POST', path, { token, body })).json.data;
  const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
  const { token } = await post('/api/workspace/api-keys', { name: 'load', access: 'full', rateLimits });
  const open = async (name: string) => {
    const { id, clientId } = await post('/api/applications', { name }, token);
    await post(`/api/applications/${id}/publish`, {}, token);
    await post(`/api/applications/${id}/go-live`, {}, token);
    return { applicationId: id as string, clientId: clientId as string };
  };
  const main = await open('Shop');
  const events = ['user.role_added', 'user.role_removed'];
  const { id: webhookId } = await post(`/api/applications/${main.applicationId}/webhooks`, {
    url: receiverUrl,
    events,
  });
  const waiting: string[] = [];
  while (waiting.length < count) waiting.push((await open('Doomed')).applicationId);
  await server.stop();
  const doomed = fill(folder, (sqlite) =>
    waiting.map((applicationId, index): Doomed => {
      const people = insertMembers(sqlite, applicationId, sessionsEach, { prefix: `doomed${index}-` });
      const tokens = insertSessions(sqlite, people, sessionsEach);
      const apart = Math.ceil(sessionsEach / TOKENS_KEPT);
      return { applicationId, sessions: sessionsEach, tokens: tokens.filter((_, at) => at % apart === 0) };
    }),
  );
  return { env, ...main, token, ownerEmail, receiverUrl, webhookId, doomed };
}
