/** `gatehouse help`: an overview of all commands on one screen, and the details of each, in 80 columns. */
import { ALL_SETTINGS, defaultText, SETTING_GROUPS, type Setting } from '../settings.ts';
import { type Command, COMMAND_GROUPS } from './arguments.ts';
import { wrapText } from './wrap.ts';

const TERMINAL_COLUMNS = 80;
/** A longer left cell gets a line of its own. */
const WIDEST_LEFT = 22;
const FAMILY_COLUMNS = 60;

type Row = readonly [left: string, right: string];

export function helpText(commands: readonly Command[]): string {
  const groups = Object.entries(COMMAND_GROUPS).map(([group, title]) => ({
    title,
    rows: familyRows(commands.filter((command) => command.group === group)),
  }));
  return [
    'Gatehouse: sign-in and user management in one file.',
    '',
    'Usage: gatehouse COMMAND [FLAGS]',
    ...groups.flatMap(({ title, rows }) => (rows.length > 0 ? ['', `${title}:`, ...columns(rows)] : [])),
    '',
    'Try it: gatehouse serve --dev',
    'More:   gatehouse help COMMAND; the settings, gatehouse help serve',
    '',
  ].join('\n');
}

export function commandHelpText(command: Command): string {
  const { name, summary, settings = [], switches = {}, options = {}, takesSettings = false } = command;
  const { operands = [], next = [] } = command;
  const flags = [
    ...operands.map(({ name: operand, meaning }) => [operand, meaning] as const),
    ...Object.entries(options).map(([word, { value, meaning }]) => [`--${word} ${value}`, meaning] as const),
    ...settings.map(
      (setting) =>
        [`--${setting.flag.name} ${setting.flag.value}`, `${explain(setting)} Or set ${setting.env}.`] as const,
    ),
    ...Object.entries(switches).map(([word, text]) => [`--${word}`, text] as const),
  ];
  const typed = [name, ...operands.map(({ name: operand, isOptional }) => (isOptional ? `[${operand}]` : operand))];
  return [
    ...wrapText(`gatehouse ${typed.join(' ')}: ${summary}.`, TERMINAL_COLUMNS),
    ...(flags.length > 0 ? ['', ...columns(flags)] : []),
    ...(takesSettings ? variables() : []),
    ...(settings.length > 0 && !takesSettings ? ['', 'For all settings, see "gatehouse help serve".'] : []),
    ...(next.length > 0 ? ['', ...next] : []),
    '',
  ].join('\n');
}

export function familyHelpText(word: string, commands: readonly Command[]): string {
  return [
    `Usage: gatehouse ${word} COMMAND [FLAGS]`,
    '',
    ...columns(commands.map(({ name, summary }) => [name, summary] as const)),
    '',
    `More: gatehouse help ${word} COMMAND`,
    '',
  ].join('\n');
}

/** Returns a row per family: its head command's summary, or the words that follow if it has no head. */
function familyRows(commands: readonly Command[]): Row[] {
  const families = Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? name);
  return [...families].map(([word, members]) => {
    const head = members.find(({ name }) => name === word);
    const others = members.filter((member) => member !== head).map(({ name }) => name.slice(word.length + 1));
    if (!head) return [word, asManyAsFit(others)];
    return [word, others.length > 0 ? `${head.summary}; also: ${others.join(', ')}` : head.summary];
  });
}

/** Cuts the list to one line; the family's own help names all of them. */
function asManyAsFit(words: readonly string[]): string {
  const all = words.join(', ');
  return all.length <= FAMILY_COLUMNS ? all : `${all.slice(0, FAMILY_COLUMNS).replace(/,[^,]*$/, '')}, …`;
}

function variables(): string[] {
  const groups = Object.entries(SETTING_GROUPS).map(([group, title]) => ({
    title,
    rows: ALL_SETTINGS.filter((setting) => setting.group === group).map(
      (setting) => [setting.env, explain(setting)] as const,
    ),
  }));
  return [
    '',
    'Environment variables; a flag overrides its variable. A secret can be in a file',
    'that its variable with _FILE behind the name gives:',
    ...groups.flatMap(({ title, rows }) => ['', `${title}:`, ...columns(rows)]),
  ];
}

function explain(setting: Setting): string {
  const text = defaultText(setting, (typed) => typed);
  return `${setting.meaning.replaceAll('`', '')}${text ? ` Default: ${text}.` : ''}`;
}

function columns(rows: readonly Row[]): string[] {
  const width = Math.min(WIDEST_LEFT, Math.max(...rows.map(([left]) => left.length)));
  const indent = ' '.repeat(width + 4);
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrapText(right, TERMINAL_COLUMNS - indent.length);
    const below = rest.map((line) => `${indent}${line}`);
    return left.length > width
      ? [`  ${left}`, `${indent}${first}`, ...below]
      : [`  ${left.padEnd(width)}  ${first}`, ...below];
  });
}
