/** `gatehouse openapi`: prints the OpenAPI description without a server. */
import { type Config, loadConfig, ownUrl } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { systemRandom } from '../core/random.ts';
import type { Dependencies } from '../dependencies.ts';
import { accessLog } from '../http/access-log.ts';
import type { Operation } from '../http/operation.ts';
import type { Command } from './arguments.ts';

export const openapi: Command = {
  name: 'openapi',
  group: 'about',
  summary: 'Print the OpenAPI description as YAML',
  switches: { all: 'With the operations of the account page, the workspace and the instance.' },
  async run(flags) {
    const config = loadConfig(process.env);
    const { openApiYaml } = await import('../modules/description/routes.ts');
    const operations = await operationsOf(config);
    const part = flags['all'] === true ? 'all' : 'application';
    process.stdout.write(await openApiYaml(operations, ownUrl(config, config.port), part));
    return 0;
  },
};

/** Wires the same services as a real instance, without a database, and returns their operations. */
export async function operationsOf(config: Config): Promise<readonly Operation[]> {
  const { INSTANCE_KEY_BYTES, instanceKey } = await import('../core/instance-key.ts');
  const { NO_DATABASE } = await import('../db/no-database.ts');
  const { createLog, logDestination } = await import('../log.ts');
  const { guardedFetch } = await import('../outbound/guarded-fetch.ts');
  const { wireServices } = await import('../services.ts');
  const dependencies: Dependencies = {
    config,
    db: NO_DATABASE,
    clock: systemClock,
    random: systemRandom,
    instanceKey: instanceKey(systemRandom.bytes(INSTANCE_KEY_BYTES)),
    leaseHolder: '',
    mail: { onCapture: null },
    outbound: guardedFetch({ allowed: config.allowedCidrs, isLoopbackAllowed: false }),
    log: createLog('silent', logDestination(2)),
    accessLog: accessLog(null),
    baseUrl: () => ownUrl(config, config.port),
    peerAddress: () => null,
    keepOpen: () => {},
    isStopping: () => false,
    testClock: null,
  };
  return wireServices(dependencies).operations;
}
