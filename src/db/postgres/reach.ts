/** Reaches the primary at a start: waits while it is away, and explains what only the operator can change. */
import type { SQL } from 'bun';
import { readFileSync } from 'node:fs';
import { deadlineIn } from '../../core/deadline.ts';
import { AppError } from '../../core/error.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { PostgresAddress } from './address.ts';
import { type ConnectOptions, connectPrimary } from './clients.ts';
import { isAway, sqlState } from './errors.ts';

const RETRY_MS = 500;

export interface Patience {
  /** Longest wait for a server that is away. */
  readonly waitMs: number;
  /** Called once, before the wait. */
  onWaiting(reason: string): void;
}

/** Returns the driver's options of an address. @throws {StartupError} if its certificate authority cannot be read. */
export function connectOptions({ urls, sslRootCert, isBouncer }: PostgresAddress): Omit<ConnectOptions, 'lanes'> {
  if (sslRootCert === null) return { urls, tls: undefined, isBouncer };
  try {
    return { urls, tls: { ca: readFileSync(sslRootCert, 'utf8') }, isBouncer };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartupError(`${sslRootCert} cannot be read (${code}). Correct sslrootcert in GATEHOUSE_DATABASE_URL.`, {
      cause,
    });
  }
}

/** Connects to the primary. @throws {StartupError} with the remedy, after the wait where the server is away */
export async function reachPrimary(address: PostgresAddress, { waitMs, onWaiting }: Patience): Promise<SQL> {
  const options = connectOptions(address);
  const deadline = deadlineIn(waitMs);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await connectPrimary(options, 1)).client;
    } catch (error) {
      const refusal = refusalOf(error, address);
      if (refusal !== null) throw refusal;
      if (!isAway(error)) throw error;
      const reason = reasonOf(error);
      if (deadline.remainingMs() === 0)
        throw new StartupError(
          `The database at ${address.shown} is away: ${reason}. Start it, or correct GATEHOUSE_DATABASE_URL.`,
          { cause: error },
        );
      if (attempt === 1) onWaiting(reason);
      await Bun.sleep(Math.min(RETRY_MS, deadline.remainingMs()));
    }
  }
}

/** Explains the loss of a server that a start had reached; returns other errors unchanged. */
export function lostDuringStart(error: unknown, { shown }: PostgresAddress): unknown {
  if (!isAway(error)) return error;
  return new StartupError(`The database at ${shown} was lost during the start: ${reasonOf(error)}. Start again.`, {
    cause: error,
  });
}

function reasonOf(error: unknown): string {
  const { message } = (error instanceof AppError && error.cause !== undefined ? error.cause : error) as Error;
  return message.replace(/\.$/, '');
}

/** Returns why the server refuses this client, with the remedy; null for other errors. */
function refusalOf(cause: unknown, { shown, isBouncer }: PostgresAddress): StartupError | null {
  const { code, message } = cause as { readonly code?: unknown; readonly message: string };
  const refusal = (text: string) => new StartupError(text, { cause });
  const database = shown.slice(shown.indexOf('/') + 1);
  switch (sqlState(cause)) {
    case '28P01':
    case '28000':
      return refusal(
        `The database refuses the sign-in: ${message}. Correct user or password in GATEHOUSE_DATABASE_URL.`,
      );
    case '3D000':
      return refusal(`There is no such database. Create it: createdb --encoding UTF8 --template template0 ${database}`);
    case '42501':
      return refusal(`The user may not connect: ${message}. Run: GRANT CONNECT ON DATABASE ${database} TO its role;`);
    case '08P01':
      return isBouncer
        ? null
        : refusal(`${shown} refuses the connection: ${message}. Behind PgBouncer, add ?pgbouncer=true to the URL.`);
  }
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE')
    return refusal(`${shown} offers no TLS. Turn it on there, or set sslmode=disable for a network that you trust.`);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return refusal(`The certificate of ${shown} is for another name. Give that name, or set sslmode=verify-ca.`);
  if (typeof code === 'string' && /CERT|LEAF_SIGNATURE|SELF_SIGNED/.test(code))
    return refusal(`The certificate of ${shown} is not trusted (${code}). Name its authority by sslrootcert=FILE.`);
  return null;
}
