/** Events that endpoints can subscribe to, grouped and described. */
import type { webhooks } from '../../generated/api.ts';

/** Sent by a test; cannot be subscribed to. */
export const TEST_EVENT = 'webhook.test';

export type EventType = Exclude<keyof webhooks, typeof TEST_EVENT>;

const MEANINGS: Readonly<Record<EventType, string>> = {
  'user.signed_in': 'Somebody has signed in; says by which method, and whether for the first time.',
  'user.signed_out': 'Somebody has ended their session.',
  'user.session_revoked': 'A session was ended by somebody else, or with what it was made by.',
  'user.session_expired': 'A session has come to the end of its time.',
  'user.banned': 'An admin has shut somebody out for good.',
  'user.unbanned': 'A ban was lifted.',
  'user.paused': 'An admin has shut somebody out for a while.',
  'user.resumed': 'A pause is over.',
  'user.deleted': 'Somebody was deleted, or their import was forgotten: forget what you keep of them.',
  'user.restored': 'Somebody who was deleted is back.',
  'user.inactivated': 'Somebody has put their own membership to rest.',
  'user.reactivated': 'Somebody has taken up their membership again.',
  'user.left': 'Somebody has left the application.',
  'user.role_added': 'Somebody was given roles; has the full set now.',
  'user.role_removed': 'Somebody has lost roles; has the full set now.',
  'user.scope_added': 'Somebody was given scopes; has the full set now.',
  'user.scope_removed': 'Somebody has lost scopes; has the full set now.',
  'user.membership_changed': 'Somebody has joined or left groups.',
  'user.profile_updated': 'Name, languages, region, addresses or legal entities have changed; says which.',
  'user.username_changed': 'Somebody has another username.',
  'user.avatar_changed': 'Somebody has another picture.',
  'user.banner_changed': 'Somebody has another banner.',
  'user.identity_changed': 'A way to sign in has changed: e-mail address, provider or passkey.',
};

interface EventGroup {
  readonly title: string;
  readonly types: readonly EventType[];
}

export const EVENT_GROUPS: readonly EventGroup[] = [
  {
    title: 'Sessions',
    types: ['user.signed_in', 'user.signed_out', 'user.session_revoked', 'user.session_expired'],
  },
  {
    title: 'Membership',
    types: [
      'user.banned',
      'user.unbanned',
      'user.paused',
      'user.resumed',
      'user.deleted',
      'user.restored',
      'user.inactivated',
      'user.reactivated',
      'user.left',
    ],
  },
  {
    title: 'Access',
    types: [
      'user.role_added',
      'user.role_removed',
      'user.scope_added',
      'user.scope_removed',
      'user.membership_changed',
    ],
  },
  {
    title: 'Person',
    types: [
      'user.profile_updated',
      'user.username_changed',
      'user.avatar_changed',
      'user.banner_changed',
      'user.identity_changed',
    ],
  },
];

export const EVENT_TYPES: readonly EventType[] = EVENT_GROUPS.flatMap(({ types }) => types);

export const meaningOf = (type: string) =>
  type === TEST_EVENT ? 'A test, sent from here or by the API.' : MEANINGS[type as EventType];

/** Returns "All events" or "user.banned and 2 more". */
export function eventsWords(types: readonly string[]): string {
  if (types.includes('*')) return 'All events';
  const [first = '', ...more] = types;
  return more.length === 0 ? first : `${first} and ${more.length} more`;
}
