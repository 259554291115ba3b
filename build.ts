/**
 * Builds the product: the catalogues' messages and the hosted pages' assets, then one binary for this platform in dist/gatehouse.
 *
 *   bun build.ts            pages and the binary for this platform
 *   bun build.ts --pages    pages only (what running from source needs)
 *   bun build.ts --all      pages and a binary for every platform Bun supports
 *   bun build.ts --client   pages and the npm package, dist/gatehouse-<version>.tgz
 */
import { rmSync, statSync } from 'node:fs';
import { packClient } from './src/client/package.ts';
import { describeApi } from './src/console/describe.ts';
import { compileCatalogues } from './src/i18n/compile.ts';
import { bundlePages } from './src/pages/bundle.ts';

/** Runtimes for other platforms come from the package registry (`@oven/bun-*`), at this very version of Bun. */
const PLATFORMS = [
  'linux-x64',
  'linux-x64-baseline',
  'linux-arm64',
  'linux-x64-musl',
  'linux-x64-musl-baseline',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-x64-baseline',
  'darwin-arm64',
  'windows-x64',
  'windows-x64-baseline',
  'windows-arm64',
] as const;

async function buildBinary(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const result = await Bun.build({
    // A thread is found at run time only where its file is an entry point of its own.
    entrypoints: ['src/main.ts', 'src/db/worker.ts'],
    // Beside the main file, where db/background.ts looks for it.
    naming: '[name].[ext]',
    target: 'bun',
    minify: true,
    bytecode: true,
    format: 'esm',
    sourcemap: 'linked',
    compile: {
      outfile,
      ...(target && { target }),
      // A binary must not be configured by files of the folder it happens to be started in.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    throw: false,
  });
  if (!result.success) throw new AggregateError(result.logs, `could not build ${outfile}`);
  console.log(`${outfile}  ${(statSync(outfile).size / 1024 / 1024).toFixed(1)} MiB`);
}

const flags = process.argv.slice(2);
const unknown = flags.filter((flag) => !['--pages', '--all', '--client'].includes(flag));
if (unknown.length > 0) {
  console.error(`build.ts: unknown ${unknown.join(', ')}; give --pages, --all, --client or nothing.`);
  process.exit(2);
}

await compileCatalogues();
const { files, bytes } = await bundlePages();
console.log(`pages: ${files} files, ${(bytes / 1024).toFixed(1)} KiB`);

if (flags.includes('--client')) {
  await describeApi();
  const path = await packClient('dist');
  console.log(`${path}  ${(statSync(path).size / 1024).toFixed(1)} KiB`);
}

if (!flags.includes('--pages') && !flags.includes('--client')) {
  await describeApi();
  rmSync('dist/gatehouse', { force: true });
  await buildBinary('dist/gatehouse');
}

if (flags.includes('--all')) {
  const failed: string[] = [];
  for (const platform of PLATFORMS) {
    const suffix = platform.startsWith('windows') ? '.exe' : '';
    try {
      await buildBinary(`dist/gatehouse-${platform}${suffix}`, `bun-${platform}` as Bun.Build.CompileTarget);
    } catch (error) {
      failed.push(platform);
      console.error(`${platform}: ${error instanceof AggregateError ? error.errors.join('; ') : error}`);
    }
  }
  if (failed.length > 0) {
    console.error(`Not built: ${failed.join(', ')}. Their runtimes could not be had from the package registry.`);
    process.exitCode = 1;
  }
}
