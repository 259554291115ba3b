/**
 * Sends what is due: claims deliveries with a lease, prepares, sends, records. A crash repeats a delivery, never loses one.
 * At most 10 are in flight for an endpoint and 100 in all, claimed in turn, so that a slow endpoint delays no other.
 */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { type Clock, MINUTE, SECOND } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { quarantineMail } from '../../mail/messages/quarantine.ts';
import { type GuardedFetch, type OutboundAnswer, OutboundError } from '../../outbound/guarded-fetch.ts';
import type { ErrorClass } from './model.ts';
import { deliveryBody, type EventRow } from './payload.ts';
import { MAX_ATTEMPTS, parseRetryAfter, retryWaitMs } from './schedule.ts';
import { signatureHeader } from './signature.ts';

const PER_ENDPOINT = 10;
const IN_ALL = 100;
/** Of those, the places that endpoints may use beyond their first. */
const FURTHER = 50;
const TIMEOUT_MS = 15 * SECOND;
/** Longer than an attempt can take, so that a lease never runs out under a live one. */
const LEASE_MS = MINUTE;
const EXCERPT_BYTES = 1024;
const QUARANTINE_MAIL_LIFETIME_MS = 24 * 60 * MINUTE;

/** A delivery with all that sending it takes. */
interface Claimed extends EventRow {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly attempts: number;
  readonly wasHeld: 0 | 1;
  readonly url: string;
  readonly sealedSecret: string;
  readonly previousSealedSecret: string | null;
  readonly previousSecretEndsAt: number | null;
}

/** What became of an attempt. */
interface Result {
  readonly claimed: Claimed;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass | null;
  readonly retryAfterMs: number | null;
  readonly requestHeaders: Record<string, string>;
  readonly responseExcerpt: string | null;
}

export interface DispatcherDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly outbound: GuardedFetch;
  readonly log: Logger;
  readonly ownerEmails: (unit: Unit, workspaceId: string) => string[];
}

export interface Dispatcher {
  /** Looks for what is due, soon; many calls are one look. */
  wake(): void;
  /** Sends everything that is due and returns when it has; for a moved clock. */
  runOnce(): Promise<void>;
  /** Claims no more and waits for what is in flight. */
  stop(): Promise<void>;
}

