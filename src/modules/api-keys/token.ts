/** What is kept of a key's token. */
import { hashSecret, secretPrefix } from '../../core/secret.ts';
import type { ApiKey } from '../../store/api-keys.ts';

/** All that is stored: enough to recognise it, nothing to use it by. */
export function tokenColumns(token: string): Pick<ApiKey, 'tokenHash' | 'prefix'> {
  return { tokenHash: Buffer.from(hashSecret(token)), prefix: secretPrefix(token) };
}
