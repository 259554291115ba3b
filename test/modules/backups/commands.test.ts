/** Backups are made by the server from a data folder, and by the database's own tools elsewhere. */
import { expect, test } from 'bun:test';
import { ENGINE } from '../../support/engine.ts';
import { createInstance } from '../../support/instance.ts';

const PATH = '/api/workspace/backups';

test('an engine with backup tools of its own names them, and the server starts no backup', async () => {
  const instance = await createInstance();
  const { token } = await instance.signIn('console', 'owner@example.com');
  const { json } = await instance.call('GET', PATH, { token });
  const started = await instance.call('POST', PATH, { token });
  expect([started.status, started.json.error]).toEqual([409, 'invalid_state']);
  const { commands, place, nextAt } = json.data;
  expect([place, nextAt]).toEqual([null, null]);
  if (ENGINE === 'sqlite') {
    expect(commands).toBeNull();
    expect(started.json.message).toContain('GATEHOUSE_BACKUP_TO');
  } else {
    expect(commands.backup).toMatch(/^pg_dump /);
    expect(commands.restore).toMatch(/^pg_restore /);
    expect(started.json.message).toContain('PostgreSQL');
  }
});
