/** Messages of live streams that show the present state, and reasons of ends. */
import type { Envelope } from '../../core/envelope.ts';
import type { DomainEvent, EventType, ShownEvent } from '../../core/event.ts';
import { eventMessage } from '../../http/event-stream.ts';
import type { EventNotice } from '../../store/events.ts';

export const KEY_ENDED = 'key_ended';

type Message = (identity: Envelope) => Uint8Array;

const roles: Message = ({ roles }) => eventMessage('roles', { roles });
const scopes: Message = ({ scopes }) => eventMessage('scopes', { scopes });
const memberships: Message = ({ memberships }) => eventMessage('memberships', { memberships });
const profile: Message = (identity) => eventMessage('profile', identity);

/** Everything that a stream shows. */
export const ALL_MESSAGES: readonly Message[] = [roles, scopes, memberships, profile];

/** The message with the present state of what an event has changed; none for events that end something. */
export const MESSAGE_AFTER: { readonly [Type in string]?: Message } = {
  'user.role_added': roles,
  'user.role_removed': roles,
  'user.scope_added': scopes,
  'user.scope_removed': scopes,
  'user.membership_changed': memberships,
  'user.profile_updated': profile,
  'user.username_changed': profile,
  'user.avatar_changed': profile,
  'user.banner_changed': profile,
  'user.identity_changed': profile,
} satisfies { readonly [Type in EventType]?: Message };

/** Reason of the end of sessions, for events that end some and carry none. */
export const REASON_OF: { readonly [Type in string]?: string } = {
  'user.signed_out': 'signed_out',
  'user.session_expired': 'expired',
  'user.banned': 'banned',
  'user.paused': 'paused',
  'user.deleted': 'deleted',
  'user.inactivated': 'inactivated',
  'user.left': 'left',
} satisfies { readonly [Type in EventType]?: string };

/** Removes duplicates: a change that both adds and removes makes two events with the same outcome. */
export function lastOfEach(events: readonly ShownEvent[]): ShownEvent[] {
  const said = new Set<string>();
  const isNew = ({ type, applicationId, data }: ShownEvent) => {
    if (!('current' in data)) return true;
    const outcome = [type.replace(/_(?:added|removed)$/, ''), applicationId, data.userId, ...data.current].join(' ');
    return !said.has(outcome) && said.add(outcome);
  };
  return events.toReversed().filter(isNew).toReversed();
}

/** Leaves out notices with the message of a later one: it shows the present state. */
export function lastNotices(notices: readonly EventNotice[]): EventNotice[] {
  const said = new Set<string>();
  const isNew = ({ type, applicationId, userId }: EventNotice) => {
    const message = MESSAGE_AFTER[type];
    if (!message) return true;
    const key = `${applicationId} ${userId} ${ALL_MESSAGES.indexOf(message)}`;
    return !said.has(key) && said.add(key);
  };
  return notices.toReversed().filter(isNew).toReversed();
}

export function endReasonOf(
  event: Extract<DomainEvent, { type: 'user.signed_out' | 'user.session_revoked' | 'user.session_expired' }>,
) {
  if (event.type === 'user.session_revoked') return event.data.reason;
  return event.type === 'user.signed_out' ? 'signed_out' : 'expired';
}
