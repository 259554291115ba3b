/** Lifetimes of short-lived records in milliseconds, by which their expiry is corrected when the clock steps. */
import { DAY } from '../core/clock.ts';
import type { ShortLived } from '../store/expiry-correction.ts';
import { UNDO_DAYS } from './account/email-undo.ts';
import { CODE_LIFETIME_MS } from './codes/code-challenge.ts';
import { GRANT_LIFETIME_MS } from './devices/authorization.ts';
import { AUTHORIZATION_CODE_LIFETIME_MS } from './openid/codes.ts';
import { CHALLENGE_LIFETIME_MS } from './passkeys/challenges.ts';
import { STATE_LIFETIME_MS } from './provider/states.ts';
import { LINK_LIFETIME_MS } from './setup/service.ts';

export const LIFETIMES: Readonly<Record<ShortLived, number>> = {
  code_challenges: CODE_LIFETIME_MS,
  passkey_challenges: CHALLENGE_LIFETIME_MS,
  provider_states: STATE_LIFETIME_MS,
  device_grants: GRANT_LIFETIME_MS,
  email_changes: UNDO_DAYS * DAY,
  oauth_codes: AUTHORIZATION_CODE_LIFETIME_MS,
  setup_links: LINK_LIFETIME_MS,
};
