/** `gatehouse move`: moves an instance from its data folder to PostgreSQL, or back, and verifies every table. */
import { loadConfig } from '../config.ts';
import { SETTINGS } from '../settings.ts';
import type { Command } from './arguments.ts';

export const move: Command = {
  name: 'move',
  group: 'data',
  summary: 'Move the instance to PostgreSQL, or back to a data folder',
  options: {
    to: { value: 'TARGET', meaning: 'An empty database, as postgres://user:password@host:5432/database; or a folder.' },
    'to-file': { value: 'FILE', meaning: 'File with the target, so that no list of processes shows the password.' },
  },
  settings: [SETTINGS.dataFolder, SETTINGS.databaseUrl],
  next: [
    'The server can keep running for most of it. A server on a data folder must stop',
    'when the command says so; PostgreSQL refuses changes from that moment on. Every',
    'table is compared on both sides before the target becomes the instance. After a',
    'kill or an error, run the same command again: it goes on where it was.',
    '',
    'To PostgreSQL:    gatehouse move --data DIR --to-file url.txt',
    'Back to a folder: gatehouse move --database-url URL --to DIR',
  ],
  async run(flags) {
    const { explained } = await import('./move/failures.ts');
    const { destinationOf, openSides } = await import('./move/sides.ts');
    const { moveProgress, movedText } = await import('./move/output.ts');
    const { moveInstance } = await import('../db/move/move.ts');
    const destination = destinationOf(flags);
    const config = loadConfig(process.env, { flags });
    const began = performance.now();
    try {
      const sides = await openSides(config, destination);
      const progress = moveProgress(sides);
      try {
        const moved = await moveInstance(sides.source, sides.target, progress);
        progress.end();
        process.stdout.write(movedText(sides, moved, performance.now() - began));
      } finally {
        progress.end();
        await sides.opened.disposeAsync();
      }
    } catch (error) {
      throw explained(error, 'folder' in destination ? destination.folder : config.dataFolder);
    }
    return 0;
  },
};
