/** Load from wrk (https://github.com/wg/wrk), which must be installed: one thread a server, and a script of requests. */
import { join } from 'node:path';
import { round } from './server.ts';

export interface WrkResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Answers other than 2xx, and broken connections. */
  readonly errors: number;
  readonly bytesPerAnswer: number;
}

export interface WrkOptions {
  /** Server, or several that share the connections. */
  readonly url: string | readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** The folder of the script. */
  readonly folder: string;
  /** Lua that defines `request`. */
  readonly script: string;
  readonly headers?: readonly string[];
}

/** Values in microseconds, as wrk counts. */
const REPORT = `
  done = function(summary, latency)
    local errors = summary.errors
    print(string.format('RESULT {"requests":%d,"us":%d,"bytes":%d,"p50":%d,"p99":%d,"longest":%d,"errors":%d}',
      summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max,
      errors.connect + errors.read + errors.write + errors.status + errors.timeout))
  end`;

/** Gives each thread its server, and the globals `thread` (from 0) and `threads`. */
const setupOf = (urls: readonly string[]) => `
  local count = 0
  function setup(each)
    local ports = { ${urls.map((url) => new URL(url).port).join(', ')} }
    each:set("thread", count)
    each:set("threads", #ports)
    count = count + 1
    each.addr = wrk.lookup("127.0.0.1", ports[count])[1]
  end
`;

export async function wrk({ url, connections, seconds, folder, script, headers = [] }: WrkOptions): Promise<WrkResult> {
  const path = join(folder, 'load.lua');
  const urls = typeof url === 'string' ? [url] : url;
  await Bun.write(path, setupOf(urls) + script + REPORT);
  const options = headers.flatMap((header) => ['-H', header]);
  const child = Bun.spawn(
    [
      'wrk',
      `-t${urls.length}`,
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout',
      '60s',
      ...options,
      '-s',
      path,
      urls[0]!,
    ],
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

/**
 * Lua of a function that returns a file's lines in a loop. They are hidden from wrk's garbage collector, which would
 * scan a million of them repeatedly and block its only thread for milliseconds.
 */
export const linesFrom = (name: string, path: string) => `
  local ffi = require "ffi"
  ffi.cdef "void *malloc(size_t size); void *memchr(const void *text, int letter, size_t size);"
  local size, lines, ${name}_count
  do
    local text = io.open("${path}"):read("*a") .. "\\n"
    size = #text
    ${name}_count = select(2, text:gsub("\\n", ""))
    lines = ffi.cast("char *", ffi.C.malloc(size))
    ffi.copy(lines, text, size)
  end
  collectgarbage()
  local at = 0
  local function ${name}()
    if at == size then at = 0 end
    local line = lines + at
    local length = ffi.cast("char *", ffi.C.memchr(line, 10, size - at)) - line
    at = at + length + 1
    return ffi.string(line, length)
  end
`;
