/** Environment of a command: output, prompts, variables, clock, network and browser; injected, so that tests can replace it. */
import { homedir, hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { type Fetch, pause } from '../../client/exchange.ts';
import type { Environment } from '../../config.ts';
import { printable, printableLines } from '../sanitize.ts';
import { showLine } from '../progress-line.ts';

export interface Terminal {
  readonly env: Environment;
  readonly home: string;
  readonly host: string;
  readonly platform: NodeJS.Platform;
  /** Whether output is a terminal; `columns` is then its width. */
  readonly isTty: boolean;
  readonly columns: number;
  readonly canAsk: boolean;
  /** Aborted by Ctrl-C and SIGTERM. Until it is first read, these signals end the process. */
  readonly interruption: AbortSignal;
  readonly fetch: Fetch;
  now(): number;
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves once written, which applies backpressure from a slow reader. */
  out(text: string): Promise<void>;
  /** Prints progress, questions and remarks to stderr. */
  err(text: string): void;
  progress(line: string | null): void;
  ask(question: string): Promise<string>;
  /** Resolves once the person ends the input by Ctrl-D. Stops reading when the signal is aborted. */
  inputEnd(signal: AbortSignal): Promise<void>;
  /** Opens an address in the person's browser. @returns false if that failed. */
  open(url: string): Promise<boolean>;
  /** Serves requests on a free port of 127.0.0.1. @throws when none can be opened. */
  listen(answer: (request: Request) => Response): LoopbackServer;
}

export interface LoopbackServer {
  readonly port: number;
  /** Stops listening, once the last answer is sent. */
  close(): Promise<void>;
}

const USUAL_COLUMNS = 80;

export function systemTerminal(): Terminal {
  let interruption: AbortSignal | undefined;
  return {
    env: process.env,
    home: homedir(),
    host: hostname(),
    platform: process.platform,
    isTty: process.stdout.isTTY === true,
    columns: process.stdout.columns || USUAL_COLUMNS,
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    get interruption() {
      return (interruption ??= onSignals());
    },
    fetch: (url, init) => fetch(url, init),
    now: () => Date.now(),
    wait: pause,
    out: (text) => new Promise((resolve) => void process.stdout.write(text, () => resolve())),
    err: (text) => void process.stderr.write(text),
    progress: showLine,
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return (await lines.question(question)).trim();
      } finally {
        lines.close();
      }
    },
    inputEnd: (signal) =>
      new Promise((resolve) => {
        const lines = createInterface({ input: process.stdin });
        const stop = () => {
          lines.off('close', resolve);
          lines.close();
        };
        lines.once('close', resolve);
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      }),
    open: (url) => openInBrowser(process.platform, url),
    listen,
  };
}

/** Long enough for an opener that fails to end; some stay until the browser is closed. */
const OPENING_MS = 2000;

async function openInBrowser(platform: NodeJS.Platform, url: string): Promise<boolean> {
  try {
    const opener = Bun.spawn([...openerOf(platform), url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' });
    opener.unref();
    return await Promise.race([opener.exited.then((exitCode) => exitCode === 0), pause(OPENING_MS).then(() => true)]);
  } catch {
    return false;
  }
}

/** None of them is a shell, which would read the `&` of an address. */
function openerOf(platform: NodeJS.Platform): string[] {
  if (platform === 'darwin') return ['open'];
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}

const CLOSING_MS = 1000;

function listen(answer: (request: Request) => Response): LoopbackServer {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  return {
    port: Number(server.port),
    async close() {
      await Promise.race([server.stop(), pause(CLOSING_MS)]);
      await server.stop(true);
    },
  };
}

/** Aborts on the first signal; a second Ctrl-C ends the process at once. */
function onSignals(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('interrupted')));
  return interrupted.signal;
}

/** Returns the same terminal with remarks and prompts stripped of control characters. */
export function sanitized(terminal: Terminal): Terminal {
  return Object.assign(Object.create(terminal) as Terminal, {
    err: (text: string) => terminal.err(printableLines(text)),
    progress: (line: string | null) => terminal.progress(line === null ? null : printable(line)),
    ask: (question: string) => terminal.ask(printableLines(question)),
  });
}
