/** `gatehouse healthcheck`: tells containers and monitors by exit code whether this machine's server is ready. */
import { loadConfig, localUrlOf, ownUrl } from '../config.ts';
import { isLoopback } from '../core/ip-address.ts';
import { findServer } from '../db/sqlite/running-server.ts';
import { SETTINGS } from '../settings.ts';
import type { Command } from './arguments.ts';

const TIMEOUT_MS = 3000;

export const healthcheck: Command = {
  name: 'healthcheck',
  group: 'data',
  summary: 'Exit with 0 if the server is ready, otherwise with 1',
  settings: [SETTINGS.dataFolder, SETTINGS.databaseUrl, SETTINGS.host, SETTINGS.port],
  next: [
    'It asks the server that runs on the data folder; with a database, the one at',
    '--host and --port. It prints nothing if the server is ready, otherwise the',
    'reason.',
  ],
  async run(flags) {
    const config = loadConfig(process.env, { flags });
    const running = config.database ? null : (findServer(config.dataFolder)?.note ?? null);
    const asked = localUrlOf(config, config.port);
    // A port or host given by flag overrides the server's note, unless both name the same address.
    const isNamed = flags['port'] !== undefined || flags['host'] !== undefined;
    const note = isNamed && running && new URL(running.localUrl).host !== new URL(asked).host ? null : running;
    const url = note?.localUrl ?? asked;
    const problem = await problemOf(url, new URL(note?.url ?? ownUrl(config, config.port)).hostname);
    if (problem === null) return 0;
    process.stderr.write(`gatehouse: ${problem}\n`);
    return 1;
  },
};

/** Returns why the server is not ready, or null when it is. @param name host name of its certificate. */
async function problemOf(url: string, name: string): Promise<string | null> {
  try {
    const response = await fetch(`${url}/readyz`, {
      redirect: 'manual',
      // A proxy from the environment applies to external hosts only.
      proxy: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // Loopback needs no certificate check: only this machine can answer there.
      tls: isLoopback(new URL(url).hostname) ? { rejectUnauthorized: false } : { serverName: name },
    } as BunFetchRequestInit);
    if (response.status === 200) return null;
    return `the server at ${url} is not ready: ${reasonIn(await response.text()) ?? `it answers ${response.status}`}`;
  } catch (error) {
    const { name: kind, message, code } = error as Error & { readonly code?: string };
    if (kind === 'TimeoutError') return `the server at ${url} does not answer within ${TIMEOUT_MS / 1000} seconds.`;
    return `no server answers at ${url} (${code ?? message}).`;
  }
}

function reasonIn(body: string): string | null {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}
