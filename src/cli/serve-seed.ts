/** `serve --seed`: applies a seed file before the server reports ready. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { ServerOptions } from '../server.ts';
import { readSeedFile, refusedSeed } from './seed-file.ts';

/** Seed step of a start; `said` holds its result in sentences, empty until it has run. */
export interface SeedAtStart {
  readonly prepare: NonNullable<ServerOptions['prepare']>;
  readonly said: readonly string[];
}

/** Reads the file immediately, so that an invalid one prevents the start. @throws {StartupError} */
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
        said.push(`${file}: ${created} created, ${changes.length - created} changed, ${unchanged} unchanged.`);
        for (const { path, message } of notes) said.push(`  ${path}: ${message}`);
        for (const { application, email, error } of skipped.slice(0, MAX_NAMED))
          said.push(`  ${application}: ${email} was not added (${error})`);
        if (skipped.length > MAX_NAMED) said.push(`  …and ${skipped.length - MAX_NAMED} more were not added`);
        for (const { url } of signingSecrets)
          said.push(`  ${url}: its signing secret was not shown; give "secret", or rotate it.`);
      } catch (error) {
        throw refusedSeed(file, error);
      }
    },
  };
}

const MAX_NAMED = 10;
