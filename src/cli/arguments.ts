/** The command line: which command, with which flags; anything unknown is refused with a remedy. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Flags } from '../config.ts';
import type { Setting } from '../settings.ts';

/** Wrong use of the command line: exit code 2. */
export class UsageError extends Error {}

/** A setting that can be given as a flag too. */
export type FlagSetting = Setting & Required<Pick<Setting, 'flag'>>;

/** One word of the command line, with what it takes. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Settings that it takes as flags. */
  readonly settings?: readonly FlagSetting[];
  /** It reads every setting: its help lists their variables. */
  readonly takesSettings?: boolean;
  /** Flags without a value, with what each does. */
  readonly switches?: Readonly<Record<string, string>>;
  /** It takes one of these words as well, which it gets as `word`. */
  readonly words?: readonly string[];
  /** @returns the exit code, or nothing for a process that goes on. */
  run(flags: Flags): Promise<number | void> | number | void;
}

/** @throws {UsageError} */
export function parseFlags(
  { name, settings = [], switches = {}, words = [] }: Command,
  argv: readonly string[],
): Flags {
  const options: ParseArgsOptionsConfig = {};
  for (const { flag } of settings) options[flag.name] = { type: 'string' };
  for (const word of Object.keys(switches)) options[word] = { type: 'boolean' };
  try {
    const allowPositionals = words.length > 0;
    const { values, positionals } = parseArgs({ args: [...argv], options, strict: true, allowPositionals });
    if (!allowPositionals) return values as Flags;
    const [word, another] = positionals;
    return { ...(values as Flags), word: another === undefined ? word : undefined };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('. ');
    throw new UsageError(`${reason.replace(/\.$/, '')}. See "gatehouse help ${name}".`);
  }
}
