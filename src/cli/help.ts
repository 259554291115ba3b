/** `gatehouse help`: what there is, a command's flags, and every setting. */
import { ALL_SETTINGS, defaultText, type Setting } from '../settings.ts';
import type { Command } from './arguments.ts';

/** Every command and every setting. */
export function helpText(commands: readonly Command[]): string {
  return [
    'Gatehouse: sign-in and user management in one file.',
    '',
    'Usage: gatehouse COMMAND [FLAGS]',
    '',
    ...columns([
      ...commands.map(({ name, summary }) => [name, summary] as const),
      ['help', 'Show this, or "help COMMAND" for a command\'s flags'],
    ]),
    '',
    'Settings, from the environment; a flag wins:',
    '',
    ...columns(
      ALL_SETTINGS.map((setting) => [
        setting.env,
        `${explain(setting)}${setting.flag ? ` Flag: --${setting.flag.name}.` : ''}`,
      ]),
    ),
    '',
  ].join('\n');
}

/** What a command does, and its flags. */
export function commandHelpText({ name, summary, settings = [], switches = {} }: Command): string {
  const flags = [
    ...settings.map(
      (setting) =>
        [`--${setting.flag.name} ${setting.flag.value}`, `${explain(setting)} Or by ${setting.env}.`] as const,
    ),
    ...Object.entries(switches).map(([word, text]) => [`--${word}`, text] as const),
  ];
  return [
    `gatehouse ${name}: ${summary}.`,
    ...(flags.length > 0 ? ['', ...columns(flags)] : []),
    ...(settings.length > 0 ? ['', 'For what the environment sets besides, see "gatehouse help".'] : []),
    '',
  ].join('\n');
}

/** Meaning and default, as a terminal shows them. */
function explain(setting: Setting): string {
  const text = defaultText(setting, (typed) => typed);
  return `${setting.meaning.replaceAll('`', '')}${text ? ` Default: ${text}.` : ''}`;
}

function columns(rows: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
