import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';

const READY = { status: 'ok' };

describe('health', () => {
  test.each(['/healthz', '/readyz'])('%s is open to all, flat, and not cached', async (path) => {
    const { status, json, headers } = await (await createInstance()).call('GET', path);
    expect([status, json, headers.get('cache-control')]).toEqual([200, READY, 'no-store']);
  });

  test('is not ready while the server stops, and still alive', async () => {
    const { app } = await createInstance({ isStopping: () => true });
    const ready = await app.fetch(new Request('http://localhost/readyz'));
    expect([ready.status, ((await ready.json()) as { error: string }).error]).toEqual([503, 'unavailable']);
    expect((await app.fetch(new Request('http://localhost/healthz'))).status).toBe(200);
  });

  test('is not ready on a schema of another binary', async () => {
    const instance = await createInstance();
    instance.sqlite.run('PRAGMA user_version = 99');
    const { status, json } = await instance.call('GET', '/readyz');
    expect([status, json.error]).toEqual([503, 'unavailable']);
  });

  test('is not ready when the database cannot be had, and says no more than that', async () => {
    const instance = await createInstance();
    await instance.db.close();
    const { status, json, text } = await instance.call('GET', '/readyz');
    expect([status, json.message]).toEqual([503, 'The database cannot be written.']);
    expect(text).not.toContain('closed');
    expect((await instance.call('GET', '/healthz')).json).toEqual(READY);
  });

  test('leaves no transaction open and changes nothing', async () => {
    const instance = await createInstance();
    await instance.call('GET', '/readyz');
    expect(instance.sqlite.inTransaction).toBe(false);
    expect((await instance.call('GET', '/readyz')).status).toBe(200);
  });
});
