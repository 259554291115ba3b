/** Texts of delivery states, attempts and responses. */
import type { Tone } from '../../components/status.tsx';
import type { Attempt, Delivery, DeliveryStatus, Webhook } from './webhook-calls.ts';

/** After the last attempt the event is dropped and its endpoint quarantined. */
export const MAX_ATTEMPTS = 15;

export const DELIVERY_STATUSES = [
  { value: 'pending', label: 'Pending' },
  { value: 'held', label: 'Held' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
] as const satisfies readonly { value: DeliveryStatus; label: string }[];

export function statusWords({ status, attempts }: Delivery): { word: string; tone: Tone } {
  switch (status) {
    case 'delivered':
      return { word: 'Delivered', tone: 'good' };
    case 'failed':
      return { word: 'Failed', tone: 'bad' };
    case 'held':
      return { word: 'Held', tone: 'warn' };
    case 'pending':
      return attempts === 0 ? { word: 'Pending', tone: 'calm' } : { word: 'Retrying', tone: 'warn' };
  }
}

export const ENDPOINT_WORDS = {
  active: { word: 'Active', tone: 'good' },
  disabled: { word: 'Disabled', tone: 'calm' },
  quarantined: { word: 'Quarantined', tone: 'bad' },
} as const satisfies Record<Webhook['status'], { word: string; tone: Tone }>;

const ERROR_WORDS: Record<NonNullable<Attempt['errorClass']>, string> = {
  status: 'The endpoint did not accept it: only an answer of 2xx does.',
  redirect: 'The endpoint redirected, and redirects are not followed. Use the address that it redirects to.',
  gone: 'The endpoint answered 410 Gone: it wants no more events, so the webhook was put in quarantine.',
  timeout: 'There was no answer within 15 seconds.',
  refused: 'The host resolves to an address that is not public, which this server does not send to.',
  unresolved: 'The name of the host could not be resolved.',
  tls: 'The certificate of the endpoint was not accepted.',
  connection: 'The connection could not be established, or was interrupted.',
  interrupted: 'The server stopped before the outcome was known.',
};

export const errorWords = ({ errorClass }: Attempt) => (errorClass === null ? null : ERROR_WORDS[errorClass]);

const SOON_MS = 10_000;
const LATER_MS = 60_000;

/** Returns the poll interval for pending deliveries; null without any. */
export function pollingOf(deliveries: readonly Delivery[], now = Date.now()): number | null {
  const waits = deliveries.flatMap(({ status, nextAttemptAt }) =>
    status === 'pending' && nextAttemptAt !== null ? [Date.parse(nextAttemptAt) - now] : [],
  );
  if (waits.length === 0) return null;
  const next = Math.min(...waits);
  return next < SOON_MS ? 1000 : next < LATER_MS ? 5000 : 30_000;
}

/** Returns the success rate of attempts as "98%"; null without attempts. */
export function successWords({ delivered, failedAttempts }: { delivered: number; failedAttempts: number }) {
  const all = delivered + failedAttempts;
  if (all === 0) return null;
  // Rounded so that 100% means no failure, and 0% no success.
  const share = Math.floor((delivered / all) * 100);
  return `${delivered > 0 && share === 0 ? 1 : share}%`;
}
