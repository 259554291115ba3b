/** The sentence of an activity row: who did what to what. */
import { describe, expect, test } from 'bun:test';
import type { AuthEvent } from '@/console/views/activity/kinds.ts';
import { filterOfId, narrowingsOf } from '@/console/views/activity/narrowings.ts';
import { sentenceInWords, whoInWords, whoOf } from '@/console/views/activity/sentences.ts';

const EVENT: AuthEvent = {
  id: 'aud_1',
  applicationId: 'app_1',
  kind: 'signin.succeeded',
  ok: true,
  userId: 'usr_ada',
  userName: 'Ada Lovelace',
  email: 'ada@example.com',
  actorType: 'anonymous',
  actorUserId: null,
  actorApiKeyId: null,
  actorName: null,
  targetId: null,
  targetName: null,
  requestId: 'req_1',
  ip: null,
  ipCountry: null,
  detail: null,
  createdAt: '2026-11-22T10:00:00.000Z',
};
const sentence = (given: Partial<AuthEvent>) => {
  const event = { ...EVENT, ...given };
  return `${whoInWords(event)} | ${sentenceInWords(event)}`;
};
const byKey = { actorType: 'key', actorUserId: 'usr_key', actorApiKeyId: 'key_1', actorName: 'Deploy' } as const;
const byGrace = { actorType: 'user', actorUserId: 'usr_grace', actorName: 'Grace Hopper' } as const;

describe('a row', () => {
  test('names the actor, and the object or person acted on', () => {
    const onKey = { userId: null, userName: null, email: null, targetId: 'key_2', targetName: 'Shop backend' };
    expect(sentence({ ...byKey, ...onKey, kind: 'apikey.rotated' })).toBe('Key Deploy | Rotated API key Shop backend');
    expect(sentence({ ...byGrace, kind: 'user.banned' })).toBe('Grace Hopper | Banned Ada Lovelace');
    expect(sentence({ ...byGrace, kind: 'user.banned', userName: null })).toBe('Grace Hopper | Banned ada@example.com');
    expect(sentence({ actorType: 'system', kind: 'mail.expired' })).toBe('Gatehouse | Mailed Ada Lovelace in vain');
  });

  test('says nothing of the person where they acted on themselves', () => {
    const oneself = { actorType: 'user', actorUserId: 'usr_ada' } as const;
    expect(sentence({ ...oneself, kind: 'passkey.added' })).toBe('Ada Lovelace | Added a passkey');
    expect(sentence({ ...byGrace, kind: 'passkey.added' })).toBe('Grace Hopper | Added a passkey of Ada Lovelace');
  });

  test('shows the address alone until it is proved whose it is', () => {
    expect(sentence({})).toBe('Ada Lovelace | Signed in');
    expect(whoOf(EVENT).note).toBe('ada@example.com');
    expect(sentence({ kind: 'signin.code_refused', ok: false })).toBe('ada@example.com | Entered a wrong sign-in code');
  });

  test('has words for whoever has no name any more', () => {
    const nobody = { actorName: null, userId: null, userName: null, email: null };
    expect(sentence({ ...byKey, ...nobody, kind: 'role.deleted' })).toBe('Key without a name | Deleted role');
    expect(sentence({ ...byGrace, ...nobody, kind: 'role.assigned' })).toBe('Former member | Changed roles of a user');
    expect(sentence({ ...EVENT, ...nobody, kind: 'new.kind' })).toBe('Somebody not signed in | New kind');
  });

  test('says which and how many, from what the record holds', () => {
    const said: readonly (readonly [kind: AuthEvent['kind'], detail: object, sentence: string])[] = [
      ['role.assigned', { added: ['editor'], removed: [] }, 'Changed roles of Ada Lovelace: added editor'],
      [
        'scope.assigned',
        { added: ['a', 'b'], removed: ['c', 'd', 'e', 'f'] },
        'Changed scopes of Ada Lovelace: added a and b, removed c, d and 2 more',
      ],
      ['role.assigned', { added: [], removed: [] }, 'Changed roles of Ada Lovelace'],
      [
        'user.updated',
        { fields: ['username', 'externalId'] },
        'Changed the record of Ada Lovelace: username and external id',
      ],
      ['session.revoked', { revoked: 3 }, 'Ended 3 sessions of Ada Lovelace'],
      [
        'user.imported',
        { requested: 2000, created: 1900, linked: 40, skipped: 60 },
        'Imported 1,940 users of 2,000 rows',
      ],
      ['user.imported', {}, 'Imported users'],
      ['user.bulk_changed', { action: 'ban' }, 'Banned all users that match'],
      ['user.bulk_changed', { action: 'ban', changed: 1940 }, 'Banned 1,940 users'],
      ['user.bulk_changed', { action: 'unban', changed: 1, undoOf: 'blk_1' }, 'Unbanned 1 user to undo a change'],
      ['user.bulk_changed', { roles: { add: ['editor'] }, changed: 12 }, 'Changed roles of 12 users: added editor'],
      ['application.gate_changed', { from: 'open', to: 'closed' }, 'Changed the sign-in gate from open to closed'],
      ['role.assigned', { added: ['{user}'], removed: [] }, 'Changed roles of Ada Lovelace: added user'],
    ];
    for (const [kind, detail, expected] of said)
      expect(sentence({ ...byGrace, kind, detail: { ...detail } })).toBe(`Grace Hopper | ${expected}`);
    const onWebhook = { kind: 'webhook.replayed', targetName: 'crm.example', detail: { replayed: 12 } } as const;
    expect(sentence({ ...byGrace, ...onWebhook })).toBe(
      'Grace Hopper | Sent 12 failed events of webhook crm.example again',
    );
    const oneself = { actorType: 'user', actorUserId: 'usr_ada' } as const;
    expect(sentence({ ...oneself, kind: 'session.revoked', detail: { revoked: 1 } })).toBe(
      'Ada Lovelace | Ended 1 session',
    );
  });

  test('offers its parts as filters', () => {
    const filters = narrowingsOf({ ...EVENT, ...byKey, targetId: 'ses_1' }).map(({ filter }) => filter);
    expect(filters).toEqual(['actorApiKeyId', 'userId', 'requestId']);
  });
});

test('a whole id in the search is a filter, and other text is not', () => {
  const id = (prefix: string) => `${prefix}_01kat1h5ppe3bv2d9g3wq5r1xm`;
  expect(['usr', 'key', 'req', 'whk'].map((prefix) => filterOfId(id(prefix)))).toEqual([
    'userId',
    'actorApiKeyId',
    'requestId',
    'targetId',
  ]);
  expect([filterOfId('ada@example.com'), filterOfId('usr_'), filterOfId('key_1 ')]).toEqual([null, null, null]);
});
