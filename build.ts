/**
 * Builds the product: the catalogues' messages and the hosted pages' assets, then one binary for this platform in dist/gatehouse.
 *
 *   bun build.ts            pages and the binary for this platform
 *   bun build.ts --pages    pages only (what running from source needs)
 *   bun build.ts --all      also dist/gatehouse-<version>-<platform> for every platform, and dist/SHA256SUMS
 *   bun build.ts --client   pages and the npm package, dist/gatehouse-<version>.tgz
 */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { packClient } from './src/client/package.ts';
import { describeApi } from './src/console/describe.ts';
import { compileCatalogues } from './src/i18n/compile.ts';
import { bundlePages } from './src/pages/bundle.ts';
import { VERSION } from './src/version.ts';

/**
 * Runtimes for other platforms come from the package registry (`@oven/bun-*`), at this very version of Bun. There are no
 * `-baseline` ones: of this version they are the same files, and choose by the processor they find.
 */
const PLATFORMS = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
  'windows-arm64',
] as const;

async function buildBinary(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const result = await Bun.build({
    // A thread is found at run time only where its file is an entry point of its own.
    entrypoints: [
      'src/main.ts',
      'src/db/sqlite/worker.ts',
      'src/db/sqlite/upgrade-thread.ts',
      'src/backup/backup-thread.ts',
      'src/modules/mcp/mcp-thread.ts',
      'src/threads/verification-thread.ts',
    ],
    // Beside the main file, where each is looked for.
    naming: { entry: '[name].[ext]', chunk: 'chunk-[hash].[ext]' },
    // A command loads only its own chunks, not the server's megabytes; threads share them.
    splitting: true,
    target: 'bun',
    minify: true,
    bytecode: true,
    format: 'esm',
    sourcemap: 'linked',
    compile: {
      outfile,
      ...(target && { target }),
      // A small heap is collected more often. It takes 14 MB less after a million sessions, and no call is slower.
      execArgv: ['--smol'],
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
// Imported only now: it loads what was generated above.
await (await import('./src/cli/remote/describe-operations.ts')).describeOperations();

if (flags.includes('--client')) {
  await describeApi();
  const path = await packClient('dist');
  console.log(`${path}  ${(statSync(path).size / 1024).toFixed(1)} KiB`);
}

if (!flags.includes('--pages') && !flags.includes('--client')) {
  await describeApi();
  mkdirSync('dist', { recursive: true });
  rmSync('dist/gatehouse', { force: true });
  for (const old of new Bun.Glob('chunk-*.map').scanSync('dist')) rmSync(`dist/${old}`);
  await buildBinary('dist/gatehouse');
}

if (flags.includes('--all')) {
  const failed = await buildRelease();
  if (failed.length > 0) {
    console.error(`Not built: ${failed.join(', ')}. Their runtimes could not be had from the package registry.`);
    process.exitCode = 1;
  }
}

/** A binary for each platform, tried where it can run here, and their checksums. @returns the platforms without one. */
async function buildRelease(): Promise<string[]> {
  for (const old of new Bun.Glob('{gatehouse-*-{linux,darwin,windows}-*,SHA256SUMS}').scanSync('dist'))
    rmSync(`dist/${old}`);
  const sums: string[] = [];
  const failed: string[] = [];
  for (const platform of PLATFORMS) {
    const name = `gatehouse-${VERSION}-${platform}${platform.startsWith('windows') ? '.exe' : ''}`;
    try {
      await buildBinary(`dist/${name}`, `bun-${platform}` as Bun.Build.CompileTarget);
    } catch (error) {
      failed.push(platform);
      console.error(`${platform}: ${error instanceof AggregateError ? error.errors.join('; ') : error}`);
      continue;
    }
    console.log(`  ${tryOut(`dist/${name}`, platform)}`);
    const content = Bun.file(`dist/${name}`).stream();
    const hash = new Bun.CryptoHasher('sha256');
    for await (const part of content) hash.update(part);
    sums.push(`${hash.digest('hex')}  ${name}\n`);
  }
  await Bun.write('dist/SHA256SUMS', sums.join(''));
  console.log('dist/SHA256SUMS');
  return failed;
}

/** @throws where it starts here and says something else than its version. */
function tryOut(path: string, platform: string): string {
  if (!platform.startsWith(`${process.platform}-${process.arch}`)) return 'not started: for another platform';
  try {
    const { stdout, exitCode } = Bun.spawnSync([path, 'version']);
    // The loader's own word.
    if (exitCode === 127) return 'not started: this machine lacks a library it links to';
    const said = stdout.toString().trim();
    if (exitCode !== 0 || !said.startsWith(`gatehouse ${VERSION} `))
      throw new Error(`${path} ends with ${exitCode} and says "${said}" of itself`);
    return `started: ${said}`;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return 'not started: this machine has not the loader it needs';
    throw error;
  }
}
