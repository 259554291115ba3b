/** The stages of an application: draft, test and live. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';
import { as, draft, RECORD } from './calls.ts';

describe('publish and go-live', () => {
  test('move an application from draft to test to live, with an audit record each and no event', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance, { name: 'Shop' });
    instance.clock.advance(MINUTE);
    const published = await as(instance).publish(id);
    expect([published.status, published.json.data.stage, published.json.data.updatedAt]).toEqual([
      200,
      'test',
      new Date(START + MINUTE).toISOString(),
    ]);
    expect(Object.keys(published.json.data)).toEqual([...RECORD, 'warnings']);
    expect((await as(instance).goLive(id, {})).json.data.stage).toBe('live');
    expect((await as(instance).get(id)).json.data.stage).toBe('live');
    expect(instance.auditKinds(id)).toEqual(['application.created', 'application.published', 'application.went_live']);
    expect(instance.events(id)).toEqual([]);
  });

  test('warn about missing settings and succeed nevertheless', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const { warnings } = (await as(instance).publish(id)).json.data;
    expect(warnings.map(({ path }: { path: string }) => path)).toEqual([
      'legalUrls.terms',
      'legalUrls.privacy',
      'returnUrls',
    ]);
    for (const { message } of warnings) expect(message).toMatch(/^[A-Z].*\.$/);
    await as(instance).patch(id, {
      returnUrls: ['https://a.example/'],
      legalUrls: { terms: 'https://a.example/t', privacy: 'https://a.example/p' },
    });
    expect((await as(instance).goLive(id)).json.data.warnings).toEqual([]);
  });

  test.each([
    ['draft', 'goLive'],
    ['test', 'publish'],
    ['live', 'publish'],
    ['live', 'goLive'],
  ] as const)('from %s, %s is refused and changes nothing', async (stage, action) => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    await given.application(instance, id, { stage });
    const before = dumpTables(instance);
    const { status, json } = await as(instance)[action](id);
    expect([status, json.error]).toEqual([409, 'invalid_state']);
    expect(json.message).toContain(action === 'publish' ? '"draft"' : '"test"');
    expect(dumpTables(instance)).toEqual(before);
  });

  test.each([
    ['archived_at', { archivedAt: 1 }],
    ['deleted_at', { deletedAt: 1 }],
  ])('are refused when %s is set', async (_, columns) => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    await given.application(instance, id, columns);
    expect((await as(instance).publish(id)).json.error).toBe('invalid_state');
    await given.application(instance, id, { stage: 'test' });
    expect((await as(instance).goLive(id)).json.error).toBe('invalid_state');
  });

  test('take effect once in fifty concurrent calls', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const answers = await Promise.all(Array.from({ length: 50 }, () => as(instance).publish(id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ json }) => json.error === 'invalid_state')).toHaveLength(49);
    expect(instance.auditKinds(id)).toEqual(['application.created', 'application.published']);
  });

  test('accept no fields', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const { status, json } = await as(instance).publish(id, { force: true });
    expect([status, json.fields[0].path]).toEqual([400, 'force']);
    expect((await as(instance).get(id)).json.data.stage).toBe('draft');
  });

  test('need full access', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const reader = await instance.createKey(id, { access: 'read' });
    const member = await given.consoleMember(instance, 'member@example.com', 'member');
    for (const token of [reader.token, member.token]) {
      const { status, json } = await as(instance, token).publish(id);
      expect([status, json.error]).toEqual([403, 'admin_scope_required']);
    }
    const writer = await instance.createKey(id);
    expect((await as(instance, writer.token).publish(id)).status).toBe(200);
  });
});
