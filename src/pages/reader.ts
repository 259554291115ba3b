/** Finds the person signed in to an application by the cookie of its pages, and whether they were blocked. */
import type { Envelope } from '../core/envelope.ts';
import type { Database } from '../db/database.ts';
import type { Credentials } from '../http/authenticate.ts';
import type { SessionCookie } from '../http/session-cookie.ts';
import { findUser, type User } from '../store/people.ts';

interface ReaderDependencies {
  readonly db: Database;
  readonly cookie: SessionCookie;
  readonly credentials: Pick<Credentials, 'findPageSession'>;
}

/** Only reads the cookie and does not count as use; an ended session yields null. */
export function readerOfPages({ db, cookie, credentials }: ReaderDependencies) {
  return async (request: Request, clientId: string): Promise<User | null> => {
    const token = cookie.read(request, clientId);
    if (token === null) return null;
    const session = await credentials.findPageSession(token, db.reader);
    if (typeof session === 'string') return null;
    return (await findUser(db.reader, session.userId)) ?? null;
  };
}

interface BlockedDependencies {
  readonly cookie: SessionCookie;
  /** Returns the live membership of any issued token, ended or not; null for an unknown token. */
  readonly look: (token: string) => Promise<{ readonly row: { readonly envelope: Pick<Envelope, 'status'> } } | null>;
}

/** Tells a member who was banned or paused from one who left: the ended session has one refusal for all. */
export function blockedOnPages({ cookie, look }: BlockedDependencies) {
  return async (request: Request, clientId: string): Promise<boolean> => {
    const token = cookie.read(request, clientId);
    const status = token === null ? undefined : (await look(token))?.row.envelope.status;
    return status === 'banned' || status === 'paused';
  };
}
