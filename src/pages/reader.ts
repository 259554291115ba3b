/** Finds the person signed in to an application by the cookie of its pages. */
import type { Database } from '../db/database.ts';
import type { Credentials } from '../http/authenticate.ts';
import type { SessionCookie } from '../http/session-cookie.ts';
import { findUser, type User } from '../store/people.ts';

interface ReaderDependencies {
  readonly db: Database;
  readonly cookie: SessionCookie;
  readonly credentials: Pick<Credentials, 'findSession'>;
}

/** Only reads the cookie and does not count as use; an ended session yields null. */
export function readerOfPages({ db, cookie, credentials }: ReaderDependencies) {
  return async (request: Request, clientId: string): Promise<User | null> => {
    const token = cookie.read(request, clientId);
    if (token === null) return null;
    const session = await credentials.findSession(token, db.reader);
    if (typeof session === 'string') return null;
    return (await findUser(db.reader, session.userId)) ?? null;
  };
}
