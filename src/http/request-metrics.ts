/** Collects request metrics by route: the path pattern of an operation, so the number of labels is bounded. */
import { type Cell, type Histogram, histogramOf, type Metrics } from '../core/metrics.ts';
import { HINTS } from '../core/error-hints.ts';
import { type AccessLog, COMMON_METHODS } from './access-log.ts';
import { KEY_DAY, KEY_MINUTE, LIMITS } from './limits.ts';

/** Histogram bounds in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface RouteMetrics {
  readonly labels: { readonly method: string; readonly route: string };
  readonly statuses: Map<number, Cell>;
  readonly durations: Histogram;
}

/** @returns the function to call with each answered request, which takes some 100 ns. */
export function requestMetrics(metrics: Metrics): AccessLog {
  const routes = new Map<string, Map<string, RouteMetrics>>();
  const all = () => [...routes.values()].flatMap((methods) => [...methods.values()]);

  function begin(route: string, given: string): RouteMetrics {
    const method = COMMON_METHODS.has(given) ? given : 'other';
    const methods = routes.get(route) ?? new Map<string, RouteMetrics>();
    routes.set(route, methods);
    const measured = methods.get(method) ?? {
      labels: { method, route },
      statuses: new Map(),
      durations: histogramOf(BOUNDS),
    };
    methods.set(method, measured);
    return measured;
  }

  metrics.add({
    name: 'gatehouse_http_requests_total',
    help: 'Answered requests, by route and status.',
    type: 'counter',
    read: () =>
      all().flatMap(({ labels, statuses }) =>
        [...statuses].map(([status, { count }]) => ({ labels: { ...labels, status: String(status) }, value: count })),
      ),
  });
  metrics.add({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Time from a request’s arrival to its answer; of a stream, to its beginning.',
    type: 'histogram',
    read: () => all().flatMap(({ labels, durations }) => durations.samples(labels)),
  });

  return ({ method }, route, status, durationMs) => {
    const measured = routes.get(route)?.get(method) ?? begin(route, method);
    const known = measured.statuses.get(status);
    if (known === undefined) measured.statuses.set(status, { count: 1 });
    else known.count += 1;
    measured.durations.observe(durationMs / 1000);
  };
}

/** @returns counts a refusal by the name of the limit's counter, or of the hint that says why. */
export function countLimited(metrics: Metrics): (limit: string) => void {
  const buckets = Object.values(LIMITS).flatMap((limit) => ('name' in limit ? [limit.name] : []));
  const refusals = metrics.counter(
    'gatehouse_rate_limit_refusals_total',
    'Calls refused by a limit, by its name.',
    { limit: [...new Set([...buckets, KEY_MINUTE.name, KEY_DAY.name, ...Object.keys(HINTS)])].map(labelOf) },
    { isSparse: true },
  );
  for (const name of [...buckets, KEY_MINUTE.name, KEY_DAY.name]) refusals.cell(labelOf(name));
  return (limit) => refusals.inc(labelOf(limit));
}

const labelOf = (name: string) => name.replaceAll('-', '_');
