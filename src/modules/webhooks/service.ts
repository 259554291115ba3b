/** Manages webhook endpoints, their secrets and quarantine, and shows their deliveries. */
import type { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import type { AuditEntry } from '../../core/audit.ts';
import { type Clock, DAY } from '../../core/clock.ts';
import { AppError, type FieldProblem, invalidField } from '../../core/error.ts';
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../core/event.ts';
import { EVENT_SAMPLES } from '../../core/event-samples.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { mintSecret } from '../../core/secret.ts';
import { timeSeries } from '../../core/time-series.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE, DEFAULT_SERIES_DAYS, type PageQuery, type SeriesQuery } from '../../http/schemas.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import type { Application } from '../../store/applications.ts';
import { endpointName } from '../../core/endpoint-name.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  countPendingDeliveries,
  type Delivery,
  findDeliveries,
  findDelivery,
  insertDelivery,
  listAttempts,
  listDeliveries,
} from '../../store/deliveries.ts';
import { insertEvent, requireEvent } from '../../store/events.ts';
import {
  countWebhooks,
  findWebhook,
  insertWebhook,
  listWebhooks,
  updateWebhook,
  type Webhook,
} from '../../store/webhooks.ts';
import {
  type DeliveriesQuery,
  type DeliveryDetail,
  type DeliveryRecord,
  MAX_WEBHOOKS,
  type NewWebhook,
  type Released,
  type TestInput,
  type WebhookInput,
  type WebhookPatch,
  type WebhookPerformance,
  type WebhookRecord,
} from './model.ts';
import { deliveryBody } from './payload.ts';
import { performanceOf } from './performance.ts';
import { presentAttempt, presentDelivery, presentWebhook, storedStatus } from './present.ts';
import { DELETE_WEBHOOK } from './deletion.ts';
import { endQuarantine } from './quarantine.ts';
import { searchDeliveries } from './search.ts';

const SECRET_OVERLAP_MS = DAY;
const UNKNOWN_TYPE = 'There is no such event type; see the description of events.';

export interface WebhookDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  /** Allows plain http on loopback, for dev and ephemeral instances. */
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
  /** Called when an endpoint's deliveries may have become due. */
  readonly wake: (webhookIds: readonly string[]) => void;
}

export type Webhooks = ReturnType<typeof webhookService>;

