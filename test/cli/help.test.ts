/** The help of every command, as shown in a terminal. */
import { describe, expect, test } from 'bun:test';
import { COMMAND_GROUPS, family } from '@/cli/arguments.ts';
import { COMMANDS } from '@/cli/commands.ts';
import { commandHelpText, familyHelpText, helpText } from '@/cli/help.ts';
import { ALL_SETTINGS, SETTING_GROUPS } from '@/settings.ts';

const COLUMNS = 80;
/** One screen, with a few lines for the command itself. */
const LINES = 42;

const tooLong = (text: string) => text.split('\n').filter((line) => line.length > COLUMNS);
const families = [...new Set(COMMANDS.map(({ name }) => name.split(' ')[0]!))];

describe('help', () => {
  test('names every family under its heading, on one screen', () => {
    const text = helpText(COMMANDS);
    for (const word of families) expect(text).toMatch(new RegExp(`^  ${word} +\\S`, 'm'));
    for (const title of Object.values(COMMAND_GROUPS)) expect(text).toContain(`\n${title}:\n`);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(LINES);
    expect(tooLong(text)).toEqual([]);
  });

  test.each(families)('the help of %s names each of its commands', (word) => {
    const members = family(COMMANDS, word);
    const text = familyHelpText(word, members);
    for (const { name } of members) expect(text).toContain(`  ${name}`);
    expect(tooLong(text)).toEqual([]);
  });
});

describe.each(COMMANDS.map((command) => [command.name, command] as const))('the help of %s', (name, command) => {
  const text = commandHelpText(command);

  test('fits 80 columns and names every operand and flag', () => {
    expect(text).toStartWith(`gatehouse ${name}`);
    expect(tooLong(text)).toEqual([]);
    expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
    for (const flag of [...Object.keys(command.options ?? {}), ...Object.keys(command.switches ?? {})])
      expect(text).toContain(`--${flag}`);
    for (const operand of command.operands ?? []) expect(text).toContain(`  ${operand.name}`);
  });

  test('takes no secret in a flag, which the process list would show', () => {
    for (const flag of Object.keys(command.options ?? {}))
      expect(flag).not.toMatch(/(?:^|-)(?:key|secret|token|password)$/);
  });
});

test('the help of serve lists every setting', () => {
  const text = commandHelpText(COMMANDS.find(({ name }) => name === 'serve')!);
  for (const { env } of ALL_SETTINGS) expect(text).toMatch(new RegExp(`^  ${env}(?:  |$)`, 'm'));
  for (const title of Object.values(SETTING_GROUPS)) expect(text).toContain(`\n${title}:\n`);
});
