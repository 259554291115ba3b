/** Load from wrk (https://github.com/wg/wrk), which must be installed: one thread, and a script that makes the requests. */
import { join } from 'node:path';
import { round } from './server.ts';

export interface WrkResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Answers other than 2xx, and connections that broke. */
  readonly errors: number;
  readonly bytesPerAnswer: number;
}

export interface WrkOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Where the script is written. */
  readonly folder: string;
  /** Lua that defines `request`. */
  readonly script: string;
  readonly headers?: readonly string[];
}

/** In microseconds, as wrk counts. */
const REPORT = `
  done = function(summary, latency)
    local errors = summary.errors
    print(string.format('RESULT {"requests":%d,"us":%d,"bytes":%d,"p50":%d,"p99":%d,"longest":%d,"errors":%d}',
      summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max,
      errors.connect + errors.read + errors.write + errors.status + errors.timeout))
  end`;

export async function wrk({ url, connections, seconds, folder, script, headers = [] }: WrkOptions): Promise<WrkResult> {
  const path = join(folder, 'load.lua');
  await Bun.write(path, script + REPORT);
  const options = headers.flatMap((header) => ['-H', header]);
  const child = Bun.spawn(
    ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '60s', ...options, '-s', path, url],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const output = await new Response(child.stdout).text();
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk did not come to its end: ${output}`);
  const result = JSON.parse(line) as Record<'requests' | 'us' | 'bytes' | 'p50' | 'p99' | 'longest' | 'errors', number>;
  return {
    requests: result.requests,
    requestsPerSecond: round(result.requests / (result.us / 1e6)),
    p50Ms: round(result.p50 / 1000, 2),
    p99Ms: round(result.p99 / 1000, 2),
    longestMs: round(result.longest / 1000, 2),
    errors: result.errors,
    bytesPerAnswer: round(result.bytes / result.requests),
  };
}

/** Lua that reads a file's lines into a table. */
export const linesFrom = (name: string, path: string) =>
  `local ${name} = {}
   for line in io.lines("${path}") do ${name}[#${name} + 1] = line end\n`;
