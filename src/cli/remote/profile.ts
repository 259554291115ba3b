/** Stores this user's logins in a file readable only by them, in the platform's configuration folder. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import type { Terminal } from './terminal.ts';

export interface Login {
  readonly url: string;
  readonly key: string;
  readonly who: string;
}

/** Stored logins; the last one is the default when no server is named. */
export interface StoredLogins {
  readonly logins: readonly Login[];
}

export function profilePath({ env, home, platform }: Pick<Terminal, 'env' | 'home' | 'platform'>): string {
  return join(configurationFolder({ env, home, platform }), 'gatehouse', 'credentials.json');
}

function configurationFolder({ env, home, platform }: Pick<Terminal, 'env' | 'home' | 'platform'>): string {
  // The XDG specification requires ignoring relative paths.
  const named = env['XDG_CONFIG_HOME'];
  if (named?.startsWith('/')) return named;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return join(home, '.config');
}

/** @throws {StartupError} when other users can read the file, or it is malformed. */
export function readProfile(terminal: Terminal): StoredLogins {
  const path = profilePath(terminal);
  let text: string;
  try {
    const mode = statSync(path).mode & 0o777;
    if (terminal.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new StartupError(
        `Others can read ${path} (mode ${mode.toString(8)}), so it is not used. Run: chmod 600 "${path}". ` +
          'Where somebody may have read it, log in again.',
      );
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { logins: [] };
    if (error instanceof StartupError) throw error;
    throw new StartupError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  const logins = loginsIn(text);
  if (logins === null) throw new StartupError(`${path} cannot be understood. Delete it and log in again.`);
  return { logins };
}

function loginsIn(text: string): Login[] | null {
  try {
    const { logins } = JSON.parse(text) as { logins?: unknown };
    return Array.isArray(logins) && logins.every(isLogin) ? logins : null;
  } catch {
    return null;
  }
}

function isLogin(value: unknown): value is Login {
  const login = value as Partial<Record<keyof Login, unknown>> | null;
  return [login?.url, login?.key, login?.who].every((part) => typeof part === 'string');
}

export function findLogin({ logins }: StoredLogins, url: string | undefined): Login | undefined {
  return url === undefined ? logins.at(-1) : logins.find((login) => login.url === url);
}

/** Replaces the login at the same server and makes it the default. @throws {StartupError} */
export function storeLogin(terminal: Terminal, login: Login): void {
  const others = readProfile(terminal).logins.filter(({ url }) => url !== login.url);
  writeProfile(terminal, { logins: [...others, login] });
}

/** @throws {StartupError} */
export function removeLogin(terminal: Terminal, { url }: Pick<Login, 'url'>): void {
  const logins = readProfile(terminal).logins.filter((login) => login.url !== url);
  if (logins.length > 0) writeProfile(terminal, { logins });
  else rmSync(profilePath(terminal), { force: true });
}

/** Writes a temporary file and renames it, so that a crash leaves no partial file. */
function writeProfile(terminal: Terminal, profile: StoredLogins): void {
  const path = profilePath(terminal);
  const folder = dirname(path);
  const beside = join(folder, `.credentials.${randomUUID()}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (terminal.platform !== 'win32') chmodSync(folder, 0o700);
    const file = openSync(beside, 'wx', 0o600);
    try {
      writeSync(file, `${JSON.stringify(profile, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new StartupError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
