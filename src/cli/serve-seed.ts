/** `serve --seed`: brings the instance to what a file says before it is ready. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { ServerOptions } from '../server.ts';
import { readSeedFile, refusedSeed } from './seed-file.ts';

/** What was done, in sentences; empty before it is. */
export interface SeedAtStart {
  readonly prepare: NonNullable<ServerOptions['prepare']>;
  readonly said: readonly string[];
}

/** Reads the file at once, so that a wrong one starts nothing. @throws {StartupError} */
export async function seedAtStart(file: string): Promise<SeedAtStart> {
  const { document, secrets } = await readSeedFile(file, process.env);
  const said: string[] = [];
  return {
    said,
    async prepare({ seed, workspaceId }) {
      const doer = { actor: SYSTEM_ACTOR, principal: null, workspaceId };
      try {
        const result = await seed.apply(doer, document, { secrets, isDryRun: false });
        const { changes, unchanged, notes, skipped, signingSecrets } = result;
        const created = changes.filter(({ action }) => action === 'create').length;
        said.push(`${file}: ${created} created, ${changes.length - created} changed, ${unchanged} as it says.`);
        for (const { path, message } of notes) said.push(`  ${path}: ${message}`);
        for (const { application, email, error } of skipped.slice(0, MOST_NAMED))
          said.push(`  ${application}: ${email} was not added (${error})`);
        if (skipped.length > MOST_NAMED) said.push(`  …and ${skipped.length - MOST_NAMED} more were not added`);
        for (const { url } of signingSecrets)
          said.push(`  ${url}: it has a signing secret that nobody was shown; give "secret", or rotate it.`);
      } catch (error) {
        throw refusedSeed(file, error);
      }
    },
  };
}

const MOST_NAMED = 10;
