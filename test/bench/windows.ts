/** Windows of load that alternate between servers, so that all of them share what else the machine does. */
import { cpuMs, round } from './server.ts';
import { wrk } from './wrk.ts';

/** Results of one window of load. */
export interface Window {
  readonly requestsPerSecond: number;
  /** Processor time of the server per request, in microseconds. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** Lua that defines `request`. */
  readonly script: string;
  readonly windows: Window[];
  stop(): Promise<unknown>;
}

export interface WindowOptions {
  readonly seconds: number;
  readonly connections: number;
  /** The folder of the script. */
  readonly folder: string;
}

/** Shorter answers are refusals. */
const MIN_BYTES = 600;

/** @throws if a request was refused: refusals are cheap, and some are answered with 200 too. */
export async function measure({ name, url, pid, script }: Contestant, options: WindowOptions): Promise<Window> {
  const before = cpuMs(pid);
  const result = await wrk({ url, script, ...options });
  const cpuUs = ((cpuMs(pid) - before) / result.requests) * 1000;
  const { requestsPerSecond, p50Ms, p99Ms, errors, bytesPerAnswer } = result;
  if (errors > 0 || bytesPerAnswer < MIN_BYTES) throw new Error(`${name} refuses: ${JSON.stringify(result)}`);
  return { requestsPerSecond, cpuUs, p50Ms, p99Ms };
}

/** Warms up every server, and measures them in turn. */
export async function measureInTurn(
  contestants: readonly Contestant[],
  rounds: number,
  { warmUpSeconds, ...options }: WindowOptions & { readonly warmUpSeconds: number },
): Promise<void> {
  for (const one of contestants) await measure(one, { ...options, seconds: warmUpSeconds });
  for (let turn = 0; turn < rounds; turn += 1)
    for (const one of contestants) one.windows.push(await measure(one, options));
}

export function medians(windows: readonly Window[]): Window {
  const median = (of: keyof Window) =>
    windows.map((window) => window[of]).toSorted((left, right) => left - right)[windows.length >> 1] ?? NaN;
  return {
    requestsPerSecond: round(median('requestsPerSecond')),
    cpuUs: round(median('cpuUs'), 1),
    p50Ms: round(median('p50Ms'), 2),
    p99Ms: round(median('p99Ms'), 2),
  };
}
