/** Parsing of command lines by the commands' declarations. */
import { describe, expect, test } from 'bun:test';
import { type Command, family, findCommand, parseCall, unknownCommand, UsageError } from '@/cli/arguments.ts';

const command = (name: string, others: Partial<Command> = {}): Command => ({
  name,
  group: 'remote',
  summary: 'Does it',
  run: () => 0,
  ...others,
});

const COMMANDS = [command('backup'), command('backup verify'), command('users list'), command('users show')];

describe('a command', () => {
  test.each([
    [['backup'], 'backup', []],
    [['backup', 'FILE'], 'backup', ['FILE']],
    [['backup', 'verify', 'FILE'], 'backup verify', ['FILE']],
    [['users', 'list', '--q', 'a'], 'users list', ['--q', 'a']],
  ])('the words %j find the longest matching command', (words, name, rest) => {
    const found = findCommand(COMMANDS, words);
    expect([found?.command.name, found?.rest]).toEqual([name, rest]);
  });

  test.each([[['users']], [['list']], [[]]])('the words %j find no command', (words) => {
    expect(findCommand(COMMANDS, words)).toBeNull();
  });

  test('belongs to the family of its whole first word', () => {
    expect(family(COMMANDS, 'users').map(({ name }) => name)).toEqual(['users list', 'users show']);
    expect(family(COMMANDS, 'user')).toEqual([]);
  });
});

test.each([
  ['bakcup', '"bakcup"; did you mean "backup"? See "gatehouse help".'],
  ['user list', '"user list"; did you mean "users list"? See "gatehouse help".'],
  ['users shwo --json', '"users shwo --json"; did you mean "users show"? See "gatehouse help users".'],
  ['users fly', '"users fly". See "gatehouse help users".'],
  ['fly', '"fly". See "gatehouse help".'],
  ['--bogus', '"--bogus". See "gatehouse help".'],
])('the unknown command %s is refused with the probable name', (typed, said) => {
  expect(unknownCommand(COMMANDS, typed.split(' ')).message).toBe(`There is no command ${said}`);
});

describe('the arguments', () => {
  const one = command('copy', {
    switches: { force: 'Do it.' },
    options: { name: { value: 'NAME', meaning: 'Whose.' } },
    operands: [
      { name: 'HOW', meaning: 'How.', words: ['fast', 'slow', 'not at all'] },
      { name: 'FILE', meaning: 'Where.', isOptional: true },
    ],
  });

  test('are read in any order', () => {
    const expected = { flags: { force: true, name: 'Ada' }, operands: ['fast', 'file'] };
    expect(parseCall(one, ['fast', '--force', '--name', 'Ada', 'file'])).toEqual(expected);
    expect(parseCall(one, ['--name=Ada', 'fast', 'file', '--force'])).toEqual(expected);
    expect(parseCall(one, ['slow'])).toEqual({ flags: {}, operands: ['slow'] });
    expect(parseCall(one, ['--', 'slow', '--force']).operands).toEqual(['slow', '--force']);
  });

  test.each([
    [[], 'Say which: fast, slow or not at all.'],
    [['quick'], 'Say which: fast, slow or not at all.'],
    [['fast', 'a', 'b'], 'Unexpected argument: "b".'],
    [['fast', '--bogus'], 'There is no flag --bogus.'],
    [['fast', '--nmae', 'Ada'], 'There is no flag --nmae; did you mean --name?'],
    [['fast', '--nonesuch=given'], 'There is no flag --nonesuch.'],
    [['fast', '--name'], '--name needs a value.'],
    [['fast', '--name', '--force'], '--name needs a value.'],
    [['fast', '--force=yes'], '--force takes no value.'],
    [['fast', '-f'], 'There is no flag -f.'],
  ])('arguments like %j are refused with the command’s help', (argv, problem) => {
    const refused = (() => {
      try {
        return parseCall(one, argv);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(UsageError);
    expect((refused as Error).message).toContain(problem);
    expect((refused as Error).message).toEndWith('See "gatehouse help copy".');
  });

  test('are refused if none are declared', () => {
    expect(() => parseCall(command('key'), ['extra'])).toThrow('Unexpected argument: "extra".');
    expect(parseCall(command('key'), [])).toEqual({ flags: {}, operands: [] });
  });
});
