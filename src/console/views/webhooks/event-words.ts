/** Events that endpoints can subscribe to, grouped and described. */
import type { webhooks } from '../../generated/api.ts';

/** Sent by a test; cannot be subscribed to. */
export const TEST_EVENT = 'webhook.test';

export type EventType = Exclude<keyof webhooks, typeof TEST_EVENT>;

const MEANINGS: Readonly<Record<EventType, string>> = {
  'user.signed_in': 'Somebody signed in; includes the method, and whether it was the first time.',
  'user.signed_out': 'Somebody ended their session.',
  'user.session_revoked': 'A session was ended by somebody else, or with the key or device that created it.',
  'user.session_expired': 'A session expired.',
  'user.banned': 'An admin banned somebody.',
  'user.unbanned': 'A ban was lifted.',
  'user.paused': 'An admin paused somebody’s access.',
  'user.resumed': 'A pause ended.',
  'user.deleted': 'Somebody was deleted, or their import was forgotten: delete what you store about them.',
  'user.restored': 'Somebody who was deleted was restored.',
  'user.inactivated': 'Somebody set their own membership inactive.',
  'user.reactivated': 'Somebody reactivated their membership.',
  'user.left': 'Somebody left the application.',
  'user.role_added': 'Somebody was given roles; includes the full set.',
  'user.role_removed': 'Somebody lost roles; includes the full set.',
  'user.scope_added': 'Somebody was given scopes; includes the full set.',
  'user.scope_removed': 'Somebody lost scopes; includes the full set.',
  'user.membership_changed': 'Somebody joined or left groups.',
  'user.profile_updated': 'Name, languages, region, addresses or legal entities changed; includes which.',
  'user.username_changed': 'Somebody changed their username.',
  'user.avatar_changed': 'Somebody changed their picture.',
  'user.banner_changed': 'Somebody changed their banner.',
  'user.identity_changed': 'A sign-in method changed: e-mail address, provider or passkey.',
};

interface EventGroup {
  readonly title: string;
  readonly types: readonly EventType[];
}

export const EVENT_GROUPS: readonly EventGroup[] = [
  { title: 'Sessions', types: ['user.signed_in', 'user.signed_out', 'user.session_revoked', 'user.session_expired'] },
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
