/** One-time values at two instances at once: each is used once, whichever instance takes it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';
import { atOnce, createPair, outcomesOf, type Pair } from './pair.ts';

setDefaultTimeout(60_000);

const TRIES = 8;
const ADA = 'ada@example.com';
const ROOMY = {
  GATEHOUSE_LIMIT_TRIES_PER_CODE: '20',
  GATEHOUSE_LIMIT_SETUP_PER_MINUTE: '100',
  GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1000',
};

const rows = ([{ sqlite }]: Pair, query: string) => (sqlite.query(query).get() as { n: number }).n;

async function setScene() {
  const pair = await createPair({ environment: ROOMY });
  const [first] = pair;
  const application = await first.createApplication();
  return { pair, first, application };
}

describe('at two instances at once', () => {
  test('a sign-in code makes one session', async () => {
    const { pair, first, application } = await setScene();
    const { clientId } = application;
    const sent = await first.call('POST', '/api/v1/auth/otp/send', { body: { email: ADA, clientId } });
    const body = { challengeId: sent.json.data.challengeId, code: first.codeFor(ADA) };
    const answers = await atOnce(pair, TRIES, (at) => at.call('POST', '/api/v1/auth/otp/verify', { body }));
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(rows(pair, 'SELECT count(*) AS n FROM sessions')).toBe(1);
    expect(rows(pair, "SELECT count(*) AS n FROM users WHERE email = 'ada@example.com'")).toBe(1);
  });

  test('two codes of one new person make one person and one membership', async () => {
    const { pair, first, application } = await setScene();
    const { clientId } = application;
    const given: { challengeId: string; code: string }[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      first.clock.advance(60_000);
      const sent = await first.call('POST', '/api/v1/auth/otp/send', { body: { email: ADA, clientId } });
      given.push({ challengeId: sent.json.data.challengeId, code: first.codeFor(ADA) });
    }
    const answers = await atOnce(pair, 2, (at, index) =>
      at.call('POST', '/api/v1/auth/otp/verify', { body: given[index] }),
    );
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(rows(pair, "SELECT count(*) AS n FROM users WHERE email = 'ada@example.com'")).toBe(1);
    expect(rows(pair, `SELECT count(*) AS n FROM application_users WHERE application_id = '${application.id}'`)).toBe(
      1,
    );
  });

  test('a code that confirms a deletion deletes once', async () => {
    const { pair, first, application } = await setScene();
    const { token } = await first.signIn(application.clientId, ADA);
    const sent = await first.call('POST', '/api/account/deletion', { token });
    const body = { challengeId: sent.json.data.challengeId, code: first.codeFor(ADA) };
    const answers = await atOnce(pair, TRIES, (at) => at.call('DELETE', '/api/account', { token, body }));
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(first.events(application.id).filter(({ type }) => type === 'user.deleted')).toHaveLength(1);
  });

  test('a lifecycle code archives once', async () => {
    const { pair, first, application } = await setScene();
    const path = `/api/applications/${application.id}/lifecycle`;
    const token = first.workspaceKey;
    const sent = await first.call('POST', `${path}/send`, { token, body: { kind: 'archive' } });
    const body = { challengeId: sent.json.data.challengeId, code: first.codeFor('owner@example.com') };
    const answers = await atOnce(pair, TRIES, (at) => at.call('POST', `${path}/confirm`, { token, body }));
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(first.auditKinds(application.id).filter((kind) => kind === 'application.archived')).toHaveLength(1);
  });

  test('a device code gives one key', async () => {
    const { pair, first, application } = await setScene();
    const { clientId } = application;
    const { token } = await first.signIn(clientId, ADA);
    const { json } = await first.call('POST', '/api/v1/device/code', { body: { client_id: clientId } });
    await first.call('POST', '/api/account/device/approve', { token, body: { user_code: json.user_code } });
    const body = { client_id: clientId, device_code: json.device_code };
    const answers = await atOnce(pair, TRIES, (at) => at.call('POST', '/api/v1/device/token', { body }));
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(rows(pair, "SELECT count(*) AS n FROM api_keys WHERE source = 'device'")).toBe(1);
  });

  test('a setup link makes one owner and one session', async () => {
    const first = await createInstance({
      environment: { ...ROOMY, GATEHOUSE_OWNER_EMAIL: '' },
      leaseHolder: 'first',
    });
    const pair: Pair = [first, await first.sibling()];
    const token = await first.services.setup.createLink();
    const answers = await atOnce(pair, TRIES, (at, index) =>
      at.call('POST', '/api/setup', { body: { token, email: `person${index}@example.com` } }),
    );
    // A busy database may refuse some of the others before it knows that the link is used.
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(rows(pair, "SELECT count(*) AS n FROM workspace_members WHERE role = 'owner'")).toBe(1);
    expect(rows(pair, 'SELECT count(*) AS n FROM sessions')).toBe(1);
  });

  test('two setup links make one owner', async () => {
    const first = await createInstance({
      environment: { ...ROOMY, GATEHOUSE_OWNER_EMAIL: '' },
      leaseHolder: 'first',
    });
    const pair: Pair = [first, await first.sibling()];
    const tokens = [await first.services.setup.createLink(), await pair[1].services.setup.createLink()];
    const answers = await atOnce(pair, TRIES, (at, index) =>
      at.call('POST', '/api/setup', { body: { token: tokens[index % 2], email: `person${index}@example.com` } }),
    );
    // A busy database may refuse some of the others before it knows that the link is used.
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(rows(pair, "SELECT count(*) AS n FROM workspace_members WHERE role = 'owner'")).toBe(1);
  });
});
