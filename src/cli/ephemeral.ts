/** Starts an ephemeral instance with a workspace key and an application, for integration tests. */
import type { Config } from '../config.ts';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { systemRandom } from '../core/random.ts';
import { mintSecret } from '../core/secret.ts';
import { type RunningServer, type ServerOptions, startServer } from '../server.ts';
import { requireApplication } from '../store/applications.ts';

/** JSON line printed on standard output once the instance is ready. */
export interface ReadyLine {
  readonly ready: true;
  readonly url: string;
  readonly workspaceId: string;
  readonly workspaceKey: string;
  readonly applicationId: string;
  readonly clientId: string;
}

/** @throws {StartupError} */
export async function startEphemeral(
  config: Config,
  options: ServerOptions,
): Promise<{ server: RunningServer; ready: ReadyLine }> {
  const workspaceKey = config.workspaceKey ?? mintSecret('apiKey', systemRandom);
  const server = await startServer({ ...config, workspaceKey }, options);
  const { applications, workspaceId } = server.services;
  const { id, clientId } = await applications.create(SYSTEM_ACTOR, workspaceId, { name: 'Test application' });
  const present = async () => await requireApplication(server.db.reader, id);
  await applications.publish(SYSTEM_ACTOR, await present());
  await applications.goLive(SYSTEM_ACTOR, await present());
  return { server, ready: { ready: true, url: server.url, workspaceId, workspaceKey, applicationId: id, clientId } };
}
