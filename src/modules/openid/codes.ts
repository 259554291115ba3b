/** Lifetime of an authorization code: RFC 6749 §4.1.2 recommends at most ten minutes, RFC 9700 a short one. */
import { MINUTE } from '../../core/clock.ts';

export const AUTHORIZATION_CODE_LIFETIME_MS = MINUTE;
