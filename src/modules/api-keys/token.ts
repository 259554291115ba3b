import { hashSecret, secretPrefix } from '../../core/secret.ts';
import type { ApiKey } from '../../store/api-keys.ts';

/** Returns a token's hash and its prefix, which identify the token but cannot be used as one. */
export function tokenColumns(token: string): Pick<ApiKey, 'tokenHash' | 'prefix'> {
  return { tokenHash: Buffer.from(hashSecret(token)), prefix: secretPrefix(token) };
}
