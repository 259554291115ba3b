/** Build time only: splits the console's script into one chunk per view, and what the views share. */
import { resolve } from 'node:path';

/** Chunks below this size cost more by their request than by their bytes. */
const SMALL_BYTES = 16 * 1024;

const escaped = (path: string) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Bundles an entry whose views load on demand. The bundler puts every set of modules that some views share into a chunk of
 * its own, which made 20 to 30 requests for one view. The entry therefore imports the small ones, and is loaded anyway.
 * The bundler hashes the names, because chunks import each other by name.
 */
export async function buildChunks(entry: string, config: Partial<Bun.BuildConfig>): Promise<Bun.BuildArtifact[]> {
  const naming = { entry: 'console.[hash].[ext]', chunk: 'console.[hash].[ext]' };
  const whole: Bun.BuildConfig = { ...config, entrypoints: [entry], splitting: true, naming };
  const { metafile } = await Bun.build({ ...whole, metafile: true });
  if (!metafile) throw new Error(`the bundler did not describe the chunks of ${entry}`);
  const shared = Object.values(metafile.outputs)
    .filter(({ entryPoint, bytes }) => !entryPoint && bytes < SMALL_BYTES)
    .flatMap(({ inputs }) => Object.keys(inputs).map((path) => resolve(path)));
  const imports = [...new Set(shared)].sort().map((path) => `import ${JSON.stringify(path)};\n`);

  const withShared: Bun.BunPlugin = {
    name: 'modules that views share',
    setup(build) {
      build.onLoad({ filter: new RegExp(`^${escaped(entry)}$`) }, async () => ({
        loader: 'tsx',
        contents: (await Bun.file(entry).text()) + imports.join(''),
      }));
    },
  };
  const plugins = [...(config.plugins ?? []), withShared];
  return (await Bun.build({ ...whole, minChunkSize: SMALL_BYTES, plugins })).outputs;
}
