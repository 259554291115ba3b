/** Generates a Grafana dashboard over the metrics of `/metrics`, most important panels first. */

interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  readonly isStat?: true;
  /** Value from which a stat turns red. */
  readonly badFrom?: number;
}

type Query = readonly [expression: string, legend: string];

const OF = 'instance=~"$instance"';
const REQUESTS = 'gatehouse_http_requests_total';
const REQUEST_TIMES = 'gatehouse_http_request_duration_seconds';

const range = (name: string, filter = '') => `${name}{${OF}${filter}}[$__rate_interval]`;
const total = (name: string) => `sum(${name}{${OF}})`;
const quantile = (part: number, name: string, by = '', filter = '') =>
  `histogram_quantile(${part}, sum by (le${by}) (rate(${range(`${name}_bucket`, filter)})))`;

const rateBy = (name: string, by: string) => `sum by (${by}) (rate(${range(name)}))`;
const legendOf = (by: string) => by.replace(/(\w+),?/g, '{{$1}}');

function stat(title: string, unit: string, expression: string, badFrom?: number, legend = ''): Panel {
  return { title, unit, isStat: true, queries: [[expression, legend]], ...(badFrom !== undefined && { badFrom }) };
}

function graph(title: string, unit: string, ...queries: Query[]): Panel {
  return { title, unit, queries };
}

function rates(title: string, unit: string, name: string, by: string): Panel {
  return graph(title, unit, [rateBy(name, by), legendOf(by)]);
}

function sums(title: string, name: string, by: string): Panel {
  return graph(title, 'short', [`sum by (${by}) (${name}{${OF}})`, legendOf(by)]);
}

function durations(title: string, name: string, filter = ''): Panel {
  return graph(
    title,
    's',
    ...[0.5, 0.95, 0.99].map((part): Query => [quantile(part, name, '', filter), `p${part * 100}`]),
  );
}

const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Health: [
    stat('Writable', 'bool_yes_no', `min(gatehouse_database_writable{${OF}})`),
    stat('Uptime', 's', `min(time() - process_start_time_seconds{${OF}})`),
    stat('Server errors (5xx)', 'reqps', `sum(rate(${range(REQUESTS, ',status=~"5.."')})) or vector(0)`, 0.1),
    stat('Oldest mail due', 's', `max(gatehouse_mails_oldest_due_seconds{${OF},lane!="bulk"})`, 600),
    stat('Oldest delivery due', 's', `max(gatehouse_deliveries_oldest_due_seconds{${OF}})`, 900),
    stat('Version', 'string', `max by (version) (gatehouse_build_info{${OF}})`, undefined, '{{version}}'),
  ],
  Requests: [
    rates('Requests by status', 'reqps', REQUESTS, 'status'),
    graph('Requests by route', 'reqps', [`topk(10, ${rateBy(REQUESTS, 'route')})`, '{{route}}']),
    durations('Verification latency', REQUEST_TIMES, ',route=~"/api/v1/(verify|session)"'),
    graph('Slowest routes (p95)', 's', [`topk(10, ${quantile(0.95, REQUEST_TIMES, ', route')})`, '{{route}}']),
    rates('Verification results', 'ops', 'gatehouse_verdicts_total', 'endpoint, outcome'),
    rates('Sign-ins', 'ops', 'gatehouse_sign_ins_total', 'method, outcome'),
    rates('Rate-limited requests', 'ops', 'gatehouse_rate_limit_refusals_total', 'limit'),
    graph(
      'Open streams and requests',
      'short',
      [`sum by (kind) (gatehouse_streams_open{${OF}})`, 'streams: {{kind}}'],
      [total('gatehouse_http_requests_in_flight'), 'requests in flight'],
    ),
  ],
  Queues: [
    sums('Mail queue depth', 'gatehouse_mails_waiting', 'lane'),
    rates('Mail attempts', 'ops', 'gatehouse_mails_total', 'outcome'),
    sums('Delivery queue depth', 'gatehouse_deliveries_waiting', 'state'),
    rates('Delivery attempts', 'ops', 'gatehouse_delivery_attempts_total', 'outcome'),
    sums('Rows left of background tasks', 'gatehouse_long_work_rows_left', 'kind'),
    rates('Imported rows', 'ops', 'gatehouse_imported_rows_total', 'outcome'),
  ],
  Database: [
    graph(
      'Write rate',
      'ops',
      [`sum(rate(${range('gatehouse_database_changes_total')}))`, 'committed'],
      [total('gatehouse_database_changes_waiting'), 'waiting'],
    ),
    durations('Flush duration', 'gatehouse_database_flush_duration_seconds'),
    durations('Transaction duration', 'gatehouse_database_transaction_duration_seconds'),
    graph(
      'Failed flushes, slow statements',
      'short',
      [`sum(increase(${range('gatehouse_database_flush_failures_total')}))`, 'failed flushes'],
      [`sum(increase(${range('gatehouse_database_slow_statements_total')}))`, 'slow statements'],
    ),
    graph(
      'Database size',
      'bytes',
      [total('gatehouse_database_bytes'), 'database'],
      [total('gatehouse_database_wal_bytes'), 'write-ahead log'],
    ),
    graph('Free disk space', 'bytes', [`min(gatehouse_database_disk_free_bytes{${OF}})`, 'free']),
  ],
  PostgreSQL: [
    graph(
      'Connections of the instances',
      'short',
      [`sum by (lane) (gatehouse_database_pool_connections_in_use{${OF}})`, '{{lane}}'],
      [total('gatehouse_database_pool_connections'), 'pool'],
    ),
    graph(
      'Connections of the server',
      'short',
      [`max(gatehouse_database_server_connections{${OF}})`, 'in use'],
      [`max(gatehouse_database_server_connections_max{${OF}})`, 'allowed'],
    ),
    durations('Wait for a connection', 'gatehouse_database_connection_wait_seconds'),
    graph('Repeated changes', 'ops', [`sum(rate(${range('gatehouse_database_conflicts_total')}))`, 'after conflicts']),
    rates('Statements', 'ops', 'gatehouse_database_statements_total', 'lane'),
    graph('Lookups per statement', 'short', [
      `sum(rate(${range('gatehouse_database_lookup_batch_size_sum')})) / sum(rate(${range('gatehouse_database_lookup_batch_size_count')}))`,
      'average',
    ]),
    graph('Standby lag', 's', [`max(gatehouse_database_standby_lag_seconds{${OF}})`, 'furthest behind']),
    graph('Oldest transaction', 's', [`max(gatehouse_database_oldest_transaction_seconds{${OF}})`, 'open for']),
  ],
  Process: [
    durations('Event loop delay', 'gatehouse_event_loop_delay_seconds'),
    graph('CPU', 'percentunit', [`sum(rate(${range('process_cpu_seconds_total')}))`, 'CPU']),
    graph('Memory', 'bytes', [total('process_resident_memory_bytes'), 'resident']),
    graph('File descriptors', 'short', [total('process_open_fds'), 'open'], [total('process_max_fds'), 'allowed']),
  ],
};

