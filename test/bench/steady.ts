/**
 * Verifies sessions at a fixed rate on each of several servers, from a process of its own. A request is sent when it is
 * due, answered or not what was sent before, so that a stall counts for every request that it delays.
 * Measures until its input ends, if run as a script: bun test/bench/steady.ts PER_SECOND KEY TOKENS_FILE URL…
 */
import { readFileSync } from 'node:fs';
import { answerLaps, type Probe, quantile, startProbe } from './probe.ts';

export interface SteadyWaits {
  readonly requests: number;
  /** Answers that did not confirm the session, and broken connections. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

export interface SteadyReport {
  /** In the order of the servers. */
  readonly servers: readonly SteadyWaits[];
  /** The longest delay of a request by the measuring process itself, which the machine adds. */
  readonly ownDelayMs: number;
}

export interface SteadyOptions {
  readonly perSecond: number;
  readonly key: string;
  /** Path of a file with a token of a session a line, used in turn. */
  readonly tokensFile: string;
  readonly urls: readonly string[];
}

export function verifySteadily({ perSecond, key, tokensFile, urls }: SteadyOptions): Promise<Probe<SteadyReport>> {
  return startProbe(import.meta.path, [String(perSecond), key, tokensFile, ...urls]);
}

/** Requests of one lap to one server. */
interface Sent {
  readonly taken: number[];
  refused: number;
  readonly pending: Promise<void>[];
}

async function measure([perSecond = '', key = '', tokensFile = '', ...urls]: readonly string[]): Promise<void> {
  const tokens = readFileSync(tokensFile, 'utf8').split('\n');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const everyMs = 1000 / Number(perSecond);
  const none = (): Sent[] => urls.map(() => ({ taken: [], refused: 0, pending: [] }));
  let sent = none();
  let ownDelay = 0;

  async function verify(url: string, turn: number, lap: Sent): Promise<void> {
    const body = JSON.stringify({ token: tokens[turn % tokens.length] });
    const since = performance.now();
    const answer = await fetch(`${url}/api/v1/verify`, { method: 'POST', headers, body })
      .then((response) => response.text())
      .catch(() => '');
    lap.taken.push(performance.now() - since);
    if (!answer.includes('"success":true')) lap.refused += 1;
  }

  /** Reports the requests sent since the last lap, once all of them are answered. */
  async function report(): Promise<SteadyReport> {
    const [lap, ownDelayMs] = [sent, ownDelay];
    sent = none();
    ownDelay = 0;
    await Promise.all(lap.flatMap(({ pending }) => pending));
    const servers = lap.map(({ taken, refused }) => {
      const sorted = taken.toSorted((left, right) => left - right);
      const [p50Ms, p99Ms, longestMs] = [quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(sorted, 1)];
      return { requests: sorted.length, refused, p50Ms, p99Ms, longestMs };
    });
    return { servers, ownDelayMs: Number(ownDelayMs.toFixed(2)) };
  }

  void answerLaps(report);
  const startedAt = performance.now();
  for (let turn = 0; ; turn += 1) {
    const dueAt = startedAt + turn * everyMs;
    await Bun.sleep(Math.max(0, dueAt - performance.now()));
    ownDelay = Math.max(ownDelay, performance.now() - dueAt);
    for (const [index, lap] of sent.entries()) lap.pending.push(verify(urls[index]!, turn, lap));
  }
}

if (import.meta.main) await measure(process.argv.slice(2));
