/** An ephemeral instance: given a key and an application, so that an integration test can begin at once. */
import type { Config } from '../config.ts';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { systemRandom } from '../core/random.ts';
import { mintSecret } from '../core/secret.ts';
import { type RunningServer, type ServerOptions, startServer } from '../server.ts';

/** The one line on standard output that says the instance is ready. */
export interface ReadyLine {
  readonly ready: true;
  readonly url: string;
  readonly workspaceId: string;
  readonly workspaceKey: string;
  readonly applicationId: string;
  readonly clientId: string;
}

/** @throws {StartupError} */
export function startEphemeral(config: Config, options: ServerOptions): { server: RunningServer; ready: ReadyLine } {
  const workspaceKey = config.workspaceKey ?? mintSecret('apiKey', systemRandom);
  const server = startServer({ ...config, workspaceKey }, options);
  const { applications, workspaceId } = server.services;
  const { id, clientId } = applications.create(SYSTEM_ACTOR, workspaceId, { name: 'Test application' });
  applications.publish(SYSTEM_ACTOR, applications.find(id)!);
  applications.goLive(SYSTEM_ACTOR, applications.find(id)!);
  return { server, ready: { ready: true, url: server.url, workspaceId, workspaceKey, applicationId: id, clientId } };
}