const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const [WIDTH, ROW_HEIGHT, STAT_HEIGHT, GRAPH_HEIGHT] = [24, 1, 4, 8];

/** Returns the dashboard; deterministic for one build. */
export function grafana(): string {
  const panels: object[] = [];
  let y = 0;
  for (const [title, specs] of Object.entries(ROWS)) {
    panels.push({
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: ROW_HEIGHT },
      panels: [],
      id: panels.length + 1,
    });
    y += ROW_HEIGHT;
    const isStats = specs[0]?.isStat === true;
    const [w, h] = isStats ? [WIDTH / specs.length, STAT_HEIGHT] : [WIDTH / 2, GRAPH_HEIGHT];
    const perLine = WIDTH / w;
    for (const [index, spec] of specs.entries()) {
      const place = { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * h, w, h };
      panels.push({ id: panels.length + 1, gridPos: place, ...panelJson(spec) });
    }
    y += Math.ceil(specs.length / perLine) * h;
  }
  return `${JSON.stringify({ ...DASHBOARD, panels }, null, 2)}\n`;
}

function panelJson({ title, unit, queries, isStat, badFrom }: Panel): object {
  const steps = [{ color: 'green', value: null }, ...(badFrom === undefined ? [] : [{ color: 'red', value: badFrom }])];
  // A version is a label of a metric that is always 1, so the panel shows the label.
  const isName = unit === 'string';
  return {
    type: isStat ? 'stat' : 'timeseries',
    title,
    datasource: SOURCE,
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: SOURCE,
      expr,
      legendFormat,
      ...(isStat && { instant: true }),
    })),
    fieldConfig: { defaults: { unit, min: 0, thresholds: { mode: 'absolute', steps } }, overrides: [] },
    options: isStat
      ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, textMode: isName ? 'name' : 'value' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  };
}

const DASHBOARD = {
  uid: 'gatehouse',
  title: 'Gatehouse',
  tags: ['gatehouse'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
      {
        name: 'instance',
        label: 'Instance',
        type: 'query',
        datasource: SOURCE,
        query: { query: 'label_values(gatehouse_build_info, instance)', refId: 'instances' },
        includeAll: true,
        multi: true,
        current: { text: 'All', value: '$__all' },
        refresh: 2,
      },
    ],
  },
};
