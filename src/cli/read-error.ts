import { StartupError } from '../core/startup-error.ts';

export function readError(file: string, error: unknown): StartupError {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return new StartupError(`There is no file ${file}.`);
    case 'EISDIR':
      return new StartupError(`${file} is a folder; name a file.`);
    case 'EACCES':
      return new StartupError(`${file} is not readable by this user.`);
    default:
      return new StartupError(`${file} cannot be read (${code}).`);
  }
}
