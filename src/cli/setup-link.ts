/** `gatehouse setup-link`: a fresh one-time link, for whoever can log in to the server's own machine. */
import { loadConfig } from '../config.ts';
import { systemRandom } from '../core/random.ts';
import { openData } from '../dependencies.ts';
import { createSetupToken } from '../modules/setup/service.ts';
import { SETTINGS } from '../settings.ts';
import type { Command } from './arguments.ts';

export const setupLink: Command = {
  name: 'setup-link',
  group: 'data',
  summary: 'Print a one-time link that makes the first owner, or lets an owner back in',
  settings: [SETTINGS.dataFolder, SETTINGS.port, SETTINGS.baseUrl],
  async run(flags) {
    const config = loadConfig(process.env, { flags });
    const data = await openData(config.dataFolder, { isServer: false });
    const token = await createSetupToken(data.db, systemRandom);
    await data.close();
    process.stdout.write(`${config.baseUrl ?? `http://localhost:${config.port}`}/setup?token=${token}\n`);
    return 0;
  },
};
