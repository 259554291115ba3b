/** A record as the console shows it. */
import type { AuthEvent } from './kinds.ts';

/** The address of a key's principal: no mail reaches it. */
const PLACEHOLDER = /@api-key\.invalid$/;

/** Removes the placeholder address of a key's principal. Records of earlier versions contain it. */
export function shownEvent(event: AuthEvent): AuthEvent {
  return event.email !== null && PLACEHOLDER.test(event.email) ? { ...event, email: null } : event;
}
