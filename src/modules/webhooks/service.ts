/** Webhook endpoints: subscribed, changed, given new secrets, released from quarantine; and their deliveries, looked at. */
import { and, asc, desc, eq, gt, lt } from 'drizzle-orm';
import { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import { type Clock, DAY, isoTime } from '../../core/clock.ts';
import { AppError, type FieldProblem, invalidField } from '../../core/error.ts';
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../core/event.ts';
import { newId } from '../../core/id.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { mintSecret } from '../../core/secret.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Application } from '../../db/schema/applications.ts';
import { events } from '../../db/schema/records.ts';
import { deliveries, deliveryAttempts, type Delivery, type Webhook, webhooks } from '../../db/schema/webhooks.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import {
  type DeliveriesQuery,
  type DeliveryDetail,
  type DeliveryRecord,
  type ErrorClass,
  MAX_WEBHOOKS,
  type NewWebhook,
  type Released,
  type WebhookInput,
  type WebhookPatch,
  type WebhookRecord,
} from './model.ts';
import { deliveryBody } from './payload.ts';

const SECRET_OVERLAP_MS = DAY;

export interface WebhookDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  /** Plain http on loopback, as an ephemeral instance takes it. */
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
  /** Called when deliveries may have become due. */
  readonly wake: () => void;
}

export type Webhooks = ReturnType<typeof webhookService>;

