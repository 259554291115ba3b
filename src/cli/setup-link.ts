/** `gatehouse setup-link`: a fresh one-time link, for whoever can log in to the server's own machine. */
import { loadConfig } from '../config.ts';
import { systemRandom } from '../core/random.ts';
import { openData } from '../dependencies.ts';
import { createSetupToken } from '../modules/setup/service.ts';
import { type Command, DATA_FLAG, DATA_HELP } from './arguments.ts';

export const setupLink: Command = {
  name: 'setup-link',
  summary: 'Print a one-time link that makes the first owner, or lets an owner back in',
  flags: { ...DATA_FLAG, port: { type: 'string' }, 'base-url': { type: 'string' } },
  flagHelp: {
    ...DATA_HELP,
    port: 'N     port of the running server, for the link (GATEHOUSE_PORT, default 8080)',
    'base-url': 'URL   public address, for the link (GATEHOUSE_BASE_URL)',
  },
  async run(flags) {
    const config = loadConfig(process.env, {
      data: flags['data'] as string | undefined,
      port: flags['port'] as string | undefined,
      baseUrl: flags['base-url'] as string | undefined,
    });
    const data = await openData(config.dataFolder, { isServer: false });
    const token = await createSetupToken(data.db, systemRandom);
    await data.close();
    process.stdout.write(`${config.baseUrl ?? `http://localhost:${config.port}`}/setup?token=${token}\n`);
    return 0;
  },
};
