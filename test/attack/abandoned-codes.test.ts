/** A month of codes that strangers requested and abandoned at one application does not slow down its sign-ins. */
import { expect, spyOn, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { createInstance } from '../support/instance.ts';

test('a sign-in by code reads only the codes of its own address', async () => {
  const prepare = spyOn(Database.prototype, 'prepare');
  try {
    const instance = await createInstance();
    const { clientId } = await instance.createApplication();
    await instance.signIn(clientId, 'ada@example.com');
    const statements = new Set(prepare.mock.calls.map(([sql]) => sql));
    const ofAddress = [...statements].filter((sql) => /code_challenges[^]*\bemail = \+?[?:]/.test(sql));
    expect(ofAddress.length).toBeGreaterThan(1);
    for (const sql of ofAddress) {
      const plan = instance.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
      expect([sql, plan.map(({ detail }) => detail).join('\n')]).toEqual([
        sql,
        expect.stringContaining('code_challenges_by_email (email=?'),
      ]);
    }
  } finally {
    prepare.mockRestore();
  }
});
