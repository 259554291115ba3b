/** The only way to emit an event: writes it, and a delivery for each endpoint that wants it, in the caller's change. */
import type { DomainEvent } from '../core/event.ts';
import type { Unit } from '../db/database.ts';
import { insertDelivery } from '../store/deliveries.ts';
import { EVENT_EMITTED, EVENT_NOTICED, insertEvent } from '../store/events.ts';
import { findOAuthGrant } from '../store/oauth-grants.ts';
import { findSubscribers, type Subscriber } from '../store/webhooks.ts';

/** Endpoints that want events, cached per change and application: a change may emit thousands of events. */
const subscribers = new WeakMap<Unit, Map<string, readonly Subscriber[]>>();

async function subscribersOf(unit: Unit, applicationId: string): Promise<readonly Subscriber[]> {
  const known = subscribers.get(unit) ?? new Map<string, readonly Subscriber[]>();
  subscribers.set(unit, known);
  let found = known.get(applicationId);
  if (found === undefined) known.set(applicationId, (found = await findSubscribers(unit, applicationId)));
  return found;
}

/** Emits an event atomically with the change: durable with it, and gone if it is rolled back. */
export async function emit(unit: Unit, event: DomainEvent): Promise<void> {
  const eventId = await insertEvent(unit, event);
  await queueDeliveries(unit, event, eventId);
  unit.publish(EVENT_EMITTED, event);
  const { type, applicationId, data } = event;
  unit.publish(EVENT_NOTICED, {
    id: eventId,
    applicationId,
    type,
    userId: data.userId,
    sessionId: 'sessionId' in data ? data.sessionId : null,
    // The reason of a ban is text that a person has written.
    reason: type === 'user.session_revoked' ? event.data.reason : null,
  });
}

async function queueDeliveries(unit: Unit, event: DomainEvent, eventId: string): Promise<void> {
  const { type: eventType, applicationId } = event;
  for (const { id: webhookId, events, kind } of await subscribersOf(unit, applicationId)) {
    if (!events.includes('"*"') && !events.includes(`"${eventType}"`)) continue;
    if (kind === 'logout' && !(await isOfClient(unit, event))) continue;
    await insertDelivery(unit, { webhookId, eventId, eventType });
  }
}

/** Returns whether the event is about a session that an OpenID client got: no client knows the ids of other sessions. */
async function isOfClient(unit: Unit, { data }: DomainEvent): Promise<boolean> {
  return 'sessionId' in data && (await findOAuthGrant(unit, data.sessionId)) !== undefined;
}
