/** The queue of endpoints with due deliveries. */
import { expect, test } from 'bun:test';
import { dueEndpoints } from '@/modules/webhooks/due-endpoints.ts';

const SLOT = { webhookId: 'whk_1', budgetId: 'wsp_1' };

const listed = (queued: ReturnType<typeof dueEndpoints>) => queued.inTurn().flatMap(({ endpoints }) => [...endpoints]);

test('an endpoint that gets a delivery while it is found to have none stays queued', () => {
  const queued = dueEndpoints(10);
  queued.queue(SLOT);
  queued.beginCheck();
  queued.note(SLOT.webhookId);
  expect(queued.drop(SLOT)).toBe(false);
  expect(listed(queued)).toEqual([SLOT.webhookId]);
  queued.beginCheck();
  expect(queued.drop(SLOT)).toBe(true);
  expect(queued.isEmpty()).toBe(true);
});

test('an endpoint that was noted before the check is dropped by it, and can be noted again', () => {
  const queued = dueEndpoints(10);
  queued.queue(SLOT);
  queued.note(SLOT.webhookId);
  queued.beginCheck();
  expect(queued.drop(SLOT)).toBe(true);
  queued.note(SLOT.webhookId);
  expect(queued.takeNoted()).toEqual([SLOT.webhookId]);
});
