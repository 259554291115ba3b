/** The value that a page cookie holds for one session: its id and a secret of its own, which no application holds. */
import { isSecret } from './secret.ts';

export interface PageSecret {
  readonly sessionId: string;
  readonly token: string;
}

const SESSION_ID = /^ses_[0-9a-z]{26}$/;

/** Returns the parts of a value; null if it has another form. Says nothing of whether it was issued. */
export function pageSecretOf(value: string): PageSecret | null {
  const [sessionId = '', token = '', ...more] = value.split('.', 3);
  return more.length === 0 && SESSION_ID.test(sessionId) && isSecret('page', token) ? { sessionId, token } : null;
}

export function pageSecretText({ sessionId, token }: PageSecret): string {
  return `${sessionId}.${token}`;
}
