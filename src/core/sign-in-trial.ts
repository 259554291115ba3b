import { MINUTE } from './clock.ts';

/** How long the link of a sign-in trial can be opened, in milliseconds. */
export const TRIAL_LIFETIME_MS = 30 * MINUTE;
