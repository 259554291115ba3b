/** Writes the parts of a mail server's settings as the URL that the environment would have. */
import type { StoredMailServer } from '../store/mail-servers.ts';

export type MailServerParts = Pick<StoredMailServer, 'host' | 'port' | 'tls' | 'username'> & {
  readonly password: string | null;
};

/** Returns host and port. */
export function serverAddress({ host, port }: Pick<MailServerParts, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Contains the password: never logged. */
export function smtpUrlOf({ host, port, tls, username, password }: MailServerParts): string {
  const login = username === null ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password ?? '')}@`;
  const scheme = tls === 'implicit' ? 'smtps' : 'smtp';
  const query = tls === 'optional' ? '?tls=optional' : '';
  return `${scheme}://${login}${serverAddress({ host, port })}${query}`;
}