/** Signing secrets are stored sealed; only the answer that creates one contains it. */
export function webhookService(dependencies: WebhookDependencies) {
  const { db, clock, random, instanceKey, isLoopbackAllowed, allowedCidrs, wake } = dependencies;

  /** Checks what can be checked before DNS resolution; every attempt checks the rest. */
  function checkUrl(text: string): void {
    const problem = targetProblem(text, { allowed: allowedCidrs, isLoopbackAllowed });
    if (problem !== null) throw invalidField('url', problem);
  }

  return {
    /** Lists webhooks in the order of creation. */
    async list(
      application: Application,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<WebhookRecord>> {
      const after = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const rows = await listWebhooks(db.reader, application.id, { after, limit: limit + 1 });
      return pageOf(
        rows,
        limit,
        ({ id }) => [id],
        (row) => presentWebhook(row, clock.now()),
      );
    },

    async get(application: Application, id: string): Promise<WebhookRecord> {
      return presentWebhook(await find(db.reader, application, id), clock.now());
    },

    /** @param signingSecret generated if none is given. @throws {AppError} invalid_request; conflict at the maximum. */
    async create(
      actor: Actor,
      application: Application,
      input: WebhookInput,
      signingSecret = mintSecret('webhook', random),
    ): Promise<NewWebhook> {
      checkUrl(input.url);
      checkEvents(input.events);
      const sealedSecret = await instanceKey.seal('webhook', signingSecret);
      return db.write(actor, async (unit) => {
        if ((await countWebhooks(unit, application.id)) >= MAX_WEBHOOKS)
          throw new AppError('conflict', { hint: 'too_many_webhooks', values: { max: MAX_WEBHOOKS } });
        const row = await insertWebhook(unit, {
          applicationId: application.id,
          url: input.url,
          description: input.description ?? null,
          events: [...new Set(input.events)],
          sealedSecret,
          kind: 'events',
        });
        await record(unit, 'webhook.created', application, row);
        return { ...presentWebhook(row, unit.now), signingSecret };
      });
    },

    /** @throws {AppError} not_found, invalid_request; invalid_state for a status change in quarantine. */
    async update(actor: Actor, application: Application, id: string, patch: WebhookPatch): Promise<WebhookRecord> {
      if (patch.url !== undefined) checkUrl(patch.url);
      if (patch.events !== undefined) checkEvents(patch.events);
      const changed = await db.write(actor, async (unit) => {
        const webhook = await find(unit, application, id);
        if (patch.status !== undefined && webhook.status === 'quarantined')
          throw new AppError('invalid_state', { hint: 'webhook_in_quarantine' });
        const events = patch.events && { events: [...new Set(patch.events)] };
        const isSwitched = patch.status !== undefined && patch.status !== webhook.status;
        const row = await updateWebhook(unit, id, { ...patch, ...events, ...(isSwitched && { dropNoticeAt: null }) });
        await record(unit, 'webhook.updated', application, row);
        return presentWebhook(row, unit.now);
      });
      wake([id]);
      return changed;
    },

    /** Removes an endpoint and its deliveries at once; a delivery in flight may still arrive. */
    remove(actor: Actor, application: Application, id: string): Promise<{ id: string }> {
      return db.write(actor, async (unit) => {
        const webhook = await find(unit, application, id);
        await updateWebhook(unit, id, { removedAt: unit.now });
        await record(unit, 'webhook.deleted', application, webhook);
        await beginTask(unit, DELETE_WEBHOOK, { applicationId: application.id, data: { webhookId: id } });
        return { id };
      });
    },

    /** Replaces the secret. The previous one signs as well for 24 hours, so that receivers can switch without a gap. */
    async rotateSecret(
      actor: Actor,
      application: Application,
      id: string,
      signingSecret = mintSecret('webhook', random),
    ): Promise<NewWebhook> {
      const sealedSecret = await instanceKey.seal('webhook', signingSecret);
      return db.write(actor, async (unit) => {
        const webhook = await find(unit, application, id);
        const row = await updateWebhook(unit, id, {
          sealedSecret,
          previousSealedSecret: webhook.sealedSecret,
          previousSecretEndsAt: unit.now + SECRET_OVERLAP_MS,
        });
        await record(unit, 'webhook.secret_rotated', application, row);
        return { ...presentWebhook(row, unit.now), signingSecret };
      });
    },

    /** Sends a test event, or a sample of another, to this endpoint only, delivered like any other. */
    test(actor: Actor, application: Application, id: string, { type }: TestInput = {}): Promise<DeliveryRecord> {
      const data = type === undefined ? { webhookId: id } : { ...sampleOf(type), isSample: true };
      const eventType = type ?? TEST_EVENT_TYPE;
      return db.write(actor, async (unit) => {
        const webhook = await find(unit, application, id);
        refuseDisabled(webhook);
        const eventId = await insertEvent(unit, { type: eventType, applicationId: application.id, data });
        await record(unit, 'webhook.tested', application, webhook);
        const delivery = await insertDelivery(unit, { webhookId: id, eventId, eventType });
        return presentDelivery(delivery, webhook);
      });
    },

    /** Ends a quarantine at once. Held deliveries go one by one, and new ones wait. @throws {AppError} invalid_state */
    async release(actor: Actor, application: Application, id: string): Promise<Released> {
      refuseUnlessQuarantined(await find(db.reader, application, id));
      const released = await countPendingDeliveries(db.reader, id);
      const changed = await db.write(actor, async (unit) => {
        refuseUnlessQuarantined(await find(unit, application, id));
        const row = await endQuarantine(unit, id);
        await record(unit, 'webhook.released', application, row);
        return presentWebhook(row, unit.now);
      });
      wake([id]);
      return { ...changed, released };
    },

    /** Returns success and latency over time; attempts of the last seconds may be missing. */
    async performance(
      application: Application,
      id: string,
      { days = DEFAULT_SERIES_DAYS }: SeriesQuery,
    ): Promise<WebhookPerformance> {
      const webhook = await find(db.reader, application, id);
      return performanceOf(db.reader, webhook.id, timeSeries(days, clock.now()));
    },

    /** Lists deliveries, newest first. With a type filter a page may be short and still have a next one. */
    async listDeliveries(application: Application, id: string, query: DeliveriesQuery): Promise<Page<DeliveryRecord>> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, type: eventType } = query;
      const webhook = await find(db.reader, application, id);
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const status = query.status && storedStatus(query.status, webhook);
      if (status === null) return { items: [], nextCursor: null };
      const present = (row: Delivery) => presentDelivery(row, webhook);
      if (eventType !== undefined) {
        const page = await searchDeliveries(db.reader, { webhookId: id, eventType, status }, { before, limit });
        const rows = await findDeliveries(db.reader, page.found);
        return { items: rows.map(present), nextCursor: page.next && encodeCursor([page.next]) };
      }
      const rows = await listDeliveries(db.reader, id, { status, before, limit: limit + 1 });
      return pageOf(rows, limit, (row) => [row.id], present);
    },

    /** Returns one delivery with every attempt. @param hasBodies whether to show requests and answers. */
    async getDelivery(
      application: Application,
      id: string,
      deliveryId: string,
      hasBodies: boolean,
    ): Promise<DeliveryDetail> {
      const webhook = await find(db.reader, application, id);
      const delivery = await findDeliveryOf(db.reader, webhook, deliveryId);
      const event = await requireEvent(db.reader, delivery.eventId);
      const attempts = await listAttempts(db.reader, deliveryId);
      return {
        ...presentDelivery(delivery, webhook),
        requestBody: hasBodies ? deliveryBody(event) : null,
        attemptLog: attempts.map((attempt) => presentAttempt(attempt, hasBodies)),
      };
    },

    /** Sends the same event again, under the same event id, as a new delivery. */
    redeliver(actor: Actor, application: Application, id: string, deliveryId: string): Promise<DeliveryRecord> {
      return db.write(actor, async (unit) => {
        const webhook = await find(unit, application, id);
        const { eventId, eventType } = await findDeliveryOf(unit, webhook, deliveryId);
        refuseDisabled(webhook);
        await record(unit, 'webhook.redelivered', application, webhook, deliveryId);
        return presentDelivery(await insertDelivery(unit, { webhookId: id, eventId, eventType }), webhook);
      });
    },
  };
}

