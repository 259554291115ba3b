import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';
import { betaOf, type Beta } from './beta.ts';

async function setUp(environment: Record<string, string> = {}): Promise<Beta> {
  const instance = await createInstance({ environment });
  return betaOf(instance, await instance.createApplication());
}

const mailed = ({ instance }: Beta) =>
  (instance.sqlite.query('SELECT recipient FROM mails ORDER BY rowid').all() as { recipient: string }[]).map(
    ({ recipient }) => recipient,
  );

const decide = (beta: Beta, decision: string, ids: string[]) =>
  beta.admin('POST', '/beta-interests/decide', { decision, ids });

describe('a batch decision', () => {
  test('has the effect of a single decision on each entry, in the given order', async () => {
    const beta = await setUp();
    const asked = await beta.seed('ada@example.com', 'pending');
    const waiting = await beta.seed('bea@example.com', 'notify_when_public');
    const approved = await beta.seed('cleo@example.com', 'approved');
    const foreign = betaOf(beta.instance, await beta.instance.createApplication({ name: 'Other' }));
    const { id: foreignId } = await foreign.seed('dan@example.com', 'pending');
    const kinds = beta.instance.auditKinds(beta.application.id).length;
    const { status, json, headers } = await decide(beta, 'approve', [approved.id, foreignId, waiting.id, asked.id]);
    expect([status, json.data]).toEqual([
      200,
      {
        summary: { requested: 4, changed: 2, skipped: 2 },
        results: [
          { id: approved.id, outcome: 'unchanged', status: 'approved' },
          { id: foreignId, outcome: 'not_found' },
          { id: waiting.id, outcome: 'changed', status: 'approved' },
          { id: asked.id, outcome: 'changed', status: 'approved' },
        ],
      },
    ]);
    // Only people who asked to be notified are, as with the call for one.
    expect(mailed(beta)).toEqual(['bea@example.com']);
    expect(beta.instance.auditKinds(beta.application.id).slice(kinds)).toEqual(['beta.approved', 'beta.approved']);
    expect(headers.get('ratelimit-remaining')).not.toBeNull();
    expect((await foreign.statuses())['dan@example.com']).toBe('pending');
  });

  test.each([
    ['decline', 'declined', 0],
    ['soft_decline', 'notify_when_public', 2],
  ])('%s sets the entries to %s and sends %i mails', async (decision, state, mails) => {
    const beta = await setUp();
    const rows = [await beta.seed('ada@example.com', 'pending'), await beta.seed('bea@example.com', 'approved')];
    await decide(
      beta,
      decision,
      rows.map(({ id }) => id),
    );
    expect(Object.values(await beta.statuses())).toEqual([state, state]);
    expect(mailed(beta)).toHaveLength(mails);
  });

  test('changes nothing when repeated', async () => {
    const beta = await setUp();
    const { id } = await beta.seed('ada@example.com', 'pending');
    await decide(beta, 'soft_decline', [id]);
    await beta.instance.services.mail.runOnce();
    const rows = dumpTables(beta.instance);
    expect((await decide(beta, 'soft_decline', [id])).json.data.results).toEqual([
      { id, outcome: 'unchanged', status: 'notify_when_public' },
    ]);
    expect(dumpTables(beta.instance)).toEqual(rows);
  });

  test('skips the entries that exceed the workspace’s hourly mail limit, and takes them in the next hour', async () => {
    const beta = await setUp({ GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '2' });
    const ids: string[] = [];
    for (const name of ['ada', 'bea', 'cleo', 'dan'])
      ids.push((await beta.seed(`${name}@example.com`, 'notify_when_public')).id);
    const { status, json } = await decide(beta, 'approve', ids);
    expect(status).toBe(200);
    expect(json.data.summary).toEqual({ requested: 4, changed: 2, skipped: 2 });
    expect(json.data.results.slice(2)).toEqual(
      ids.slice(2).map((id) => ({
        id,
        outcome: 'refused',
        status: 'notify_when_public',
        error: 'rate_limited',
        message: expect.stringContaining('2 unsolicited mails per hour'),
      })) as never,
    );
    expect(mailed(beta)).toHaveLength(2);
    expect(beta.instance.auditKinds(beta.application.id).filter((kind) => kind === 'beta.approved')).toHaveLength(2);
    beta.instance.clock.advance(3_600_000);
    expect((await decide(beta, 'approve', ids)).json.data.summary).toEqual({ requested: 4, changed: 2, skipped: 2 });
    expect(mailed(beta)).toHaveLength(4);
  });

  test.each([
    ['no rows', { ids: [] }, 'ids'],
    ['one twice', { ids: ['bet_1', 'bet_1'] }, 'ids'],
    ['too many', { ids: Array.from({ length: 201 }, (_, index) => `bet_${index}`) }, 'ids'],
    ['another decision', { decision: 'forget' }, 'decision'],
  ])('is refused with %s', async (_, part, path) => {
    const beta = await setUp();
    const body = { decision: 'approve', ids: ['bet_1'], ...part };
    const { status, json } = await beta.admin('POST', '/beta-interests/decide', body);
    expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', path]);
  });
});

test('the filter by e-mail finds the one entry of an address, within its status and application', async () => {
  const beta = await setUp();
  const { id } = await beta.seed('ada@example.com', 'declined');
  await beta.seed('nada@example.com', 'declined');
  const foreign = betaOf(beta.instance, await beta.instance.createApplication({ name: 'Other' }));
  const found = async (on: Beta, query: string) => {
    const { status, json } = await on.admin('GET', `/beta-interests?email=${query}`);
    return status === 200 ? json.data.items.map((row: { id: string }) => row.id) : json.fields[0].path;
  };
  expect(await found(beta, '%20Ada@Example.com')).toEqual([id]);
  expect(await found(beta, 'ada@example.com&status=declined')).toEqual([id]);
  expect(await found(beta, 'ada@example.com&status=pending')).toEqual([]);
  expect(await found(beta, 'ada')).toEqual([]);
  expect(await found(beta, '')).toBe('email');
  expect(await found(foreign, 'ada@example.com')).toEqual([]);
});
