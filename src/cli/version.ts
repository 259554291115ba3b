/** `gatehouse version`. */
import { VERSION } from '../version.ts';
import type { Command } from './arguments.ts';

export const version: Command = {
  name: 'version',
  group: 'about',
  summary: 'Print the version',
  run() {
    process.stdout.write(`gatehouse ${VERSION} (bun ${Bun.version}, ${process.platform}-${process.arch})\n`);
    return 0;
  },
};
