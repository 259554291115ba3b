/** Parses the command line into command, flags and operands; refuses anything unknown and suggests the nearest name. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Flags } from '../config.ts';
import { nearestWord } from '../core/nearest-word.ts';
import type { Setting } from '../settings.ts';

/** Wrong use of the command line: exit code 2. */
export class UsageError extends Error {}

/** A setting that can be given as a flag too. */
export type FlagSetting = Setting & Required<Pick<Setting, 'flag'>>;

/** Titles of the command groups in the help, in display order. */
export const COMMAND_GROUPS = {
  server: 'Server',
  data: 'Maintenance, on the server’s machine',
  remote: 'Management, from anywhere',
  about: 'About the binary',
} as const;

/** A flag that takes a value and is not a setting. */
export interface Option {
  /** Placeholder of the value, such as `FILE`. */
  readonly value: string;
  readonly meaning: string;
}

export interface Operand {
  /** Placeholder in capitals, such as `FILE`; a label when `words` lists the accepted values. */
  readonly name: string;
  readonly meaning: string;
  readonly words?: readonly string[];
  readonly isOptional?: boolean;
}

export interface Command {
  /** One word, or several such as `backup verify`. */
  readonly name: string;
  readonly group: keyof typeof COMMAND_GROUPS;
  /** Has no full stop. */
  readonly summary: string;
  readonly settings?: readonly FlagSetting[];
  /** The command reads every setting, so its help lists their environment variables. */
  readonly takesSettings?: boolean;
  /** Flags without a value, each with its description. */
  readonly switches?: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, Option>>;
  readonly operands?: readonly Operand[];
  /** Closing lines of the command's help: examples and next steps. */
  readonly next?: readonly string[];
  /** @returns the exit code; nothing for a process that keeps running. */
  run(flags: Flags, operands: readonly string[]): Promise<number | void> | number | void;
}

export interface TypedCall {
  readonly flags: Flags;
  readonly operands: readonly string[];
}

/** Finds the command with the longest name that the words start with, and returns the remaining words. */
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

export function family(commands: readonly Command[], word: string): readonly Command[] {
  return commands.filter(({ name }) => name === word || name.startsWith(`${word} `));
}

/** Returns the error for an unknown command: the likely intended one, and where to list all. */
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
    const choices = words && oneOf(words);
    if (given === undefined && !isOptional) throw wrong(choices ? `Say which: ${choices}` : `${operand} is missing`);
    if (given !== undefined && words && !words.includes(given)) throw wrong(`Say which: ${choices}`);
  }
  const superfluous = positionals[operands.length];
  if (superfluous !== undefined) throw wrong(`Unexpected argument: "${superfluous}"`);
  return { flags: values as Flags, operands: positionals };
}

/** Lists words as an alternative: `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** Translates an error of Node's argument parser into our wording. */
function wrongFlag({ code, message }: NodeJS.ErrnoException, options: ParseArgsOptionsConfig): string {
  const [, flag = ''] = /'(?:-\w, )?(-[^' =]*)/.exec(message) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return options[flag.slice(2)]?.type === 'boolean' ? `${flag} takes no value` : `${flag} needs a value`;
  const meant = nearestWord(flag.replace(/^-+/, ''), Object.keys(options));
  return `There is no flag ${flag}${meant === null ? '' : `; did you mean --${meant}?`}`;
}
