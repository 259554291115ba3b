/** Shares server lookup, common flags and error handling among the commands that use a server. */
import { type Client, createClient } from '../../client/client.ts';
import type { Flags } from '../../config.ts';
import { secondsText } from '../../core/quantities.ts';
import { StartupError } from '../../core/startup-error.ts';
import { type Command, oneOf, UsageError } from '../arguments.ts';
import { failureOfCall } from './error-line.ts';
import { APP_OPTION, type ManagedApp, findApp } from './find.ts';
import { type Paging, Show } from './show.ts';
import { findTarget, type Target, TARGET_OPTIONS } from './target.ts';
import { sanitized, systemTerminal, type Terminal } from './terminal.ts';

/** Maximum total wait per call when the server asks to retry later. */
const TIMEOUT_MS = 150_000;
const ANNOUNCED_WAIT_MS = 2000;

export interface RemoteCall {
  readonly terminal: Terminal;
  readonly show: Show;
  readonly operands: readonly string[];
  /** Resolved on first use. */
  readonly target: Target;
  readonly client: Client;
  readonly paging: Paging;
  text(flag: string): string | undefined;
  /** Returns comma-separated values. */
  list(flag: string): string[] | undefined;
  /** @throws {UsageError} */
  number(flag: string): number | undefined;
  /** @throws {UsageError} for any other word. */
  choice<const Word extends string>(flag: string, words: readonly Word[]): Word | undefined;
  isOn(flag: string): boolean;
  /** Returns the application named by `--app`, or the only one. */
  application(): Promise<ManagedApp>;
  /** Requires typing the name or word, or `--yes`. @throws {UsageError} @throws {StartupError} */
  confirm(name: string, consequence: string): Promise<void>;
}

export interface RemoteDefinition extends Omit<Command, 'group' | 'run'> {
  /** Acts on one application: takes `--app`. */
  readonly isOfApplication?: boolean;
  /** Prints a list: takes `--limit`, `--cursor` and `--all`. */
  readonly isList?: boolean;
  /** Asks before an irreversible action: takes `--yes`. */
  readonly isFinal?: boolean;
  /** Prints nothing machine-readable, so it takes no `--json`. */
  readonly isForPeople?: boolean;
  execute(call: RemoteCall): Promise<number | void>;
}

/** A command whose terminal can be injected in tests. */
export interface RemoteCommand extends Command {
  run(flags: Flags, operands: readonly string[], terminal?: Terminal): Promise<number>;
}

export function remoteCommand(definition: RemoteDefinition): RemoteCommand {
  const { isOfApplication, isList, isFinal, isForPeople, execute, ...command } = definition;
  return {
    ...command,
    group: 'remote',
    options: {
      ...definition.options,
      ...(isOfApplication && { app: APP_OPTION }),
      ...(isList && {
        limit: { value: 'N', meaning: 'Rows on a page, at most 200.' },
        cursor: { value: 'CURSOR', meaning: 'Cursor that the previous page printed.' },
      }),
      ...TARGET_OPTIONS,
    },
    switches: {
      ...definition.switches,
      ...(isList && { all: 'List all pages; with --json one line a row.' }),
      ...(isFinal && { yes: 'Skip the confirmation.' }),
      ...(!isForPeople && { json: 'Print the data as JSON.' }),
    },
    async run(flags, operands, terminal = systemTerminal()) {
      const call = callOf(flags, operands, sanitized(terminal));
      try {
        return (await execute(call)) ?? 0;
      } catch (error) {
        const failure = failureOfCall(error, targetOf(call));
        if (failure === null) throw error;
        call.show.failure(failure.data, failure.words);
        return 1;
      }
    },
  };
}

/** Returns the target for an error message. A missing target has been reported already. */
function targetOf(call: RemoteCall): Pick<Target, 'url'> & Partial<Target> {
  try {
    return call.target;
  } catch {
    return { url: call.text('url') ?? 'the server' };
  }
}

function callOf(flags: Flags, operands: readonly string[], terminal: Terminal): RemoteCall {
  let target: Target | undefined;
  let client: Client | undefined;
  const text = (flag: string) => {
    const value = flags[flag];
    return typeof value === 'string' ? value : undefined;
  };
  const isOn = (flag: string) => flags[flag] === true;
  const number = (flag: string) => {
    const given = text(flag);
    if (given !== undefined && !/^\d{1,9}$/.test(given)) throw new UsageError(`--${flag} must be a whole number.`);
    return given === undefined ? undefined : Number(given);
  };
  const call: RemoteCall = {
    terminal,
    operands,
    text,
    isOn,
    number,
    choice(flag, words) {
      const given = text(flag);
      const word = words.find((one) => one === given);
      if (given !== undefined && word === undefined) throw new UsageError(`--${flag} must be ${oneOf(words)}.`);
      return word;
    },
    show: new Show(terminal, isOn('json')),
    list(flag) {
      const given = text(flag);
      return given === undefined ? undefined : commaSeparated(given);
    },
    get target() {
      return (target ??= findTarget(terminal, { url: text('url'), keyFile: text('key-file') }));
    },
    get client() {
      const { url, key: apiKey } = this.target;
      const { fetch } = terminal;
      const wait: Terminal['wait'] = (ms, signal) => {
        if (ms >= ANNOUNCED_WAIT_MS) terminal.err(`The server asks to wait for ${secondsText(ms)} (rate limit).\n`);
        return terminal.wait(ms, signal);
      };
      return (client ??= createClient({ url, apiKey, maxWaitMs: TIMEOUT_MS, fetch, wait }));
    },
    get paging() {
      return { limit: number('limit'), cursor: text('cursor'), isAll: isOn('all') };
    },
    application: () => findApp(call.client, text('app')),
    async confirm(name, consequence) {
      if (isOn('yes')) return;
      if (!terminal.canAsk) throw new UsageError(`${consequence} There is no terminal to confirm at: add --yes.`);
      const typed = await terminal.ask(`${consequence} Type ${name} to confirm: `);
      if (typed !== name) throw new StartupError(`That was not ${name}; nothing was done.`);
    },
  };
  return call;
}

export function commaSeparated(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