export function dispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, clock, random, instanceKey, outbound, log } = dependencies;
  const { sqlite } = db;
  const inFlight = new Map<string, number>();
  /** Endpoints with a delivery under way that was held. */
  const inOrder = new Set<string>();
  const running = new Set<Promise<void>>();
  const secrets = new Map<string, Promise<string>>();
  const finished: Result[] = [];
  let isStopped = false;
  let isLookScheduled = false;
  let isRecordScheduled = false;
  /** Where the next look begins, so that endpoints take turns. */
  let turn = '';

  const dueEndpoints = sqlite.prepare<{ id: string }, [number, number]>(
    `SELECT w.id FROM webhooks w WHERE w.status = 'active' AND EXISTS (
       SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= ?1
         AND (d.leased_until IS NULL OR d.leased_until <= ?2))`,
  );
  const nextDue = sqlite.prepare<{ id: string; wasHeld: 0 | 1 }, [string, number, number]>(
    `SELECT id, was_held AS wasHeld FROM deliveries WHERE webhook_id = ?1 AND status = 'pending' AND next_attempt_at <= ?2
       AND (leased_until IS NULL OR leased_until <= ?3) ORDER BY next_attempt_at, id LIMIT ${PER_ENDPOINT}`,
  );
  const lease = sqlite.prepare('UPDATE deliveries SET leased_until = ?, attempts = attempts + 1 WHERE id = ?');
  const load = sqlite.prepare<Claimed, [string]>(
    `SELECT d.id AS deliveryId, d.webhook_id AS webhookId, d.attempts, d.was_held AS wasHeld, w.url, w.sealed_secret AS sealedSecret,
       w.previous_sealed_secret AS previousSealedSecret, w.previous_secret_ends_at AS previousSecretEndsAt,
       e.id, e.application_id AS applicationId, e.type, e.data, e.created_at AS createdAt
     FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id JOIN events e ON e.id = d.event_id WHERE d.id = +?`,
  );
  const settle = sqlite.prepare('UPDATE deliveries SET status = ?, finished_at = ?, leased_until = NULL WHERE id = ?');
  const postpone = sqlite.prepare('UPDATE deliveries SET next_attempt_at = ?, leased_until = NULL WHERE id = ?');
  const insertAttempt = sqlite.prepare(
    `INSERT OR REPLACE INTO delivery_attempts (delivery_id, number, started_at, duration_ms, status_code, error_class,
       request_headers, response_excerpt)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM deliveries WHERE id = ?1)`,
  );
  const quarantine = sqlite.prepare<{ applicationId: string; url: string }, [number, string, string]>(
    `UPDATE webhooks SET status = 'quarantined', quarantined_at = ?1, quarantine_reason = ?2, updated_at = ?1
     WHERE id = ?3 AND status = 'active' RETURNING application_id AS applicationId, url`,
  );
  const hold = sqlite.prepare(
    "UPDATE deliveries SET status = 'held', was_held = 1, leased_until = NULL WHERE webhook_id = ? AND status = 'pending'",
  );
  const application = sqlite.prepare<{ name: string; workspaceId: string }, [string]>(
    'SELECT name, workspace_id AS workspaceId FROM applications WHERE id = ?',
  );
  // Nobody else sends from this folder: a lease left by a crash need not be waited for, and its attempt is on record.
  sqlite.run(
    `INSERT OR IGNORE INTO delivery_attempts (delivery_id, number, started_at, duration_ms, error_class, request_headers)
     SELECT id, attempts, leased_until - ${LEASE_MS}, 0, 'interrupted', '{}' FROM deliveries
     WHERE status = 'pending' AND leased_until IS NOT NULL`,
  );
  sqlite.run("UPDATE deliveries SET leased_until = NULL WHERE status = 'pending' AND leased_until IS NOT NULL");

  function total(): number {
    let sum = 0;
    for (const count of inFlight.values()) sum += count;
    return sum;
  }

  /** Places that endpoints use beyond their first. */
  function further(): number {
    return total() - inFlight.size;
  }

  /**
   * Claims in one transaction, an endpoint at a time in turn. Every endpoint can have a first place; further ones come out
   * of half of the places, so that a few endpoints that hang never take all there are.
   */
  function claim(): Claimed[] {
    const now = clock.now();
    const ids = dueEndpoints
      .all(now, now)
      .map(({ id }) => id)
      .sort();
    if (ids.length === 0) return [];
    const from = ids.findIndex((id) => id > turn);
    const inTurn = [...ids.slice(Math.max(0, from)), ...ids.slice(0, Math.max(0, from))];
    let room = IN_ALL - total();
    let furtherRoom = FURTHER - further();
    const share = Math.ceil(furtherRoom / inTurn.length);
    const claimed: Claimed[] = [];
    let last = turn;
    sqlite.transaction(() => {
      for (const webhookId of inTurn) {
        if (room <= 0) break;
        const own = inFlight.get(webhookId) ?? 0;
        // While one that was held is under way, nothing of its endpoint may overtake it.
        if (inOrder.has(webhookId)) continue;
        const first = own === 0 ? 1 : 0;
        const due = nextDue.all(webhookId, now, now);
        // What was held goes one by one, in the order of the events.
        const isInOrder = due.some(({ wasHeld }) => wasHeld);
        const more = isInOrder ? 0 : Math.min(PER_ENDPOINT - own - first, share, furtherRoom, room - first);
        const taken = due.slice(0, first + Math.max(0, more));
        for (const { id } of taken) {
          lease.run(now + LEASE_MS, id);
          const row = load.get(id);
          if (row) claimed.push(row);
        }
        room -= taken.length;
        furtherRoom -= Math.max(0, taken.length - first);
        if (taken.length > 0) last = webhookId;
      }
    })();
    // Only what has been committed is under way.
    turn = last;
    for (const { webhookId, wasHeld } of claimed) {
      inFlight.set(webhookId, (inFlight.get(webhookId) ?? 0) + 1);
      if (wasHeld) inOrder.add(webhookId);
    }
    return claimed;
  }

  /** Never throws: a database that refuses for a moment is asked again at the next wake. */
  function look(): void {
    if (isStopped || total() >= IN_ALL) return;
    let claimed: Claimed[];
    try {
      claimed = claim();
    } catch (error) {
      log.error({ err: error }, 'deliveries could not be claimed; it will be tried again');
      return;
    }
    for (const delivery of claimed) {
      const work = deliver(delivery).finally(() => running.delete(work));
      running.add(work);
    }
  }

  async function deliver(claimed: Claimed): Promise<void> {
    const result = await attempt(claimed);
    const { webhookId } = claimed;
    const left = (inFlight.get(webhookId) ?? 1) - 1;
    if (left > 0) inFlight.set(webhookId, left);
    else inFlight.delete(webhookId);
    if (claimed.wasHeld) inOrder.delete(webhookId);
    finished.push(result);
    scheduleRecord();
  }

  /** Never throws: whatever happens is a result. */
  async function attempt(claimed: Claimed): Promise<Result> {
    const startedAt = clock.now();
    const begin = performance.now();
    const body = deliveryBody(claimed);
    const requestHeaders: Record<string, string> = {
      'Content-Type': 'application/json',
      'User-Agent': 'Gatehouse',
      'Svc-Event-Id': claimed.id,
    };
    const base = { claimed, startedAt, requestHeaders };
    const took = () => Math.round(performance.now() - begin);
    try {
      const keys = await secretsOf(claimed, startedAt);
      requestHeaders['Svc-Signature'] = signatureHeader(keys, Math.floor(startedAt / 1000), body);
      const answer = await outbound({
        url: claimed.url,
        method: 'POST',
        headers: requestHeaders,
        body,
        timeoutMs: TIMEOUT_MS,
        maxBytes: EXCERPT_BYTES,
      });
      return {
        ...base,
        durationMs: took(),
        statusCode: answer.status,
        errorClass: classOf(answer),
        retryAfterMs: parseRetryAfter(answer.headers.get('retry-after'), startedAt),
        responseExcerpt: new TextDecoder().decode(answer.body),
      };
    } catch (error) {
      if (!(error instanceof OutboundError))
        log.error({ err: error, deliveryId: claimed.deliveryId }, 'a delivery failed here');
      const errorClass: ErrorClass = error instanceof OutboundError ? error.problem : 'connection';
      return { ...base, durationMs: took(), statusCode: null, errorClass, retryAfterMs: null, responseExcerpt: null };
    }
  }

  /** The secrets in force, unsealed once and kept. */
  function secretsOf({ sealedSecret, previousSealedSecret, previousSecretEndsAt }: Claimed, now: number) {
    const isOverlapping = previousSealedSecret !== null && previousSecretEndsAt !== null && previousSecretEndsAt > now;
    const sealed = isOverlapping ? [sealedSecret, previousSealedSecret] : [sealedSecret];
    return Promise.all(
      sealed.map((text) => {
        const known = secrets.get(text) ?? instanceKey.unseal('webhook', text);
        if (secrets.size > 10_000) secrets.clear();
        secrets.set(text, known);
        return known;
      }),
    );
  }

  /** Results that come together are recorded together: one flush to disk for all. */
  function scheduleRecord(): void {
    if (isRecordScheduled) return;
    isRecordScheduled = true;
    setImmediate(() => {
      isRecordScheduled = false;
      record();
      look();
    });
  }

  function record(): void {
    const results = finished.splice(0);
    if (results.length === 0) return;
    try {
      db.write(SYSTEM_ACTOR, (unit) => {
        for (const result of results) recordOne(unit, result);
      });
    } catch (error) {
      // The leases run out, and the deliveries are made again: twice rather than never.
      log.error({ err: error }, 'results of deliveries could not be recorded');
    }
  }

  function recordOne(unit: Unit, result: Result): void {
    const { claimed, startedAt, durationMs, statusCode, errorClass, requestHeaders, responseExcerpt } = result;
    const { deliveryId } = claimed;
    const number = claimed.attempts;
    insertAttempt.run(
      deliveryId,
      number,
      startedAt,
      durationMs,
      statusCode,
      errorClass,
      JSON.stringify(requestHeaders),
      responseExcerpt,
    );
    if (errorClass === null) settle.run('delivered', unit.now, deliveryId);
    else if (errorClass === 'gone') fail(unit, claimed, 'the endpoint answered 410 Gone');
    else if (number >= MAX_ATTEMPTS) fail(unit, claimed, `${MAX_ATTEMPTS} attempts failed`);
    else postpone.run(unit.now + retryWaitMs(number, result.retryAfterMs, random.fraction()), deliveryId);
  }

  /** An endpoint that lets an event fail is put in quarantine: what follows is held, and its owners are told once. */
  function fail(unit: Unit, { deliveryId, webhookId }: Claimed, reason: string): void {
    settle.run('failed', unit.now, deliveryId);
    const [webhook] = quarantine.all(unit.now, reason, webhookId);
    if (!webhook) return;
    hold.run(webhookId);
    const { name, workspaceId } = application.get(webhook.applicationId)!;
    unit.audit({
      kind: 'webhook.quarantined',
      ok: false,
      applicationId: webhook.applicationId,
      workspaceId,
      targetId: webhookId,
      detail: { reason },
    });
    const mail = quarantineMail({ applicationName: name, url: webhook.url, reason });
    for (const to of dependencies.ownerEmails(unit, workspaceId))
      unit.mail({ to, ...mail, code: null, expiresAt: unit.now + QUARANTINE_MAIL_LIFETIME_MS });
  }

  return {
    wake() {
      if (isLookScheduled || isStopped) return;
      isLookScheduled = true;
      setImmediate(() => {
        isLookScheduled = false;
        look();
      });
    },
    async runOnce() {
      for (;;) {
        record();
        look();
        if (running.size === 0) return;
        await Promise.all(running);
      }
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
      record();
    },
  };
}

function classOf({ status }: OutboundAnswer): ErrorClass | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
