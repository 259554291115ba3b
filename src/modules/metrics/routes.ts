/** The metrics endpoint, for Prometheus and compatible scrapers. */
import type { MetricFamily } from '../../core/metrics.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { CONTENT_TYPES, exposition, formatFor } from './exposition.ts';

export interface MetricsRouteDependencies {
  /** Throws if the caller may not read the metrics. */
  readonly guard: (request: Request) => void;
  readonly families: () => readonly MetricFamily[];
  readonly onFailure: (name: string, error: unknown) => void;
}

/** Left out of the described API: scrapers know the format and have no account here. */
export function metricsRoute({ guard, families, onFailure }: MetricsRouteDependencies): Operation {
  return operation({
    id: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    summary: 'Figures in the text format of Prometheus',
    tag: 'Operation',
    access: 'none',
    scope: 'instance',
    limit: 'none',
    isUndocumented: true,
    mediaType: 'text/plain',
    async handle({ context: { request, headers } }) {
      guard(request);
      const format = formatFor(request.headers.get('accept'));
      const text = await exposition(families(), format, onFailure);
      return new Response(text, { headers: { ...headers, 'Content-Type': CONTENT_TYPES[format], Vary: 'Accept' } });
    },
  });
}
