/** Measurements from a process of its own, so that neither the load nor the benchmark delays them. */

export interface Probe<Report> {
  /** Returns what was measured since the last call. */
  lap(): Promise<Report>;
  stop(): Promise<Report>;
}

/** Requests that one process of Bun may have in flight: more than a stalled server collects. */
const MAX_REQUESTS = '20000';

/** Starts a script that calls `answerLaps`; resolves once it measures. */
export async function startProbe<Report>(script: string, args: readonly string[]): Promise<Probe<Report>> {
  const child = Bun.spawn([process.execPath, script, ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: MAX_REQUESTS },
  });
  const lines = linesOf(child.stdout);
  const next = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`${script} ended and measures nothing any more`);
    return value;
  };
  await next();
  const lap = async (): Promise<Report> => {
    child.stdin.write('lap\n');
    child.stdin.flush();
    return JSON.parse(await next());
  };
  return {
    lap,
    async stop() {
      const report = await lap();
      child.stdin.end();
      await child.exited;
      return report;
    },
  };
}

/** Tells the benchmark that this process measures, and reports to it until it ends. */
export async function answerLaps(report: () => object | Promise<object>): Promise<never> {
  console.log('ready');
  for await (const line of linesOf(Bun.stdin.stream())) if (line === 'lap') console.log(JSON.stringify(await report()));
  process.exit(0);
}

/** Returns the value that a share of the sorted ones does not exceed, with two digits; 0 if there is none. */
export function quantile(sorted: readonly number[], share: number): number {
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}
