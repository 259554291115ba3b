/** The completions, run in their shells. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '@/cli/commands.ts';
import { placesOf, scriptFor } from '@/cli/completion.ts';

// Starting a shell takes long on a busy machine.
setDefaultTimeout(120_000);

/** Returns what a shell, started once, offers for the last word of each line, separated by a mark. */
type Ask = (folder: string, lines: readonly string[][]) => string;

const MARK = 'NEXT-LINE';

const CATCH_OFFERS = `
bindkey '^I' list-choices
gatehouse () { : }
compadd () {
  # Calls that only filter offer nothing.
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
  local -a hits
  builtin compadd -A hits "$@"
  print -rl -- $hits >> offers
  builtin compadd "$@"
}
`;

const ASK: Readonly<Record<'bash' | 'zsh' | 'fish', Ask>> = {
  bash: (folder, lines) => {
    const asked = lines.map((words) => {
      const line = words.map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}" ${MARK}`;
    });
    return run(folder, 'bash', ['--norc', '-c', ['. ./script', ...asked].join('\n')]);
  },
  // zsh completes only in a terminal, so it runs in a pseudo-terminal, and its offers are captured before they are
  // listed.
  zsh: (folder, lines) => {
    writeFileSync(join(folder, 'catch'), CATCH_OFFERS);
    // Typed with quotes inside, so that the echo is not mistaken for the mark.
    const say = (mark: string) => `print ${mark[0]}''${mark.slice(1)}`;
    const read = (mark: string) => `out=; while [[ $out != *${mark}* ]] && zpty -r pty part; do out+=$part; done`;
    const asked = lines.flatMap((words, at) => [
      `zpty -w pty ${JSON.stringify(words.join(' '))}$'\\t'`,
      `zpty -w pty "print ${MARK} >> offers; ${say(`DONE${at}.`)}"; ${read(`DONE${at}.`)}`,
    ]);
    const begin = `PROMPT=; autoload -Uz compinit; compinit -u -D; . ./script; . ./catch; ${say('READY')}`;
    const typed = [
      'zmodload zsh/zpty',
      'zpty pty zsh -f -i',
      `zpty -w pty ${JSON.stringify(begin)}`,
      read('READY'),
      ...asked,
      'cat offers',
    ];
    return run(folder, 'zsh', ['-fc', typed.join('\n')]);
  },
  fish: (folder, lines) => {
    const asked = lines.map((words) => `complete -C ${JSON.stringify(words.join(' '))}; echo ${MARK}`);
    return run(folder, 'fish', ['--no-config', '-c', ['source ./script', ...asked].join('\n')]);
  },
};

function run(folder: string, shell: string, args: string[]): string {
  const { stdout, stderr } = Bun.spawnSync([shell, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH']!, HOME: folder, TERM: 'dumb' },
  });
  expect(stderr.toString()).toBe('');
  // biome-ignore lint: what a terminal is told beside text.
  return stdout.toString().replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
}

const installed = Object.keys(ASK).filter((shell) => Bun.which(shell) !== null) as (keyof typeof ASK)[];

test('every command, flag and word is offered at its position', () => {
  const places = new Map(placesOf(COMMANDS).map(({ path, candidates }) => [path, candidates.map(({ word }) => word)]));
  for (const { name, options = {}, switches = {}, settings = [], operands = [] } of COMMANDS) {
    const words = name.split(' ');
    for (const [at, word] of words.entries()) expect(places.get(words.slice(0, at).join(' '))).toContain(word);
    const flags = [...Object.keys(options), ...Object.keys(switches), ...settings.map(({ flag }) => flag.name)];
    expect(places.get(name)).toEqual(
      expect.arrayContaining([...flags.map((flag) => `--${flag}`), ...operands.flatMap(({ words: own = [] }) => own)]),
    );
  }
});

describe.each(installed)('in %s', (shell) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-completion-'));
  writeFileSync(join(folder, 'script'), scriptFor(shell, COMMANDS));
  writeFileSync(join(folder, 'some-file'), '');

  test('commands, their words, flags and operands are completed', () => {
    const expected: [words: string[], offered: string[]][] = [
      [['web'], ['webhooks']],
      [['users', 'end'], ['end-sessions']],
      [
        ['users', ''],
        ['list', 'import', 'ban'],
      ],
      [['users', 'list', '--st'], ['--status']],
      [
        ['gate', 'set', ''],
        ['public', 'beta', 'closed'],
      ],
      [['users', 'list', '--key-file', 'some'], ['some-file']],
      [['users', 'import', 'some'], ['some-file']],
      [['users', 'list', '--app', ''], []],
    ];
    const answers = ASK[shell](
      folder,
      expected.map(([words]) => ['gatehouse', ...words]),
    ).split(MARK);
    rmSync(folder, { recursive: true });
    for (const [at, [words, offered]] of expected.entries()) {
      const answer = answers[at]!.split(/[\s]+/);
      expect([words, answer]).toEqual([words, expect.arrayContaining(offered)]);
      if (offered.length === 0) expect(answer).not.toContain('--status');
    }
  });
});