export function webhookService(dependencies: WebhookDependencies) {
  const { db, clock, random, instanceKey, isLoopbackAllowed, allowedCidrs, wake } = dependencies;

  /** What can be known of an address before it is resolved; the rest is judged at every attempt. */
  function checkUrl(text: string): void {
    const problem = targetProblem(text, { allowed: allowedCidrs, isLoopbackAllowed });
    if (problem !== null) throw invalidField('url', problem);
  }

  /** @throws {AppError} invalid_request naming each type that does not exist. */
  function checkEvents(types: readonly string[]): void {
    if (types.length === 1 && types[0] === '*') return;
    const fields: FieldProblem[] = types.flatMap((type, index) =>
      (EVENT_TYPES as readonly string[]).includes(type)
        ? []
        : [{ path: `events.${index}`, message: 'There is no such event type; see the description of events.' }],
    );
    if (fields.length > 0) throw new AppError('invalid_request', { fields });
  }

  function find({ tx }: Pick<Unit, 'tx'>, application: Application, id: string): Webhook {
    const row = tx
      .select()
      .from(webhooks)
      .where(and(eq(webhooks.applicationId, application.id), eq(webhooks.id, id)))
      .get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function findDelivery({ tx }: Pick<Unit, 'tx'>, webhook: Webhook, deliveryId: string): Delivery {
    const row = tx
      .select()
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, webhook.id), eq(deliveries.id, deliveryId)))
      .get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function change(unit: Unit, id: string, columns: Partial<Webhook>): Webhook {
    const [row] = unit.tx
      .update(webhooks)
      .set({ ...columns, updatedAt: unit.now })
      .where(eq(webhooks.id, id))
      .returning()
      .all();
    return row!;
  }

  function record(unit: Unit, kind: Parameters<Unit['audit']>[0]['kind'], application: Application, targetId: string) {
    unit.audit({ kind, applicationId: application.id, workspaceId: application.workspaceId, targetId });
  }

  function queue(unit: Unit, webhook: Webhook, event: { id: string; type: string }): Delivery {
    const isHeld = webhook.status === 'quarantined';
    const [row] = unit.tx
      .insert(deliveries)
      .values({
        id: newId('delivery', unit.now),
        webhookId: webhook.id,
        eventId: event.id,
        eventType: event.type,
        status: isHeld ? 'held' : 'pending',
        attempts: 0,
        nextAttemptAt: unit.now,
        wasHeld: isHeld,
        createdAt: unit.now,
      })
      .returning()
      .all();
    return row!;
  }

  function refuseDisabled(webhook: Webhook): void {
    if (webhook.status === 'disabled')
      throw new AppError('invalid_state', { message: 'This webhook is disabled; set its status to active first.' });
  }

  return {
    /** In the order they were made. */
    list(application: Application, { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery): Page<WebhookRecord> {
      const rows = db.orm
        .select()
        .from(webhooks)
        .where(
          and(
            eq(webhooks.applicationId, application.id),
            cursor === undefined ? undefined : gt(webhooks.id, decodeCursor(cursor, ['string'])[0]),
          ),
        )
        .orderBy(asc(webhooks.id))
        .limit(limit + 1)
        .all();
      return pageOf(
        rows,
        limit,
        ({ id }) => [id],
        (row) => present(row, clock.now()),
      );
    },

    get: (application: Application, id: string): WebhookRecord =>
      present(find({ tx: db.orm }, application, id), clock.now()),

    /** @throws {AppError} invalid_request; conflict where the application has as many as it may. */
    async create(actor: Actor, application: Application, input: WebhookInput): Promise<NewWebhook> {
      checkUrl(input.url);
      checkEvents(input.events);
      const signingSecret = mintSecret('webhook', random);
      const sealedSecret = await instanceKey.seal('webhook', signingSecret);
      return db.write(actor, (unit) => {
        const held = unit.tx
          .select({ id: webhooks.id })
          .from(webhooks)
          .where(eq(webhooks.applicationId, application.id))
          .all();
        if (held.length >= MAX_WEBHOOKS)
          throw new AppError('conflict', {
            message: `An application has at most ${MAX_WEBHOOKS} webhooks; delete one first.`,
          });
        const [row] = unit.tx
          .insert(webhooks)
          .values({
            id: newId('webhook', unit.now),
            applicationId: application.id,
            url: input.url,
            description: input.description ?? null,
            events: [...new Set(input.events)],
            status: 'active',
            sealedSecret,
            createdAt: unit.now,
            updatedAt: unit.now,
          })
          .returning()
          .all();
        record(unit, 'webhook.created', application, row!.id);
        return { ...present(row!, unit.now), signingSecret };
      });
    },

    /** @throws {AppError} not_found, invalid_request; invalid_state for one in quarantine, which is released instead. */
    update(actor: Actor, application: Application, id: string, patch: WebhookPatch): WebhookRecord {
      if (patch.url !== undefined) checkUrl(patch.url);
      if (patch.events !== undefined) checkEvents(patch.events);
      const changed = db.write(actor, (unit) => {
        const webhook = find(unit, application, id);
        if (patch.status !== undefined && webhook.status === 'quarantined')
          throw new AppError('invalid_state', {
            message: 'This webhook is in quarantine and holds events; release it or delete it instead.',
          });
        const row = change(unit, id, { ...patch, ...(patch.events && { events: [...new Set(patch.events)] }) });
        record(unit, 'webhook.updated', application, id);
        return present(row, unit.now);
      });
      wake();
      return changed;
    },

    /** Deletes an endpoint with its deliveries; what is under way arrives at most once more. */
    remove(actor: Actor, application: Application, id: string): { id: string } {
      return db.write(actor, (unit) => {
        find(unit, application, id);
        unit.tx.delete(webhooks).where(eq(webhooks.id, id)).run();
        record(unit, 'webhook.deleted', application, id);
        return { id };
      });
    },

    /** A new secret; for 24 hours the one before signs beside it, so that a receiver can change over without a gap. */
    async rotateSecret(actor: Actor, application: Application, id: string): Promise<NewWebhook> {
      const signingSecret = mintSecret('webhook', random);
      const sealedSecret = await instanceKey.seal('webhook', signingSecret);
      return db.write(actor, (unit) => {
        const webhook = find(unit, application, id);
        const row = change(unit, id, {
          sealedSecret,
          previousSealedSecret: webhook.sealedSecret,
          previousSecretEndsAt: unit.now + SECRET_OVERLAP_MS,
        });
        record(unit, 'webhook.secret_rotated', application, id);
        return { ...present(row, unit.now), signingSecret };
      });
    },

    /** Sends one event to this endpoint alone, through the same way as every other. */
    test(actor: Actor, application: Application, id: string): DeliveryRecord {
      const queued = db.write(actor, (unit) => {
        const webhook = find(unit, application, id);
        refuseDisabled(webhook);
        const event = { id: newId('event', unit.now), type: TEST_EVENT_TYPE };
        unit.tx
          .insert(events)
          .values({ ...event, applicationId: application.id, data: { webhookId: id }, createdAt: unit.now })
          .run();
        record(unit, 'webhook.tested', application, id);
        return presentDelivery(queue(unit, webhook, event));
      });
      wake();
      return queued;
    },

    /** Lets an endpoint out of quarantine; what was held is sent, in order. @throws {AppError} invalid_state */
    release(actor: Actor, application: Application, id: string): Released {
      const released = db.write(actor, (unit) => {
        const webhook = find(unit, application, id);
        if (webhook.status !== 'quarantined')
          throw new AppError('invalid_state', { message: 'This webhook is not in quarantine.' });
        const row = change(unit, id, { status: 'active', quarantinedAt: null, quarantineReason: null });
        const freed = unit.tx
          .update(deliveries)
          .set({ status: 'pending', nextAttemptAt: unit.now, leasedUntil: null })
          .where(and(eq(deliveries.webhookId, id), eq(deliveries.status, 'held')))
          .returning({ id: deliveries.id })
          .all();
        record(unit, 'webhook.released', application, id);
        return { ...present(row, unit.now), released: freed.length };
      });
      wake();
      return released;
    },

    /** Newest first. */
    listDeliveries(application: Application, id: string, query: DeliveriesQuery): Page<DeliveryRecord> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, status } = query;
      const webhook = find({ tx: db.orm }, application, id);
      const rows = db.orm
        .select()
        .from(deliveries)
        .where(
          and(
            eq(deliveries.webhookId, webhook.id),
            status === undefined ? undefined : eq(deliveries.status, status),
            cursor === undefined ? undefined : lt(deliveries.id, decodeCursor(cursor, ['string'])[0]),
          ),
        )
        .orderBy(desc(deliveries.id))
        .limit(limit + 1)
        .all();
      return pageOf(rows, limit, (row) => [row.id], presentDelivery);
    },

    /** One delivery with every attempt. */
    getDelivery(application: Application, id: string, deliveryId: string): DeliveryDetail {
      const delivery = findDelivery({ tx: db.orm }, find({ tx: db.orm }, application, id), deliveryId);
      const event = db.orm.select().from(events).where(eq(events.id, delivery.eventId)).get()!;
      const attempts = db.orm
        .select()
        .from(deliveryAttempts)
        .where(eq(deliveryAttempts.deliveryId, deliveryId))
        .orderBy(asc(deliveryAttempts.number))
        .all();
      return {
        ...presentDelivery(delivery),
        requestBody: deliveryBody({ ...event, data: JSON.stringify(event.data) }),
        attemptLog: attempts.map(({ deliveryId: _, startedAt, errorClass, ...attempt }) => ({
          ...attempt,
          startedAt: isoTime(startedAt),
          errorClass: errorClass as ErrorClass | null,
        })),
      };
    },

    /** Sends the same event again, under the same event id, as a delivery of its own. */
    redeliver(actor: Actor, application: Application, id: string, deliveryId: string): DeliveryRecord {
      const queued = db.write(actor, (unit) => {
        const webhook = find(unit, application, id);
        const delivery = findDelivery(unit, webhook, deliveryId);
        refuseDisabled(webhook);
        record(unit, 'webhook.redelivered', application, deliveryId);
        return presentDelivery(queue(unit, webhook, { id: delivery.eventId, type: delivery.eventType }));
      });
      wake();
      return queued;
    },
  };
}

function present(row: Webhook, now: number): WebhookRecord {
  const { id, url, events: types, description, status, quarantineReason, previousSecretEndsAt } = row;
  const isOverlapping = previousSecretEndsAt !== null && previousSecretEndsAt > now;
  return {
    id,
    url,
    events: types,
    description,
    status,
    quarantinedAt: isoTime(row.quarantinedAt),
    quarantineReason,
    previousSecretEndsAt: isOverlapping ? isoTime(previousSecretEndsAt) : null,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

function presentDelivery(row: Delivery): DeliveryRecord {
  const { id, eventId, eventType, status, attempts } = row;
  return {
    id,
    eventId,
    eventType,
    status,
    attempts,
    nextAttemptAt: status === 'pending' ? isoTime(row.nextAttemptAt) : null,
    createdAt: isoTime(row.createdAt),
    finishedAt: isoTime(row.finishedAt),
  };
}
