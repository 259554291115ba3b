/** Finds the text of a setting: its flag, its variable, or for a secret the file that `…_FILE` names. */
import { readFileSync } from 'node:fs';
import { fileVariable, type Setting } from './settings.ts';

/** Command-line flags by name; a setting's flag overrides its variable. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingText {
  /** Trimmed; empty if none is given. */
  readonly text: string;
  readonly isGiven: boolean;
  /** Names that a problem of the text begins with. */
  readonly source: string;
  /** Why the text could not be found; begins with a variable. */
  readonly problem: string | null;
}

/** Returns a setting's names, as its problems begin. */
export function settingName({ env, flag }: Setting): string {
  return flag ? `${env} (--${flag.name})` : env;
}

export function settingText(setting: Setting, environment: Environment, flags: Flags): SettingText {
  const { env, flag } = setting;
  const source = settingName(setting);
  const ofFlag = flag && flags[flag.name];
  const given = ofFlag ?? environment[env];
  const text = typeof given === 'string' ? given.trim() : '';
  const file = fileVariable(setting);
  const path = file === null ? '' : (environment[file]?.trim() ?? '');
  if (file === null || path === '' || ofFlag !== undefined)
    return { text, isGiven: text !== '', source, problem: null };
  if (text !== '') return { text, isGiven: true, source, problem: `${file}: give it or ${env}, not both.` };
  return { ...secretIn(path, file), isGiven: true, source: file };
}

function secretIn(path: string, file: string): { text: string; problem: string | null } {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return { text, problem: text === '' ? `${file}: give a file that is not empty.` : null };
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return { text: '', problem: `${file}: give a file that this user can read (${code}).` };
  }
}