/** @throws {AppError} not_found */
async function find(reader: Reader, application: Application, id: string): Promise<Webhook> {
  const webhook = await findWebhook(reader, application.id, id);
  if (!webhook) throw new AppError('not_found');
  return webhook;
}

/** @throws {AppError} not_found */
async function findDeliveryOf(reader: Reader, webhook: Webhook, deliveryId: string): Promise<Delivery> {
  const delivery = await findDelivery(reader, webhook.id, deliveryId);
  if (!delivery) throw new AppError('not_found');
  return delivery;
}

/** @throws {AppError} invalid_request for an unknown type. */
function sampleOf(type: string): object {
  const known = EVENT_TYPES.find((one) => one === type);
  if (known === undefined) throw invalidField('type', UNKNOWN_TYPE);
  return EVENT_SAMPLES[known];
}

/** @throws {AppError} invalid_request naming each unknown type. */
function checkEvents(types: readonly string[]): void {
  const fields = eventProblems(types);
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
}

export function eventProblems(types: readonly string[]): FieldProblem[] {
  if (types.length === 1 && types[0] === '*') return [];
  return types.flatMap((type, index) =>
    (EVENT_TYPES as readonly string[]).includes(type) ? [] : [{ path: `events.${index}`, message: UNKNOWN_TYPE }],
  );
}

function refuseDisabled(webhook: Webhook): void {
  if (webhook.status === 'disabled') throw new AppError('invalid_state', { hint: 'webhook_disabled' });
}

function refuseUnlessQuarantined(webhook: Webhook): void {
  if (webhook.status !== 'quarantined') throw new AppError('invalid_state', { hint: 'webhook_not_in_quarantine' });
}

async function record(
  unit: Unit,
  kind: AuditEntry['kind'],
  { id: applicationId, workspaceId }: Application,
  webhook: Webhook,
  targetId = webhook.id,
): Promise<void> {
  const detail = { name: endpointName(webhook) };
  await recordAudit(unit, { kind, applicationId, workspaceId, targetId, detail });
}
