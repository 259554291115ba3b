/** Entry point: reads the command line and hands over to the command; errors become one clear message. */
import { type Command, parseFlags, UsageError } from './cli/arguments.ts';
import { commandHelpText, helpText } from './cli/help.ts';
import { key } from './cli/key.ts';
import { openapi } from './cli/openapi.ts';
import { print } from './cli/print.ts';
import { serve } from './cli/serve.ts';
import { setupLink } from './cli/setup-link.ts';
import { version } from './cli/version.ts';
import { StartupError } from './core/startup-error.ts';

const COMMANDS: readonly Command[] = [serve, setupLink, key, openapi, print, version];
const HELP_WORDS = ['help', '--help', '-h'];

function commandNamed(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) throw new UsageError(`There is no command "${name}". See "gatehouse help".`);
  return command;
}

async function main(argv: readonly string[]): Promise<number | void> {
  const [name = 'help', ...rest] = argv;
  if (HELP_WORDS.includes(name)) {
    process.stdout.write(rest[0] ? commandHelpText(commandNamed(rest[0])) : helpText(COMMANDS));
    return 0;
  }
  const command = commandNamed(name === '--version' ? 'version' : name);
  if (rest.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(commandHelpText(command));
    return 0;
  }
  return command.run(parseFlags(command, rest));
}

// A reader that goes away, as in "gatehouse openapi | head", is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`gatehouse: standard output cannot be written (${error.code ?? error.message}).\n`);
  process.exit(1);
});

try {
  const exitCode = await main(process.argv.slice(2));
  if (exitCode !== undefined) process.exitCode = exitCode;
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof StartupError)) throw error;
  process.stderr.write(`gatehouse: ${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
