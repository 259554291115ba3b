import { expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { endPersonalKeys } from '@/store/api-keys.ts';
import { bumpApplicationEpoch } from '@/store/applications.ts';
import { createScene } from '../modules/devices/scene.ts';
import * as given from '../support/given.ts';

test('keys ended by an application’s epoch are revoked in batches, and no others', async () => {
  const { instance, application, ada, connect, signIn } = await createScene();
  const backend = await instance.createKey(application.id);
  const { id } = await connect(ada);
  await given.copiesOfKey(instance, id, 24);
  await instance.db.write(SYSTEM_ACTOR, (unit) => bumpApplicationEpoch(unit, application.id));
  const { id: later } = await connect(await signIn('ada@example.com'));
  const slice = () =>
    instance.db.write(SYSTEM_ACTOR, (unit) => endPersonalKeys(unit, { applicationId: application.id, limit: 10 }));
  expect([await slice(), await slice(), await slice(), await slice()]).toEqual([10, 10, 5, 0]);
  const open = instance.sqlite.query(
    'SELECT id FROM api_keys WHERE revoked_at IS NULL AND application_id = ? ORDER BY id',
  );
  expect(open.values(application.id).flat()).toEqual([backend.id, later].sort());
});
