/** `gatehouse help`: what there is, on one screen; a command's flags, and the settings it reads, in 80 columns. */
import { ALL_SETTINGS, defaultText, SETTING_GROUPS, type Setting } from '../settings.ts';
import type { Command } from './arguments.ts';

const TERMINAL_COLUMNS = 80;
/** What is longer on the left stands on a line of its own. */
const WIDEST_LEFT = 22;

type Row = readonly [left: string, right: string];

/** Every command, and where to read on. */
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
    'To try it:    gatehouse serve --dev',
    'Settings:     gatehouse help serve',
    '',
  ].join('\n');
}

/** What a command does, its flags, and the variables that it reads. */
export function commandHelpText(command: Command): string {
  const { name, summary, settings = [], switches = {}, takesSettings = false } = command;
  const flags = [
    ...settings.map(
      (setting) =>
        [`--${setting.flag.name} ${setting.flag.value}`, `${explain(setting)} Or by ${setting.env}.`] as const,
    ),
    ...Object.entries(switches).map(([word, text]) => [`--${word}`, text] as const),
  ];
  return [
    ...wrapped(`gatehouse ${name}: ${summary}.`, TERMINAL_COLUMNS),
    ...(flags.length > 0 ? ['', ...columns(flags)] : []),
    ...(takesSettings ? variables() : []),
    ...(settings.length > 0 && !takesSettings
      ? ['', 'For what the environment sets besides, see "gatehouse help serve".']
      : []),
    '',
  ].join('\n');
}

/** Every setting by its variable, in groups. */
function variables(): string[] {
  const groups = Object.entries(SETTING_GROUPS).map(([group, title]) => ({
    title,
    rows: ALL_SETTINGS.filter((setting) => setting.group === group).map(
      (setting) => [setting.env, explain(setting)] as const,
    ),
  }));
  return [
    '',
    'From the environment; a flag wins over its variable:',
    ...groups.flatMap(({ title, rows }) => ['', `${title}:`, ...columns(rows)]),
  ];
}

/** Meaning and default, as a terminal shows them. */
function explain(setting: Setting): string {
  const text = defaultText(setting, (typed) => typed);
  return `${setting.meaning.replaceAll('`', '')}${text ? ` Default: ${text}.` : ''}`;
}

function columns(rows: readonly Row[]): string[] {
  const width = Math.min(WIDEST_LEFT, Math.max(...rows.map(([left]) => left.length)));
  const indent = ' '.repeat(width + 4);
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrapped(right, TERMINAL_COLUMNS - indent.length);
    const below = rest.map((line) => `${indent}${line}`);
    return left.length > width
      ? [`  ${left}`, `${indent}${first}`, ...below]
      : [`  ${left.padEnd(width)}  ${first}`, ...below];
  });
}

/** Lines of at most so many characters, broken between words. */
function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
