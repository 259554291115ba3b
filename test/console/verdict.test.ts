/** The console's explanation of why a person cannot sign in, from records. */
import { describe, expect, test } from 'bun:test';
import { type Evidence, verdictOf } from '@/console/views/users/verdict.ts';

const OPEN: Evidence = {
  application: {
    stage: 'live',
    signinGate: 'public',
    archivedAt: null,
    deletedAt: null,
    signinMethods: ['otp', 'passkey'],
  },
  user: { status: 'active', statusReason: null, lastSeenAt: null },
  listed: null,
  isMember: false,
  failures: [],
};

const WHEN = '2026-11-22T10:00:00.000Z';

function failure(kind: string, detail: Record<string, unknown>): Evidence['failures'][number] {
  return {
    id: 'aud_1',
    applicationId: 'app_1',
    kind,
    ok: false,
    userId: null,
    userName: null,
    email: 'ada@example.com',
    actorType: 'anonymous',
    actorUserId: null,
    actorApiKeyId: null,
    actorName: null,
    targetId: null,
    targetName: null,
    requestId: null,
    ip: null,
    ipCountry: null,
    detail,
    createdAt: WHEN,
  };
}

interface Given extends Partial<Omit<Evidence, 'application'>> {
  readonly application?: Partial<Evidence['application']>;
}

const judge = ({ application, ...rest }: Given) =>
  verdictOf({ ...OPEN, ...rest, application: { ...OPEN.application, ...application } });

describe('the reason', () => {
  test.each<[string, Given, RegExp, string | null]>([
    ['an archive', { application: { archivedAt: WHEN } }, /archived/, 'settings'],
    ['a deletion of the application', { application: { deletedAt: WHEN } }, /deleted/, 'settings'],
    ['a draft', { application: { stage: 'draft' } }, /draft/, 'settings'],
    ['a closed gate, where they are no user', { application: { signinGate: 'closed' }, user: null }, /closed/, 'gate'],
    ['the beta, off the list', { application: { signinGate: 'private_beta' } }, /not on the allowlist/, 'allow'],
    ['the beta, undecided', { application: { signinGate: 'private_beta' }, listed: 'pending' }, /still waits/, 'allow'],
    [
      'the beta, declined',
      { application: { signinGate: 'private_beta' }, listed: 'declined' },
      /refused on the allowlist/,
      'allow',
    ],
    ['a ban', { user: { status: 'banned', statusReason: 'Spam', lastSeenAt: null } }, /banned \(“Spam”\)/, 'unban'],
    ['a pause', { user: { status: 'paused', statusReason: null, lastSeenAt: null } }, /paused\./, 'resume'],
    ['their deletion', { user: { status: 'deleted', statusReason: null, lastSeenAt: null } }, /deleted/, 'restore'],
    [
      'a way that is switched off',
      { failures: [failure('signin.refused', { method: 'provider', reason: 'forbidden' })] },
      /switched off/,
      'settings',
    ],
    [
      'an address that was given up',
      { user: null, failures: [failure('signin.refused', { method: 'otp', reason: 'email_archived' })] },
      /newer one/,
      null,
    ],
    [
      'a mail that did not arrive',
      { failures: [failure('mail.refused', { reason: '550 no such user' })] },
      /550/,
      null,
    ],
  ])('%s is named with the change that would remove it', (_, given, why, step) => {
    const verdict = judge(given);
    expect(verdict.isKeptOut).toBe(true);
    expect(verdict.why).toMatch(why);
    expect(verdict.step).toBe(step as typeof verdict.step);
  });

  test('follows the server’s order, with the other obstacles', () => {
    const { why, also } = judge({
      application: { signinGate: 'private_beta' },
      user: { status: 'banned', statusReason: null, lastSeenAt: null },
    });
    expect(why).toMatch(/allowlist/);
    expect(also).toEqual(['They are banned.']);
  });

  test('is not the gate for a workspace member, a user at a closed gate, or an approved person', () => {
    expect(judge({ application: { stage: 'draft' }, isMember: true }).isKeptOut).toBe(false);
    expect(judge({ application: { signinGate: 'closed' } }).isKeptOut).toBe(false);
    expect(judge({ application: { signinGate: 'private_beta' }, listed: 'approved' }).isKeptOut).toBe(false);
  });

  test('stays general if the member may not read the allowlist', () => {
    const { why, step } = judge({ application: { signinGate: 'private_beta' }, listed: undefined });
    expect(why).toMatch(/only approved addresses/);
    expect(step).toBeNull();
  });
});

test('without an obstacle, the last refusal is shown as past', () => {
  const past = judge({ failures: [failure('signin.refused', { method: 'otp', reason: 'membership_blocked' })] });
  expect([past.isKeptOut, past.why]).toEqual([
    false,
    'They can sign in now; the last refusal was because the user is banned or paused.',
  ]);
  expect(judge({}).why).toBe('They can sign in, and no refusal is on record.');
});

test('a refusal before the person’s last visit is no obstacle', () => {
  const user = { status: 'active', statusReason: null, lastSeenAt: '2026-11-22T11:00:00.000Z' } as const;
  const { isKeptOut, why } = judge({ user, failures: [failure('mail.refused', { reason: '550 no such user' })] });
  expect([isKeptOut, why]).toEqual([false, 'They can sign in: they have been active since the last refusal.']);
});
