/** A sample of each event's data, for the catalogue and for test deliveries. Nobody has its ids. */
import type { EventData, EventType } from './event.ts';

const userId = 'usr_00041061050r3gg28a1c60t3gf';
const session = { userId, sessionId: 'ses_01kjmma2g0e4s8m1p1e5e55100' };
const byAdmin = { userId, reason: 'Asked for by the support team' };
const picture = (kind: 'avatar' | 'banner', sizes: number[]) => ({
  userId,
  url: `https://gatehouse.example.com/cdn/${kind}/sample.webp`,
  sizes,
  updatedAt: '2026-01-31T12:00:00.000Z',
});

export const EVENT_SAMPLES: { readonly [Type in EventType]: EventData[Type] } = {
  'user.signed_in': { ...session, method: 'otp', email: 'ada@example.com', isNewUser: true },
  'user.signed_out': session,
  'user.session_revoked': { ...session, reason: 'admin' },
  'user.session_expired': session,
  'user.banned': byAdmin,
  'user.unbanned': byAdmin,
  'user.paused': byAdmin,
  'user.resumed': byAdmin,
  'user.deleted': byAdmin,
  'user.restored': { ...byAdmin, status: 'banned' },
  'user.inactivated': { userId },
  'user.reactivated': { userId },
  'user.left': { userId },
  'user.role_added': { userId, roles: ['editor'], current: ['author', 'editor'] },
  'user.role_removed': { userId, roles: ['editor'], current: ['author'] },
  'user.scope_added': { userId, scopes: ['orders:write'], current: ['orders:read', 'orders:write'] },
  'user.scope_removed': { userId, scopes: ['orders:write'], current: ['orders:read'] },
  'user.membership_changed': { userId, memberships: ['team-blue'], added: ['team-blue'], removed: ['team-red'] },
  'user.profile_updated': { userId, name: 'Ada Lovelace', categories: ['identity'], changed: ['givenName'] },
  'user.username_changed': { userId, username: 'ada', previousUsername: 'countess' },
  'user.avatar_changed': picture('avatar', [64, 256]),
  'user.banner_changed': picture('banner', [600, 1500]),
  'user.identity_changed': { userId, changed: ['email'] },
};
