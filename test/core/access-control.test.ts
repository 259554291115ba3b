import { describe, expect, test } from 'bun:test';
import { type Access, type ConsoleRole, type KeyPrincipal, type SessionPrincipal } from '@/core/principal.ts';
import { applicationAccess, workspaceAccess } from '@/core/access-control.ts';

const OURS = { id: 'app_1', workspaceId: 'wsp_1' };
const SIBLING = { id: 'app_2', workspaceId: 'wsp_1' };
const FOREIGN = { id: 'app_3', workspaceId: 'wsp_2' };
const CONSOLE = { id: 'app_0', workspaceId: null };

const key = (access: Access, scope: Partial<KeyPrincipal>): KeyPrincipal => ({
  kind: 'key',
  keyId: 'key_1',
  userId: 'usr_1',
  workspaceId: 'wsp_1',
  applicationId: null,
  applicationIds: null,
  access,
  perMinute: 1,
  perDay: 1,
  ...scope,
});

const session = (...workspaces: [workspaceId: string, role: ConsoleRole][]): SessionPrincipal => ({
  kind: 'session',
  sessionId: 'ses_1',
  isOfPage: false,
  userId: 'usr_1',
  profileId: 'usr_1',
  applicationId: 'app_0',
  applicationUserId: 'apu_1',
  isConsole: workspaces.length > 0,
  workspaceId: null,
  identity: {} as SessionPrincipal['identity'],
  workspaces: workspaces.map(([workspaceId, role]) => ({ workspaceId, role })),
});

describe('accessTo', () => {
  for (const access of ['read', 'full'] as const)
    test.each([
      // scope, ours, sibling, foreign
      ['an application key', { applicationId: 'app_1' }, access, null, null],
      ['a workspace key', {}, access, access, null],
      ['a workspace key for a subset', { applicationIds: ['app_1'] }, access, null, null],
      ['a workspace key for an empty subset', { applicationIds: [] }, null, null, null],
      ['a workspace key whose subset names a foreign application', { applicationIds: ['app_3'] }, null, null, null],
      ['a key of the other workspace', { workspaceId: 'wsp_2' }, null, null, access],
      [
        'an application key with a foreign workspace',
        { applicationId: 'app_1', workspaceId: 'wsp_2' },
        null,
        null,
        null,
      ],
    ])(`gives %s with ${access} access no more than its scope`, (_, scope, ours, sibling, foreign) => {
      const principal = key(access, scope);
      expect(applicationAccess(principal, OURS)).toBe(ours);
      expect(applicationAccess(principal, SIBLING)).toBe(sibling);
      expect(applicationAccess(principal, FOREIGN)).toBe(foreign);
    });

  test.each([
    ['owner', 'full'],
    ['admin', 'full'],
    ['member', 'read'],
  ] as const)('gives a workspace %s %s access to the workspace’s applications only', (role, access) => {
    const principal = session(['wsp_1', role]);
    expect([
      applicationAccess(principal, OURS),
      applicationAccess(principal, SIBLING),
      applicationAccess(principal, FOREIGN),
    ]).toEqual([access, access, null]);
  });

  test('uses the role in each workspace for a member of two', () => {
    const principal = session(['wsp_1', 'member'], ['wsp_2', 'owner']);
    expect([applicationAccess(principal, OURS), applicationAccess(principal, FOREIGN)]).toEqual(['read', 'full']);
  });

  test('gives a person without a workspace no access', () => {
    expect(applicationAccess(session(), OURS)).toBeNull();
  });

  test('gives no principal access to the console', () => {
    for (const principal of [key('full', {}), key('full', { applicationId: 'app_0' }), session(['wsp_1', 'owner'])])
      expect(applicationAccess(principal, CONSOLE)).toBeNull();
  });
});

describe('workspaceAccess', () => {
  test.each([
    ['a workspace key', key('full', {}), 'full'],
    ['a read workspace key', key('read', {}), 'read'],
    ['an application key', key('full', { applicationId: 'app_1' }), null],
    ['a key of another workspace', key('full', { workspaceId: 'wsp_2' }), null],
    ['an owner', session(['wsp_1', 'owner']), 'full'],
    ['an admin', session(['wsp_1', 'admin']), 'full'],
    ['a member', session(['wsp_1', 'member']), 'read'],
    ['a member of another workspace', session(['wsp_2', 'owner']), null],
    ['a stranger', session(), null],
  ])('gives %s the access of its key or role', (_, principal, expected) => {
    expect(workspaceAccess(principal, 'wsp_1')).toBe(expected as Access | null);
  });
});
