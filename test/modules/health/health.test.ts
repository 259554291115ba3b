import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { MINUTE } from '@/core/clock.ts';
import { ENGINE } from '../../support/engine.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';

const READY = { status: 'ok' };

const CLOSED = {
  sqlite: 'The database cannot be written.',
  postgres: 'The database cannot be reached; try again in a moment.',
}[ENGINE];

describe('the health check', () => {
  test.each(['/healthz', '/readyz'])('%s is public, has no envelope and is not cached', async (path) => {
    const { status, json, headers } = await (await createInstance()).call('GET', path);
    expect([status, json, headers.get('cache-control')]).toEqual([200, READY, 'no-store']);
  });

  test('reports not ready while the server stops, and still alive', async () => {
    const { app } = await createInstance({ isStopping: () => true });
    const ready = await app.fetch(new Request('http://localhost/readyz'));
    expect([ready.status, ((await ready.json()) as { error: string }).error]).toEqual([503, 'unavailable']);
    expect((await app.fetch(new Request('http://localhost/healthz'))).status).toBe(200);
  });

  test('reports not ready when the schema belongs to another version', async () => {
    const instance = await createInstance();
    instance.sqlite.run('PRAGMA user_version = 99');
    const { status, json } = await instance.call('GET', '/readyz');
    expect([status, json.error]).toEqual([503, 'unavailable']);
  });

  test('reports not ready when the database is unavailable, without details', async () => {
    const instance = await createInstance();
    await instance.db.close();
    const { status, json, text } = await instance.call('GET', '/readyz');
    expect([status, json.message]).toEqual([503, CLOSED]);
    expect(text).not.toContain('closed');
    expect((await instance.call('GET', '/healthz')).json).toEqual(READY);
  });

  test('leaves no transaction open and changes nothing', async () => {
    const instance = await createInstance();
    await instance.call('GET', '/readyz');
    expect(instance.sqlite.inTransaction).toBe(false);
    expect((await instance.call('GET', '/readyz')).status).toBe(200);
  });

  test('reports not ready, and refuses writes, once the database file is deleted at run time', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    rmSync(instance.sqlite.filename);
    for (const answer of [
      await instance.call('GET', '/readyz'),
      await instance.call('PATCH', `/api/applications/${application.id}`, {
        token: instance.workspaceKey,
        body: { name: 'Other' },
      }),
    ]) {
      expect([answer.status, answer.json.error, answer.headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
      expect(answer.json.message).toContain('deleted or replaced');
    }
    expect((await instance.call('GET', '/healthz')).status).toBe(200);
  });

  test('reports not ready while commits fail, and ready again afterwards', async () => {
    const instance = await createInstance();
    const repair = given.brokenWrites(instance, 'INSERT ON rate_counters', "NEW.bucket = 'probe'");
    const { status, json, headers } = await instance.call('GET', '/readyz');
    expect([status, json.message, headers.get('retry-after')]).toEqual([503, 'The database cannot be written.', '5']);
    repair();
    expect((await instance.call('GET', '/readyz')).json).toEqual(READY);
  });

  test('tests commits by writing a probe row from time to time', async () => {
    const instance = await createInstance();
    const count = () => instance.sqlite.query("SELECT count(*) AS n FROM rate_counters WHERE bucket = 'probe'").get();
    await instance.call('GET', '/readyz');
    expect(count()).toEqual({ n: 1 });
    await instance.services.limiter.flush();
    // PostgreSQL keeps counters for some minutes, for the next window of the same subject.
    instance.clock.advance(10 * MINUTE);
    await instance.services.limiter.flush();
    await instance.call('GET', '/readyz');
    expect(count()).toEqual({ n: 0 });
  });
});
