import { expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { endPersonalKeys } from '@/store/api-keys.ts';
import { createScene } from '../modules/device/scene.ts';

test('what an application’s epoch has ended is written down slice by slice, and nothing else is', async () => {
  const { instance, application, ada, connect, signIn } = await createScene();
  const backend = await instance.createKey(application.id);
  const { id } = await connect(ada);
  const copy = instance.sqlite.prepare(
    `INSERT INTO api_keys SELECT 'key_' || ?1, cast(?1 AS BLOB), prefix, name, access, workspace_id, application_id,
       application_ids, application_user_id, source, per_minute, per_day, expires_at, revoked_at, rotated_to_id,
       grace_period_ends_at, last_used_at, created_by_user_id, created_at, updated_at, epoch
     FROM api_keys WHERE id = ?2`,
  );
  for (let number = 0; number < 24; number += 1) copy.run(number, id);
  instance.sqlite.run('UPDATE applications SET session_epoch = 1 WHERE id = ?', [application.id]);
  const { id: later } = await connect(await signIn('ada@example.com'));
  const slice = () =>
    instance.db.write(SYSTEM_ACTOR, (unit) => endPersonalKeys(unit, { applicationId: application.id, limit: 10 }));
  expect([await slice(), await slice(), await slice(), await slice()]).toEqual([10, 10, 5, 0]);
  const open = instance.sqlite.query(
    'SELECT id FROM api_keys WHERE revoked_at IS NULL AND application_id = ? ORDER BY id',
  );
  expect(open.values(application.id).flat()).toEqual([backend.id, later].sort());
});
