import type { ErrorCode } from '../../core/error.ts';
import type { FoundCode, OAuthCode } from '../../store/oauth-codes.ts';
import type { Granted } from './answer.ts';

/** Refusals are returned rather than thrown, so that the code stays used. */
export type Exchanged =
  | ({ readonly kind: 'session' } & Granted)
  | { readonly kind: 'key'; readonly token: string }
  | { readonly kind: 'refused'; readonly reason?: ErrorCode };

/** A code after its only use. */
export type UsedCode = FoundCode & Pick<OAuthCode, 'codeHash'>;
