/** `gatehouse setup-link`: prints a new one-time setup link, for people with shell access to the server. */
import { loadConfig, ownUrl } from '../config.ts';
import { SETTINGS } from '../settings.ts';
import type { Command } from './arguments.ts';

export const setupLink: Command = {
  name: 'setup-link',
  group: 'data',
  summary: 'Print a one-time link for the first owner, or a locked-out owner',
  settings: [SETTINGS.dataFolder, SETTINGS.databaseUrl, SETTINGS.port, SETTINGS.baseUrl],
  next: ['While a server runs on the data folder, the link begins with its address.'],
  async run(flags) {
    const { systemRandom } = await import('../core/random.ts');
    const { findServer } = await import('../db/sqlite/running-server.ts');
    const { openData } = await import('../dependencies.ts');
    const { createSetupToken } = await import('../modules/setup/service.ts');
    const config = loadConfig(process.env, { flags });
    const data = await openData(config.database ?? config.dataFolder, { isServer: false });
    const isAddressGiven = flags['base-url'] !== undefined || flags['port'] !== undefined;
    const running = isAddressGiven || config.database ? null : findServer(config.dataFolder);
    const token = await createSetupToken(data.db, systemRandom).finally(() => data.close());
    process.stdout.write(`${running?.note?.url ?? ownUrl(config, config.port)}/setup?token=${token}\n`);
    return 0;
  },
};
