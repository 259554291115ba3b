/** The command line: which command, with which flags and operands; anything unknown is refused with a remedy. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Flags } from '../config.ts';
import { nearestWord } from '../core/nearest-word.ts';
import type { Setting } from '../settings.ts';

/** Wrong use of the command line: exit code 2. */
export class UsageError extends Error {}

/** A setting that can be given as a flag too. */
export type FlagSetting = Setting & Required<Pick<Setting, 'flag'>>;

/** Under which headings the help lists the commands, in this order. */
export const COMMAND_GROUPS = {
  server: 'Run it',
  data: 'Look after it, on its own machine',
  remote: 'Use it, from anywhere',
  about: 'About the binary',
} as const;

/** A flag with a value that is no setting. */
export interface Option {
  /** What its value is, such as `FILE`. */
  readonly value: string;
  readonly meaning: string;
}

/** What a command takes besides its flags. */
export interface Operand {
  /** In capitals, such as `FILE`; or what is typed, where `words` are given. */
  readonly name: string;
  readonly meaning: string;
  /** It is one of these. */
  readonly words?: readonly string[];
  readonly isOptional?: boolean;
}

/** What can be typed behind `gatehouse`, with what it takes. */
export interface Command {
  /** As it is typed: a word, or several such as `backup verify`. */
  readonly name: string;
  readonly group: keyof typeof COMMAND_GROUPS;
  /** Without a full stop. */
  readonly summary: string;
  /** Settings that it takes as flags. */
  readonly settings?: readonly FlagSetting[];
  /** It reads every setting: its help lists their variables. */
  readonly takesSettings?: boolean;
  /** Flags without a value, with what each does. */
  readonly switches?: Readonly<Record<string, string>>;
  /** Flags with a value. */
  readonly options?: Readonly<Record<string, Option>>;
  readonly operands?: readonly Operand[];
  /** Lines that close its help: examples, and what to do next. */
  readonly next?: readonly string[];
  /** @returns the exit code, or nothing for a process that goes on. */
  run(flags: Flags, operands: readonly string[]): Promise<number | void> | number | void;
}

/** A command with what was typed behind it. */
export interface TypedCall {
  readonly flags: Flags;
  readonly operands: readonly string[];
}

/** The command with the longest name that the words begin with, and what follows it. */
export function findCommand(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; rest: readonly string[] } | null {
  for (let count = words.length; count > 0; count--) {
    const command = commands.find(({ name }) => name === words.slice(0, count).join(' '));
    if (command) return { command, rest: words.slice(count) };
  }
  return null;
}

/** Those whose name begins with this word. */
export function family(commands: readonly Command[], word: string): readonly Command[] {
  return commands.filter(({ name }) => name === word || name.startsWith(`${word} `));
}

/** What is said of words that are no command: what was probably meant, and where all are named. */
export function unknownCommand(commands: readonly Command[], words: readonly string[]): UsageError {
  const typed = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))];
  const first = firsts.find((word) => word === typed[0]) ?? nearestWord(typed[0] ?? '', firsts);
  const members = first === null ? [] : family(commands, first).map(({ name }) => name);
  const meant = nearestWord([first, ...typed.slice(1)].join(' '), typed.length > 1 ? members : firsts);
  const known = firsts.some((word) => word === typed[0]) ? ` ${typed[0]}` : '';
  return new UsageError(
    `There is no command "${words.join(' ')}"${meant === null || meant === typed.join(' ') ? '.' : `; did you mean "${meant}"?`} See "gatehouse help${known}".`,
  );
}

/** @throws {UsageError} */
export function parseCall(
  { name, settings = [], switches = {}, options: valued = {}, operands = [] }: Command,
  argv: readonly string[],
): TypedCall {
  const wrong = (what: string) =>
    new UsageError(`${what}${what.endsWith('?') ? '' : '.'} See "gatehouse help ${name}".`);
  const options: ParseArgsOptionsConfig = {};
  for (const { flag } of settings) options[flag.name] = { type: 'string' };
  for (const word of Object.keys(valued)) options[word] = { type: 'string' };
  for (const word of Object.keys(switches)) options[word] = { type: 'boolean' };
  let parsed: { values: object; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw wrong(wrongFlag(error as NodeJS.ErrnoException, options));
  }
  const { values, positionals } = parsed;
  for (const [index, { name: operand, words, isOptional }] of operands.entries()) {
    const given = positionals[index];
    const choices = words?.join(', ').replace(/, ([^,]*)$/, ' or $1');
    if (given === undefined && !isOptional) throw wrong(choices ? `Say which: ${choices}` : `${operand} is missing`);
    if (given !== undefined && words && !words.includes(given)) throw wrong(`Say which: ${choices}`);
  }
  const superfluous = positionals[operands.length];
  if (superfluous !== undefined) throw wrong(`Nothing is expected here: "${superfluous}"`);
  return { flags: values as Flags, operands: positionals };
}

/** What the parser says of a flag, in our words. */
function wrongFlag({ code, message }: NodeJS.ErrnoException, options: ParseArgsOptionsConfig): string {
  const [, flag = ''] = /'(?:-\w, )?(-[^' =]*)/.exec(message) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return options[flag.slice(2)]?.type === 'boolean' ? `${flag} takes no value` : `${flag} needs a value`;
  const meant = nearestWord(flag.replace(/^-+/, ''), Object.keys(options));
  return `There is no flag ${flag}${meant === null ? '' : `; did you mean --${meant}?`}`;
}
