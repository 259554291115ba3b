/** Finds the session of a page cookie's value. */
import { equalDigests } from '../../core/instance-key.ts';
import { pageSecretOf } from '../../core/page-secret.ts';
import { hashSecret } from '../../core/secret.ts';
import type { Reader } from '../../db/database.ts';
import { findPageTokenHash } from '../../store/page-sessions.ts';
import { findSessionSubjectById } from '../../store/verification.ts';
import type { SessionSubject, Subjects } from './subject.ts';

/** Returns undefined unless the value has the session's present page secret. */
export async function findPageSubject(
  reader: Reader,
  value: string,
  ofSession: Subjects['ofSession'],
): Promise<SessionSubject | undefined> {
  const secret = pageSecretOf(value);
  if (secret === null) return undefined;
  const hash = await findPageTokenHash(reader, secret.sessionId);
  if (!hash || !equalDigests(hash, hashSecret(secret.token))) return undefined;
  return findSessionSubjectById(reader, secret.sessionId, ofSession);
}
