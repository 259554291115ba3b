/** Receives the deliveries of a run, and judges them by the events of the database. */
import { eventually } from '../../support/eventually.ts';
import type { Fault } from './faults.ts';

export interface Arrivals {
  readonly url: string;
  /** Times of arrival by the wall clock, by event. */
  readonly byEvent: ReadonlyMap<string, readonly number[]>;
  close(): void;
}

export function receiveDeliveries(): Arrivals {
  const byEvent = new Map<string, number[]>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await request.text();
      const id = request.headers.get('svc-event-id') ?? 'none';
      byEvent.set(id, [...(byEvent.get(id) ?? []), Date.now()]);
      return new Response();
    },
  });
  return { url: server.url.href, byEvent, close: () => void server.stop(true) };
}

export interface DeliveryFigures {
  readonly events: number;
  readonly arrived: number;
  /** Events that arrived more than once, after a fault. */
  readonly repeatedByFaults: number;
  readonly problems: readonly string[];
}

/** A delivery may be sent again if its sender, or its record, was lost between its arrivals. */
const BEFORE_FAULT_MS = 10_000;

/** Longest wait for the last deliveries: a killed instance's are taken over within a minute. */
const DELIVERED_MS = 150_000;

/** Waits for the deliveries of all events, and judges them. */
export async function judgeDeliveries(
  { byEvent }: Arrivals,
  eventsOf: () => Promise<readonly string[]>,
  faults: readonly Fault[],
): Promise<DeliveryFigures> {
  const isDelivered = async () => (await eventsOf()).every((id) => byEvent.has(id));
  await eventually('the last delivery', isDelivered, DELIVERED_MS).catch(() => false);
  const events = await eventsOf();
  const missing = events.filter((id) => !byEvent.has(id));
  const repeated = [...byEvent].filter(([, times]) => times.length > 1);
  const isExplained = ([first = 0, second = 0]: readonly number[]) =>
    faults.some(({ begin, end }) => begin < second && end > first - BEFORE_FAULT_MS);
  const unexplained = repeated.filter(([, times]) =>
    times.some((_, at) => at > 0 && !isExplained(times.slice(at - 1))),
  );
  return {
    events: events.length,
    arrived: events.length - missing.length,
    repeatedByFaults: repeated.length - unexplained.length,
    problems: [
      ...missing.map((id) => `the event ${id} never arrived`),
      ...unexplained.map(([id, times]) => `the event ${id} arrived ${times.length} times without a fault`),
    ],
  };
}
