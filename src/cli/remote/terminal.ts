/** The world around a command: what it prints to and asks, its environment, clock and network; injected, so that tests have another. */
import { homedir, hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { type Fetch, pause } from '../../client/exchange.ts';
import type { Environment } from '../../config.ts';
import { printable, printableLines } from '../printable.ts';
import { showLine } from '../step-line.ts';

export interface Terminal {
  readonly env: Environment;
  readonly home: string;
  readonly host: string;
  readonly platform: NodeJS.Platform;
  /** Whether people read what is printed; then `columns` is how much fits. */
  readonly isTty: boolean;
  readonly columns: number;
  /** Whether somebody is there to answer. */
  readonly canAsk: boolean;
  /** Aborted by Ctrl-C and by SIGTERM, which end the process where nobody has asked for this. */
  readonly interruption: AbortSignal;
  readonly fetch: Fetch;
  now(): number;
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves once it is written, so that a slow reader is waited for. */
  out(text: string): Promise<void>;
  /** Beside the result: progress, questions, remarks. */
  err(text: string): void;
  /** How far a long command has come, in one line that takes the place of the one before; null takes it away. */
  progress(line: string | null): void;
  ask(question: string): Promise<string>;
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
  };
}

/** A second Ctrl-C ends the process at once. */
function onSignals(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('interrupted')));
  return interrupted.signal;
}

/** The same terminal, whose remarks and questions steer nothing, whatever names and messages are in them. */
export function guarded(terminal: Terminal): Terminal {
  return Object.assign(Object.create(terminal) as Terminal, {
    err: (text: string) => terminal.err(printableLines(text)),
    progress: (line: string | null) => terminal.progress(line === null ? null : printable(line)),
    ask: (question: string) => terminal.ask(printableLines(question)),
  });
}
