/** Explains why a server cannot listen, with the remedy for the operator. */
import { isIP } from 'node:net';
import { StartupError } from '../core/startup-error.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Codes for another machine's address. For a name that does not resolve, Bun reports whichever code was set last. */
const NOT_OURS = ['EADDRNOTAVAIL', 'EINVAL', 'ENOTFOUND'];

export function listenError({ host, port }: Address, cause: unknown): StartupError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const another = 'choose another with --port or --host.';
  const sentence =
    code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is in use already; ${another}`
      : code === 'EACCES' || code === 'EPERM'
        ? `This user may not listen on port ${port}; choose one from 1024 on with --port, and put a reverse proxy before it.`
        : NOT_OURS.includes(code ?? '') || isIP(host) === 0
          ? `${host} is no address of this machine; give --host one that is, or 0.0.0.0 for all.`
          : `Port ${port} on ${host} cannot be had (${message}); ${another}`;
  return new StartupError(sentence, { cause });
}
