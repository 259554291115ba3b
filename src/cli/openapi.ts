/** `gatehouse openapi`: prints the description of the API without a server. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { createApp } from '../app.ts';
import { loadConfig } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { INSTANCE_KEY_BYTES, instanceKey } from '../core/instance-key.ts';
import { systemRandom } from '../core/random.ts';
import { migrate } from '../db/migrate.ts';
import { createDatabase } from '../db/unit-of-work.ts';
import type { Dependencies } from '../dependencies.ts';
import { createLog, logDestination } from '../log.ts';
import { outboxTransport } from '../mail/outbox.ts';
import { openApiYaml } from '../modules/description/routes.ts';
import { guardedFetch } from '../outbound/guarded-fetch.ts';
import { createServices } from '../services.ts';
import type { Command } from './arguments.ts';

export const openapi: Command = {
  name: 'openapi',
  summary: 'Print the OpenAPI description as YAML',
  flags: {},
  flagHelp: {},
  async run() {
    const config = loadConfig(process.env);
    const baseUrl = config.baseUrl ?? `http://localhost:${config.port}`;
    // The operations of a real app over an empty database in memory: nothing described can differ from what is served.
    const sqlite = new SqliteDatabase(':memory:', { strict: true });
    migrate(sqlite, ':memory:');
    const dependencies: Dependencies = {
      config: { ...config, ownerEmail: null, workspaceKey: null },
      db: createDatabase(sqlite, systemClock),
      clock: systemClock,
      random: systemRandom,
      instanceKey: instanceKey(systemRandom.bytes(INSTANCE_KEY_BYTES)),
      mail: outboxTransport(() => {}),
      outbound: guardedFetch({ allowed: config.allowedCidrs, isLoopbackAllowed: false }),
      log: createLog('silent', logDestination(2)),
      baseUrl: () => baseUrl,
    };
    const app = createApp(dependencies, createServices(dependencies), {
      peerAddress: () => null,
      isStopping: () => false,
      keepOpen: () => {},
      testClock: null,
    });
    process.stdout.write(await openApiYaml(app.operations, baseUrl));
    return 0;
  },
};
