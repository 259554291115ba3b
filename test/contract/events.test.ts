/** Checks the catalogue of events against the contract. */
import { describe, expect, test } from 'bun:test';
import type { TObject } from '@sinclair/typebox';
import { EVENT_SCHEMAS, EVENT_TYPES, type EventType } from '@/core/event.ts';

const CONTRACT = {
  Session: ['user.signed_in', 'user.signed_out', 'user.session_revoked', 'user.session_expired'],
  'Admin lifecycle': ['user.banned', 'user.unbanned', 'user.paused', 'user.resumed', 'user.deleted', 'user.restored'],
  'Self lifecycle': ['user.inactivated', 'user.reactivated', 'user.left'],
  'Role / scope / membership': [
    'user.role_added',
    'user.role_removed',
    'user.scope_added',
    'user.scope_removed',
    'user.membership_changed',
  ],
  Profile: [
    'user.profile_updated',
    'user.username_changed',
    'user.avatar_changed',
    'user.banner_changed',
    'user.identity_changed',
  ],
};

describe('the catalogue', () => {
  test('has exactly the 23 types of the contract', () => {
    const types = Object.values(CONTRACT).flat();
    expect(types).toHaveLength(23);
    expect([...(EVENT_TYPES as string[])].sort()).toEqual([...types].sort());
    expect(Object.keys(EVENT_SCHEMAS)).toEqual(EVENT_TYPES);
  });

  test('has the person in every payload, and the fields named by the contract and the decisions', () => {
    const fields = (type: EventType) => {
      const { properties, required = [] } = EVENT_SCHEMAS[type] as TObject;
      return Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
    };
    const byAdmin = ['userId', 'reason?'];
    const image = ['userId', 'url', 'sizes', 'updatedAt'];
    expect(Object.fromEntries(EVENT_TYPES.map((type) => [type, fields(type)]))).toEqual({
      'user.signed_in': ['userId', 'sessionId', 'method', 'email', 'isNewUser', 'externalId?'],
      'user.signed_out': ['userId', 'sessionId'],
      'user.session_revoked': ['userId', 'sessionId', 'reason'],
      'user.session_expired': ['userId', 'sessionId'],
      'user.banned': byAdmin,
      'user.unbanned': byAdmin,
      'user.paused': byAdmin,
      'user.resumed': byAdmin,
      'user.deleted': [...byAdmin, 'forgotten?'],
      'user.restored': [...byAdmin, 'status?'],
      'user.inactivated': ['userId'],
      'user.reactivated': ['userId'],
      'user.left': ['userId'],
      'user.role_added': ['userId', 'roles', 'current'],
      'user.role_removed': ['userId', 'roles', 'current'],
      'user.scope_added': ['userId', 'scopes', 'current'],
      'user.scope_removed': ['userId', 'scopes', 'current'],
      'user.membership_changed': ['userId', 'memberships', 'added', 'removed'],
      'user.profile_updated': ['userId', 'name', 'categories', 'changed?', 'externalId?'],
      'user.username_changed': ['userId', 'username', 'previousUsername'],
      'user.avatar_changed': image,
      'user.banner_changed': image,
      'user.identity_changed': ['userId', 'changed'],
    });
  });
});
