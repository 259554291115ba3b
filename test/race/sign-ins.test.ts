/** Sign-ins at one instance while another one bans, closes or guesses: as if one had come after the other. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { atOnce, createPair, outcomesOf, type Pair } from './pair.ts';

setDefaultTimeout(60_000);

const ROUNDS = 12;
const ROOMY = { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000', GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000' };

async function setScene(environment: Record<string, string> = ROOMY) {
  const pair = await createPair({ environment });
  const [first] = pair;
  return { pair, first, application: await first.createApplication() };
}

/** Sends a code, and returns what redeems it. */
async function codeOf([first]: Pair, clientId: string, email: string) {
  first.clock.advance(61_000);
  const sent = await first.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  return { challengeId: sent.json.data.challengeId as string, code: first.codeFor(email) };
}

const verdict = async ([, second]: Pair, token: string) =>
  (await second.call('POST', '/api/v1/session', { token })).json.error;

test('a session that was made before a ban is over, also once the ban is lifted', async () => {
  const { pair, first, application } = await setScene();
  const { id, clientId } = application;
  const { userId } = await first.signIn(clientId, 'ada@example.com');
  const users = `/api/applications/${id}/users/${userId}`;
  const token = first.workspaceKey;
  const outcomes = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = await codeOf(pair, clientId, 'ada@example.com');
    const [signIn, ban] = await atOnce(pair, 2, (at, index) =>
      index === 0
        ? at.call('POST', '/api/v1/auth/otp/verify', { body })
        : at.call('POST', `${users}/ban`, { token, body: {} }),
    );
    expect(ban?.status).toBe(200);
    outcomes.add(String(signIn?.status));
    if (signIn?.status === 200) {
      expect(await verdict(pair, signIn.json.data.token)).toBe('membership_blocked');
      expect((await first.call('POST', `${users}/unban`, { token })).status).toBe(200);
      expect(await verdict(pair, signIn.json.data.token)).toBe('revoked');
    } else {
      expect(signIn?.json.error).toBe('membership_blocked');
      expect((await first.call('POST', `${users}/unban`, { token })).status).toBe(200);
    }
  }
  expect([...outcomes].every((status) => ['200', '403'].includes(status))).toBe(true);
});

test('a session that was made before the application was deleted is over, also once it is restored', async () => {
  const { pair, first, application } = await setScene();
  const { id, clientId } = application;
  const token = first.workspaceKey;
  const path = `/api/applications/${id}`;
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = await codeOf(pair, clientId, `person${round}@example.com`);
    const sent = await first.call('POST', `${path}/lifecycle/send`, { token, body: { kind: 'delete' } });
    const deletion = { challengeId: sent.json.data.challengeId, code: first.codeFor('owner@example.com') };
    const [signIn, deleted] = await atOnce(pair, 2, (at, index) =>
      index === 0
        ? at.call('POST', '/api/v1/auth/otp/verify', { body })
        : at.call('POST', `${path}/lifecycle/confirm`, { token, body: deletion }),
    );
    expect(deleted?.status).toBe(200);
    expect((await first.call('POST', `${path}/restore`, { token })).status).toBe(200);
    if (signIn?.status === 200) expect(await verdict(pair, signIn.json.data.token)).toBe('revoked');
    else expect(['application_archived', 'code_expired']).toContain(signIn?.json.error);
  }
});

test('codes guessed at once are checked as often as one code may be tried', async () => {
  const tries = 5;
  const { pair, application } = await setScene({ ...ROOMY, GATEHOUSE_LIMIT_TRIES_PER_CODE: String(tries) });
  const { challengeId, code } = await codeOf(pair, application.clientId, 'ada@example.com');
  const wrong = code === '000000' ? '000001' : '000000';
  const answers = await atOnce(pair, 30, (at) =>
    at.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code: wrong } }),
  );
  const outcomes = outcomesOf(answers);
  expect(outcomes).toEqual({ '400 code_invalid': tries, '400 code_exhausted': 30 - tries });
});

test('people who come for the first time at once all get in', async () => {
  const { pair, application } = await setScene();
  const { id, clientId } = application;
  const bodies = await Promise.all(
    Array.from({ length: 24 }, (_, index) => codeOf(pair, clientId, `person${index}@example.com`)),
  );
  const answers = await atOnce(pair, bodies.length, (at, index) =>
    at.call('POST', '/api/v1/auth/otp/verify', { body: bodies[index] }),
  );
  expect(outcomesOf(answers)).toEqual({ ok: bodies.length });
  const [first] = pair;
  expect(first.events(id).filter(({ type }) => type === 'user.signed_in')).toHaveLength(bodies.length);
});
