/** `gatehouse help`: what there is, a command's flags, and every setting. */
import { SETTINGS } from '../config.ts';
import type { Command } from './arguments.ts';

export function helpText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length), 4);
  const settingWidth = Math.max(...SETTINGS.map(({ name }) => name.length));
  return [
    'Gatehouse: sign-in and user management in one file.',
    '',
    'Usage: gatehouse COMMAND [FLAGS]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    `  ${'help'.padEnd(width)}  Show this, or "help COMMAND" for a command's flags`,
    '',
    'Settings, from the environment:',
    '',
    ...SETTINGS.map(
      ({ name, default: fallback, meaning }) =>
        `  ${name.padEnd(settingWidth)}  ${meaning.replaceAll('`', '')}${fallback ? ` Default: ${fallback.replaceAll('`', '')}.` : ''}`,
    ),
    '',
  ].join('\n');
}

export function commandHelpText({ name, summary, flagHelp }: Command): string {
  const flags = Object.entries(flagHelp);
  const width = Math.max(0, ...flags.map(([flag]) => flag.length));
  return [
    `gatehouse ${name}: ${summary}.`,
    ...(flags.length > 0 ? ['', ...flags.map(([flag, text]) => `  --${flag.padEnd(width)}  ${text}`)] : []),
    '',
  ].join('\n');
}
