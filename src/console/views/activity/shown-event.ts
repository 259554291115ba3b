import type { AuthEvent } from './kinds.ts';

/** Placeholder address of a key's principal, which receives no mail. */
const PLACEHOLDER = /@api-key\.invalid$/;

/** Removes the placeholder address of a key's principal. Records of earlier versions contain it. */
export function shownEvent(event: AuthEvent): AuthEvent {
  return event.email !== null && PLACEHOLDER.test(event.email) ? { ...event, email: null } : event;
}
