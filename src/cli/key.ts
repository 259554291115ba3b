/** `gatehouse key`: generates an API key for GATEHOUSE_WORKSPACE_KEY. */
import { systemRandom } from '../core/random.ts';
import { mintSecret } from '../core/secret.ts';
import type { Command } from './arguments.ts';

export const key: Command = {
  name: 'key',
  group: 'server',
  summary: 'Print a new API key for GATEHOUSE_WORKSPACE_KEY',
  run() {
    process.stdout.write(`${mintSecret('apiKey', systemRandom)}\n`);
    return 0;
  },
};
