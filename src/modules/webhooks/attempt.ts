/** Makes one attempt at a delivery: signs its event or logout token, sends it through the SSRF guard, classifies the result. */
import type { Logger } from 'pino';
import { SECOND, type WorldClock } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { type GuardedFetch, type OutboundAnswer, OutboundError } from '../../outbound/guarded-fetch.ts';
import type { LeasedDelivery } from '../../store/delivery-claims.ts';
import type { Endpoint } from '../../store/webhooks.ts';
import type { Claimed } from './claimed.ts';
import type { ErrorClass } from './model.ts';
import { deliveryBody } from './payload.ts';
import { parseRetryAfter } from './schedule.ts';
import { signatureHeader } from './signature.ts';

const TIMEOUT_MS = 15 * SECOND;
const EXCERPT_BYTES = 1024;
const SECRETS_KEPT = 10_000;

export interface Result {
  readonly claimed: Claimed;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** Null for a 2xx answer. */
  readonly errorClass: ErrorClass | null;
  readonly retryAfterMs: number | null;
  readonly requestHeaders: Record<string, string>;
  readonly responseExcerpt: string | null;
  /** A random number in [0, 1) for the backoff before the next attempt. */
  readonly jitter: number;
}

/** The request of an attempt. */
interface Message {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AttemptDependencies {
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly outbound: GuardedFetch;
  /** Makes the logout token of an attempt: each has an id and a short life of its own. */
  readonly logoutToken: (delivery: LeasedDelivery) => Promise<string>;
  readonly log: Logger;
}

/**
 * @returns a function that makes one attempt; it never throws: every failure is a result. Without its lease an attempt
 * is `interrupted`, which is never recorded: another instance may make the next one.
 */
export function deliveryAttempter({ clock, random, instanceKey, outbound, logoutToken, log }: AttemptDependencies) {
  const secrets = new Map<string, Promise<string>>();

  /** Returns the current secrets, unsealed once and cached. */
  function secretsOf({ sealedSecret, previousSealedSecret, previousSecretEndsAt }: Endpoint, now: number) {
    const isOverlapping = previousSealedSecret !== null && previousSecretEndsAt !== null && previousSecretEndsAt > now;
    const sealed = isOverlapping ? [sealedSecret, previousSealedSecret] : [sealedSecret];
    return Promise.all(
      sealed.map((text) => {
        const known = secrets.get(text) ?? instanceKey.unseal('webhook', text);
        if (secrets.size > SECRETS_KEPT) secrets.clear();
        secrets.set(text, known);
        return known;
      }),
    );
  }

  async function signedEvent(claimed: Claimed, at: { readonly now: number; readonly real: number }): Promise<Message> {
    const body = deliveryBody(claimed);
    const keys = await secretsOf(claimed.endpoint, at.now);
    return {
      body,
      headers: {
        'Content-Type': 'application/json',
        'Svc-Event-Id': claimed.id,
        'Svc-Signature': signatureHeader(keys, Math.floor(at.real / SECOND), body),
      },
    };
  }

  async function logoutForm(claimed: Claimed): Promise<Message> {
    const body = new URLSearchParams({ logout_token: await logoutToken(claimed) });
    return { body: body.toString(), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
  }

  return async function attempt(claimed: Claimed): Promise<Result> {
    const { endpoint, lost } = claimed;
    const startedAt = clock.now();
    // Real time: the receiver compares the timestamp with its own clock, and dates its answer by it.
    const sentAt = clock.real();
    const begin = performance.now();
    const requestHeaders: Record<string, string> = { 'User-Agent': 'Gatehouse' };
    const base = { claimed, startedAt, requestHeaders, jitter: random.fraction() };
    const unanswered = { statusCode: null, retryAfterMs: null, responseExcerpt: null };
    const took = () => Math.round(performance.now() - begin);
    if (lost.aborted) return { ...base, ...unanswered, durationMs: 0, errorClass: 'interrupted' };
    try {
      const { body, headers } = await (endpoint.kind === 'logout'
        ? logoutForm(claimed)
        : signedEvent(claimed, { now: startedAt, real: sentAt }));
      Object.assign(requestHeaders, headers);
      const answer = await outbound({
        url: endpoint.url,
        method: 'POST',
        headers: requestHeaders,
        body,
        timeoutMs: TIMEOUT_MS,
        signal: lost,
        maxBytes: EXCERPT_BYTES,
      });
      return {
        ...base,
        durationMs: took(),
        statusCode: answer.status,
        errorClass: classOf(answer),
        retryAfterMs: parseRetryAfter(answer.headers.get('retry-after'), sentAt),
        responseExcerpt: new TextDecoder().decode(answer.body).replaceAll('\0', '\ufffd'),
      };
    } catch (error) {
      if (!(error instanceof OutboundError))
        log.error({ err: error, deliveryId: claimed.deliveryId }, 'a delivery failed on this server');
      return {
        ...base,
        ...unanswered,
        durationMs: took(),
        errorClass: lost.aborted ? 'interrupted' : problemOf(error),
      };
    }
  };
}

function problemOf(error: unknown): ErrorClass {
  return error instanceof OutboundError ? error.problem : 'connection';
}

function classOf({ status }: OutboundAnswer): ErrorClass | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
