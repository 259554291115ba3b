/**
 * Measures how long others wait: GET /healthz every 5 ms on a separate connection in a separate process, so that
 * neither load nor benchmark delays it. As a script it measures until its input ends: bun test/bench/waits.ts URL PID
 */
import { readFileSync } from 'node:fs';
import { answerLaps, type Probe, quantile, startProbe } from './probe.ts';

const EVERY_MS = 5;

export interface Waits {
  readonly requests: number;
  readonly longestMs: number;
  /**
   * The longest wait minus the time for which the server was ready but had no CPU: the wait that the server itself
   * causes on a shared machine.
   */
  readonly longestByServerMs: number;
  readonly p99Ms: number;
  /** The largest delay of the measuring process itself, which the machine adds. */
  readonly ownDelayMs: number;
}

/** Returns the longest wait, with the server's own part in brackets. */
export const inWords = ({ longestMs, longestByServerMs }: Waits): string => `${longestMs} ms (${longestByServerMs} ms)`;

export interface Watched {
  readonly url: string;
  readonly pid: number;
}

/** Begins to measure; resolves once the first answer has arrived. */
export function watch({ url, pid }: Watched): Promise<Probe<Waits>> {
  return startProbe(import.meta.path, [url, String(pid)]);
}

/** Measures during the work. */
export async function whileWatched<Result>(
  server: Watched,
  work: () => Promise<Result>,
): Promise<{ result: Result; waits: Waits }> {
  const others = await watch(server);
  const result = await work().catch(async (error: unknown) => {
    await others.stop();
    throw error;
  });
  return { result, waits: await others.stop() };
}

/** Returns how long a process's first thread has been ready without a CPU so far, in milliseconds. Linux only. */
function starvedMs(pid: string): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

async function measure(url: URL, pid: string): Promise<void> {
  const request = `GET /healthz HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;
  let taken: number[] = [];
  let byServer = 0;
  let askedAt = 0;
  let starvedBefore = 0;
  let ownDelay = 0;
  let answered: (() => void) | null = null;
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data() {
        note();
        answered?.();
      },
      close() {
        // The server has stopped; the waits until then are known.
        answered?.();
      },
    },
  });

  function note(): void {
    const waited = performance.now() - askedAt;
    taken.push(waited);
    if (waited > byServer) byServer = Math.max(byServer, waited - (starvedMs(pid) - starvedBefore));
  }

  function report(): Waits {
    // A pending request counts as a wait too.
    if (answered !== null) note();
    const sorted = taken.toSorted((left, right) => left - right);
    const waits: Waits = {
      requests: sorted.length,
      longestMs: quantile(sorted, 1),
      longestByServerMs: Number(byServer.toFixed(2)),
      p99Ms: quantile(sorted, 0.99),
      ownDelayMs: Number(ownDelay.toFixed(2)),
    };
    taken = [];
    byServer = 0;
    ownDelay = 0;
    return waits;
  }

  async function ask(): Promise<void> {
    const answer = Promise.withResolvers<void>();
    answered = answer.resolve;
    starvedBefore = starvedMs(pid);
    askedAt = performance.now();
    socket.write(request);
    await answer.promise;
    answered = null;
  }

  await ask();
  taken = [];
  byServer = 0;
  void answerLaps(report);
  while (socket.readyState > 0) {
    const dueAt = performance.now() + EVERY_MS;
    await Bun.sleep(EVERY_MS);
    ownDelay = Math.max(ownDelay, performance.now() - dueAt);
    await ask();
  }
}

if (import.meta.main) await measure(new URL(process.argv[2]!), process.argv[3]!);
