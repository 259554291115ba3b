/** The command line: which command, with which flags; anything unknown is refused with a remedy. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** Wrong use of the command line: exit code 2. */
export class UsageError extends Error {}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: ParseArgsOptionsConfig;
  /** A line for each flag. */
  readonly flagHelp: Readonly<Record<string, string>>;
  /** @returns the exit code, or nothing for a process that goes on. */
  run(flags: Record<string, string | boolean | undefined>): Promise<number | void> | number | void;
}

/** @throws {UsageError} */
export function parseFlags(command: Command, argv: readonly string[]): Record<string, string | boolean | undefined> {
  try {
    const { values } = parseArgs({ args: [...argv], options: command.flags, strict: true, allowPositionals: false });
    return values as Record<string, string | boolean | undefined>;
  } catch (error) {
    const reason = (error as Error).message.split('. ')[0]!.replace(/\.$/, '');
    throw new UsageError(`${reason}. See "gatehouse help ${command.name}".`);
  }
}

export const DATA_FLAG = { data: { type: 'string' } } as const;
export const DATA_HELP = { data: 'DIR   data folder (GATEHOUSE_DATA, default ./data)' };
