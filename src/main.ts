/** Entry point: reads the command line and hands over to the command; errors become one clear message. */
import { family, findCommand, parseCall, unknownCommand, UsageError } from './cli/arguments.ts';
import { COMMANDS } from './cli/commands.ts';
import { commandHelpText, familyHelpText, helpText } from './cli/help.ts';
import { commandFailureText } from './cli/failure.ts';
import { StartupError } from './core/startup-error.ts';

const HELP_WORDS = ['help', '--help', '-h'];
const isHelp = (word: string) => word === '--help' || word === '-h';

/** Returns the help of one command, of a family of commands, or of all. @throws {UsageError} */
function helpFor(words: readonly string[]): string {
  const [word] = words;
  if (word === undefined || (word === 'help' && words.length === 1)) return helpText(COMMANDS);
  const found = findCommand(COMMANDS, words);
  if (found && found.rest.length === 0) return commandHelpText(found.command);
  const members = family(COMMANDS, word);
  if (members.length > 0 && words.length === 1) return familyHelpText(word, members);
  throw unknownCommand(COMMANDS, words);
}

async function main(argv: readonly string[]): Promise<number | void> {
  const [name = 'help', ...rest] = argv;
  const words = [name === '--version' ? 'version' : name, ...rest];
  if (HELP_WORDS.includes(name)) {
    process.stdout.write(helpFor(rest.filter((word) => !isHelp(word))));
    return 0;
  }
  const found = findCommand(COMMANDS, words);
  if (rest.some(isHelp) || !found) {
    const text = helpFor(found ? found.command.name.split(' ') : words.filter((word) => !isHelp(word)));
    // A family's name alone asks for its help; an unknown word after it is an error.
    if (!found && rest.some((word) => !isHelp(word))) throw unknownCommand(COMMANDS, words);
    process.stdout.write(text);
    return 0;
  }
  const { flags, operands } = parseCall(found.command, found.rest);
  return found.command.run(flags, operands);
}

// A reader that closes early, as in "gatehouse openapi | head", is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`gatehouse: standard output cannot be written (${error.code ?? error.message}).\n`);
  process.exit(1);
});

try {
  const exitCode = await main(process.argv.slice(2));
  if (exitCode !== undefined) process.exitCode = exitCode;
} catch (error) {
  const { AppError } = await import('./core/error.ts');
  // The disk refused the command's write, or another process has locked the database.
  const isRefused = error instanceof AppError && error.code === 'unavailable';
  if (!(error instanceof UsageError) && !(error instanceof StartupError) && !isRefused) throw error;
  const code = error instanceof UsageError ? 'usage' : error instanceof AppError ? error.code : 'failed';
  const isJson = process.argv.includes('--json');
  process.stderr.write(commandFailureText({ error: code, message: error.message }, isJson));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
