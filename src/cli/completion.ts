/** `gatehouse completion`: generates shell completion scripts from the declarations of the commands. */
import type { Command } from './arguments.ts';

interface Place {
  readonly path: string;
  readonly candidates: readonly Candidate[];
}

interface Candidate {
  readonly word: string;
  readonly meaning: string;
  /** Placeholder of the flag's value, such as `FILE`. */
  readonly value?: string;
}

const FILES = ['FILE', 'DIR', 'FOLDER', 'PATH'];
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** @param commands returns all commands, including this one. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    group: 'about',
    summary: 'Print the completion script of a shell',
    operands: [{ name: 'SHELL', meaning: 'bash, zsh or fish.', words: SHELLS }],
    next: [
      'In bash: source <(gatehouse completion bash)',
      'In zsh:  source <(gatehouse completion zsh), after compinit',
      'In fish: gatehouse completion fish | source',
      '',
      'Next: put that line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.',
    ],
    run(_flags, [shell = '']) {
      process.stdout.write(scriptFor(shell as Shell, commands()));
      return 0;
    },
  };
}

export function scriptFor(shell: Shell, commands: readonly Command[]): string {
  const places = placesOf(commands);
  if (shell === 'bash') return bash(places);
  return shell === 'zsh' ? zsh(places) : fish(places);
}

/** Groups candidates by command path, `''` for the root. A family without its own command lists its members' words. */
export function placesOf(commands: readonly Command[]): readonly Place[] {
  const places = new Map<string, Map<string, Candidate>>();
  const add = (path: string, candidate: Candidate) => {
    const known = places.get(path) ?? new Map<string, Candidate>();
    if (!known.has(candidate.word)) known.set(candidate.word, candidate);
    places.set(path, known);
  };
  for (const command of commands) {
    const words = command.name.split(' ');
    for (const [at, word] of words.entries()) {
      const isWhole = at === words.length - 1;
      const meaning = isWhole ? command.summary : `${word}: its commands`;
      add(words.slice(0, at).join(' '), { word, meaning });
    }
    for (const [word, option] of Object.entries(command.options ?? {}))
      add(command.name, { word: `--${word}`, meaning: option.meaning, value: option.value });
    for (const { flag, meaning } of command.settings ?? [])
      add(command.name, { word: `--${flag.name}`, meaning, value: flag.value });
    for (const [word, meaning] of Object.entries(command.switches ?? {}))
      add(command.name, { word: `--${word}`, meaning });
    for (const operand of command.operands ?? []) {
      for (const word of operand.words ?? []) add(command.name, { word, meaning: operand.meaning });
      if (FILES.includes(operand.name)) add(command.name, { word: '', meaning: operand.meaning, value: operand.name });
    }
    add(command.name, { word: '--help', meaning: 'Help of the command.' });
  }
  add('', { word: 'help', meaning: 'Help of all commands.' });
  return [...places].map(([path, candidates]) => ({ path, candidates: [...candidates.values()] }));
}

const flagsWithFile = (places: readonly Place[]) => flagsWhere(places, (value) => FILES.includes(value));
const flagsWithText = (places: readonly Place[]) => flagsWhere(places, (value) => !FILES.includes(value));

function flagsWhere(places: readonly Place[], isOne: (value: string) => boolean): string[] {
  const flags = places.flatMap(({ candidates }) =>
    candidates.flatMap(({ word, value }) => (word && value !== undefined && isOne(value) ? [word] : [])),
  );
  return [...new Set(flags)];
}

const takesFile = ({ candidates }: Place) => candidates.some(({ word }) => word === '');
const wordsOf = ({ candidates }: Place) => candidates.filter(({ word }) => word !== '');
const never = (flags: readonly string[]) => flags.join('|') || '--';
/** Quotes text for all three shells, cut between words to at most 59 characters. */
const quoted = (text: string) =>
  `'${text
    .replace(/^(.{0,58}\S)(?:\s.*)?$/s, '$1')
    .replace(/[.;:]$/, '')
    .replace(/['`\\]/g, '’')}'`;

/** Finds the longest command path in the words typed; the rest are operands. */
const WALK = (places: readonly Place[], words: string) => `
  local place='' word
  for word in ${words}; do
    case "\${place:+$place }$word" in
${places
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${path}') place='${path}' ;;`)
  .join('\n')}
    esac
  done`;

function bash(places: readonly Place[]): string {
  return `# Completion of gatehouse for bash; made by "gatehouse completion bash".
_gatehouse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=''
  COMPREPLY=()
  case "$before" in
    ${never(flagsWithFile(places))}) COMPREPLY=( $(compgen -f -- "$current") ); return ;;
    ${never(flagsWithText(places))}) return ;;
  esac${WALK(places, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "$place" in
${places
  .map((place) => {
    const words = wordsOf(place).map(({ word }) => word);
    const files = takesFile(place) ? ' COMPREPLY=( $(compgen -f -- "$current") )' : '';
    return `    '${place.path}') words='${words.join(' ')}'${files ? `;${files}` : ''} ;;`;
  })
  .join('\n')}
  esac
  COMPREPLY+=( $(compgen -W "$words" -- "$current") )
}
complete -o filenames -F _gatehouse gatehouse
`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef gatehouse
# Completion of gatehouse for zsh; made by "gatehouse completion zsh".
_gatehouse() {
  local before="\${words[CURRENT-1]}"
  case "$before" in
    ${never(flagsWithFile(places))}) _files; return ;;
    ${never(flagsWithText(places))}) return ;;
  esac${WALK(places, '"${(@)words[2,CURRENT-1]}"')}
  local -a candidates
  case "$place" in
${places
  .map((place) => {
    const words = wordsOf(place).map(({ word, meaning }) => quoted(`${word}:${meaning}`));
    return `    '${place.path}') candidates=(${words.join(' ')})${takesFile(place) ? '; _files' : ''} ;;`;
  })
  .join('\n')}
  esac
  _describe 'gatehouse' candidates
}
if [ "$funcstack[1]" = "_gatehouse" ]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const at = `-n "__gatehouse_at '${place.path}'"`;
    const files = takesFile(place) ? [`complete -c gatehouse ${at} -F`] : [];
    return [
      ...files,
      ...wordsOf(place).map(({ word, meaning, value }) => {
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
        const needs = value === undefined ? '' : FILES.includes(value) ? ' -r -F' : ' -x';
        return `complete -c gatehouse ${at} ${what}${needs} -d ${quoted(meaning)}`;
      }),
    ];
  });
  return `# Completion of gatehouse for fish; made by "gatehouse completion fish".
function __gatehouse_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$place $word")
    switch $next
      case ${places
        .filter(({ path }) => path !== '')
        .map(({ path }) => `'${path}'`)
        .join(' ')}
        set place $next
    end
  end
  test "$place" = "$argv[1]"
end
complete -c gatehouse -f
${lines.join('\n')}
`;
}
