/** Formats JSON log lines for a terminal: one short, aligned line each, coloured where supported. */
import { isatty } from 'node:tty';
import type { Config, Environment } from '../config.ts';
import { isColoured } from './colour.ts';
import { printable, printableLines } from './sanitize.ts';

/** @returns a function that formats each line before it is written to the descriptor. */
export function logFormat(
  { logFormat: asked, mode }: Config,
  fd: number,
  environment: Environment,
): ((line: string) => string) | null {
  const isTerminal = isatty(fd);
  const format = asked ?? (mode === 'dev' && isTerminal ? 'pretty' : 'json');
  return format === 'json' ? null : prettyLine(isColoured(isTerminal, environment));
}

const STYLES = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Style = keyof typeof STYLES;

const LEVELS: Readonly<Record<string, Style>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

type Fields = Readonly<Record<string, unknown>>;

/** @returns a formatter that leaves lines other than log records unchanged, such as start messages. */
export function prettyLine(hasColours: boolean): (line: string) => string {
  const paint = (style: Style, text: string) => (hasColours ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text);

  /** Formats an access log entry. The route has a fixed-width column, so that outliers stand out. */
  function request({ method, route, status, durationMs, principal, ip, requestId }: Fields): string {
    const code = Number(status);
    const style = code >= 500 ? 'red' : code >= 400 ? 'yellow' : 'green';
    const target = `${String(method).padEnd(6)} ${String(route)}`.padEnd(52);
    const took = `${Number(durationMs).toFixed(1)} ms`.padStart(10);
    const rest = [principal, ip, requestId].filter((part) => part != null).join(' ');
    return `${paint(style, String(status))} ${target} ${took}  ${paint('dim', rest)}`;
  }

  function message({ msg, err, ...fields }: Fields): string {
    const facts = Object.entries(fields).map(([name, value]) => `${paint('cyan', name)}=${valueText(value)}`);
    return [printable(String(msg ?? '')), ...facts].filter(Boolean).join('  ') + trace(err as Trace | undefined, paint);
  }

  function format(line: string): string {
    if (!line.startsWith('{"level":')) return line;
    let parsed: Fields;
    try {
      parsed = JSON.parse(line, (_, value: unknown) =>
        typeof value === 'string' ? printableLines(value) : value,
      ) as Fields;
    } catch {
      return line;
    }
    const { level, time, ...fields } = parsed;
    const isRequest = 'route' in fields && 'status' in fields;
    const head = `${paint('dim', clockTime(time))} ${paint(LEVELS[String(level)] ?? 'dim', String(level).toUpperCase().padEnd(5))}`;
    return `${head} ${isRequest ? request(fields) : message(fields)}\n`;
  }

  return format;
}

/** Returns the time of day in UTC, as in the JSON lines. */
function clockTime(time: unknown): string {
  return String(time).slice(11, 23);
}

function valueText(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
}

interface Trace {
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: Trace;
}

function trace(error: Trace | undefined, paint: (style: Style, text: string) => string): string {
  if (error === undefined) return '';
  if (typeof error !== 'object') return `\n    ${paint('red', printable(String(error)))}`;
  const { type = 'Error', message = '', stack = '', cause } = error;
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const head = `\n    ${paint('red', printable(`${type}: ${message}`))}`;
  return head + lines.map((line) => `\n    ${paint('dim', line.trimEnd())}`).join('') + trace(cause, paint);
}
